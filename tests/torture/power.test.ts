import { expect, test } from 'bun:test';
import { unsynced } from './faults/power.ts';

const WRITE = (at: number, offset: number, thread = 7) =>
  `${thread} ${at}.0 pwrite64(20</data/vault.db-wal>, ""..., 4096, ${offset}) = 4096`;
const SYNC = (at: number, path = '/data/vault.db-wal') => `8 ${at}.0 fdatasync(20<${path}>) = 0`;
const offsets = (...calls: string[]) => unsynced(calls.join('\n')).map(({ offset }) => offset);

test('what was written before a sync is on the disk, what came after it is not', () => {
  expect(offsets(WRITE(1, 0), SYNC(2), WRITE(3, 100))).toEqual([100]);
});

test('a sync of another file, and one that failed, sync nothing', () => {
  expect(offsets(WRITE(1, 0), SYNC(2, '/data/vault.db'))).toEqual([0]);
  expect(offsets(WRITE(1, 0), SYNC(2).replace('= 0', '= -1 EIO'))).toEqual([0]);
});

test('a sync that began before a write does not cover it, however late it ended', () => {
  const sync = ['8 1.0 fdatasync(20</data/vault.db-wal> <unfinished ...>', '8 3.0 <... fdatasync resumed>) = 0'];
  expect(offsets(sync[0] ?? '', WRITE(2, 50), sync[1] ?? '')).toEqual([50]);
  expect(offsets(WRITE(0, 50), ...sync)).toEqual([]);
});

test('a write that was under way at the end may be on the disk or not', () => {
  expect(offsets('7 1.0 pwrite64(20</data/vault.db-wal>, ""..., 4096, 9 <unfinished ...>')).toEqual([9]);
});

test('calls of several processes are taken in the order of their times', () => {
  expect(offsets(WRITE(3, 1), WRITE(1, 0, 9), SYNC(2))).toEqual([1]);
});
