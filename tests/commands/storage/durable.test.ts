import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { draftOf, whileDrafting } from '../../../commands/storage/durable.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';

const ROOT = join(import.meta.dir, '../../..');

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

describe('a draft', () => {
  test('that came to nothing is removed, with what SQLite left beside it on a full disk', async () => {
    const draft = draftOf(join(folder.path, 'a.backup'));
    const work = async () => {
      writeFileSync(draft, '');
      writeFileSync(`${draft}-journal`, '');
      throw new Error('disk is full');
    };
    expect(await settled(whileDrafting(draft, work))).toThrow('disk is full');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('is removed when %s ends the process, with %i', async (signal, code) => {
    const draft = join(folder.path, 'draft');
    const script = `import { whileDrafting } from '${ROOT}/commands/storage/durable.ts';
      await whileDrafting('${draft}', async () => {
        await Bun.write('${draft}', 'half of it');
        console.log('begun');
        await Bun.sleep(20_000);
      });`;
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' });
    await child.stdout.getReader().read();
    expect(existsSync(draft)).toBe(true);
    child.kill(signal);
    expect(await child.exited).toBe(code);
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
