import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { readRows, temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
let program: Program;
beforeEach(async () => {
  folder = temporaryFolder();
  program = await startProgram({ RPC_URL: 'http://127.0.0.1:1' }, { cwd: folder.path });
});
afterEach(async () => {
  await program.stop();
  folder.remove();
});

test('vault clock confirm notes the time in the database of a vault that runs, and prints it', async () => {
  const before = Date.now();
  const { code, out } = await runProgram(['clock', 'confirm', '--json'], { cwd: folder.path });
  const time = Date.parse(JSON.parse(out).time);
  expect([code, time >= before, time <= Date.now()]).toEqual([0, true, true]);
  const sql = `SELECT value FROM tallies WHERE name = 'known_time'`;
  const [[known] = []] = readRows(join(folder.path, 'vault-data/vault.db'), sql);
  // The vault's own clean-up may have noted a later one.
  expect(Number(known)).toBeGreaterThanOrEqual(time);
});
