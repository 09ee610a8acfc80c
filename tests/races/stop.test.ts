import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { askUntilClosed } from '../support/asking.ts';
import { temporaryFolder } from '../support/databases.ts';
import { startProgram } from '../support/program.ts';
import { VAULT_SECRET } from '../support/vault.ts';

test('V13: a stop answers what busy connections have sent, and ends each with its last answer', async () => {
  const folder = temporaryFolder();
  const preload = join(import.meta.dir, '../support/patient-stop.ts');
  const program = await startProgram({ VAULT_SECRET, DATA_DIR: folder.path }, { cwd: folder.path, preload });
  try {
    const port = Number(new URL(program.url).port);
    const begun = Array.from({ length: 60 }, () => Promise.withResolvers<void>());
    const asking = begun.map(({ resolve }) => askUntilClosed(port, '/healthz', resolve));
    await Promise.all(begun.map(({ promise }) => promise));
    const stopped = program.stop();
    const ends = await Promise.all(asking);
    expect(ends.filter((end) => end === 'cut')).toEqual([]);
    await stopped;
  } finally {
    await program.stop('SIGKILL');
    folder.remove();
  }
});
