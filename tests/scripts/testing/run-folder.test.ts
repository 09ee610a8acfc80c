import { expect, test } from 'bun:test';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeRunFolder, ON_DISK } from '../../../scripts/testing/run-folder.ts';
import { eachTest } from '../../support/each-test.ts';

const { folder, ends } = eachTest();
function make(memory: string, roomBytes?: number) {
  const made = makeRunFolder(memory, roomBytes);
  ends.push(made.remove);
  return made;
}

test('the tests of a run have their files in memory, but those whose subject is the disk', () => {
  const made = make(folder.path, 1);
  expect(dirname(made.path)).toBe(folder.path);
  const temporary = made.temporaryFor(['tests/lib/a.test.ts', 'tests/routes/b.test.ts']) ?? '';
  expect(dirname(temporary)).toBe(made.path);
  expect(existsSync(temporary)).toBe(true);
  for (const start of Object.keys(ON_DISK))
    expect(
      made.temporaryFor(['tests/lib/a.test.ts', start.endsWith('/') ? `${start}c.test.ts` : start]),
    ).toBeUndefined();
  made.remove();
  expect(existsSync(made.path)).toBe(false);
});

test.each([
  ['is not there', (path: string) => [join(path, 'absent'), 1] as const],
  ['has no room', (path: string) => [path, 2 ** 60] as const],
])('where memory %s they are on the disk', (_, given) => {
  const made = make(...given(folder.path));
  expect(dirname(made.path)).toBe(tmpdir());
  expect(made.temporaryFor(['tests/lib/a.test.ts'])).toBeUndefined();
});

test('the folder of a run that was killed goes with the next one, that of a living one stays', () => {
  const child = Bun.spawnSync(['true']);
  const dead = join(folder.path, `vault-tests-${child.pid}-abc`);
  const living = join(folder.path, `vault-tests-${process.ppid}-abc`);
  for (const path of [dead, living]) mkdirSync(path);
  make(folder.path, 1);
  expect([existsSync(dead), existsSync(living)]).toEqual([false, true]);
});

test.each(Object.keys(ON_DISK))('%s is there', (path) => {
  expect(existsSync(join(import.meta.dir, '../../..', path))).toBe(true);
});
