import { copyFileSync, renameSync, rmSync } from 'node:fs';

/** What may happen to a database file, its log or the log's index under an open connection, each by its name. */
export const FILE_MOVES: readonly (readonly [string, (path: string) => unknown])[] = [
  ['deleted', (path) => rmSync(path)],
  ['deleted with its log', (path) => ['', '-wal', '-shm'].map((end) => rmSync(path + end))],
  ['moved', (path) => renameSync(path, `${path}.old`)],
  ['replaced by a copy', (path) => [copyFileSync(path, `${path}.copy`), renameSync(`${path}.copy`, path)]],
  ['robbed of its log', (path) => rmSync(`${path}-wal`)],
  ["robbed of its log's index", (path) => rmSync(`${path}-shm`)],
];
