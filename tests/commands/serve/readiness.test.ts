import { afterEach, describe, expect, test } from 'bun:test';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { READY_CACHE_MS } from '../../../lib/monitoring/health.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { type Program, SERVE, startListening } from '../../support/program.ts';
import { until } from '../../support/until.ts';

const prlimit = Bun.which('prlimit');
if (!prlimit) console.log('no prlimit on this machine: the tests of a full disk are left out');

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A vault that lives on when a write exceeds the limit of a file's size, and its database's path. */
async function start(): Promise<{ program: Program; path: string }> {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const command = ['sh', '-c', `trap '' XFSZ; exec "$@"`, 'sh', ...SERVE];
  const env = { PATH: process.env['PATH'] ?? '', PORT: '0', LOG_FORMAT: 'json', DATA_DIR: folder.path };
  const program = await startListening(command, { cwd: folder.path, env });
  ends.push(() => program.stop('SIGKILL'));
  return { program, path: join(folder.path, 'vault.db') };
}

/** As the disk does when it is full, the kernel then refuses each write to a file. */
function setFileLimit({ pid }: Program, bytes: string): void {
  const { success } = Bun.spawnSync([prlimit ?? '', `--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
  expect(success).toBe(true);
}

/** Asks once the last answer is no longer kept. */
async function ready({ url }: Program): Promise<[number, unknown]> {
  await Bun.sleep(READY_CACHE_MS);
  const response = await fetch(`${url}/readyz`);
  const { database } = (await response.json()) as { database: unknown };
  return [response.status, database];
}

describe('§4 readyz 503', () => {
  test.skipIf(!prlimit)('while nothing can be written, idle or not; 200 as soon as it can', async () => {
    const { program } = await start();
    expect(await ready(program)).toEqual([200, 'writable']);
    setFileLimit(program, '1');
    expect(await ready(program)).toEqual([503, 'unavailable']);
    expect(await ready(program)).toEqual([503, 'unavailable']);
    setFileLimit(program, 'unlimited');
    expect(await ready(program)).toEqual([200, 'writable']);
  });

  test.each([
    ['deleted', (path: string) => ['', '-wal', '-shm'].map((end) => rmSync(path + end))],
    ['replaced by a copy', (path: string) => [copyFileSync(path, `${path}.copy`), renameSync(`${path}.copy`, path)]],
  ])('once the database was %s, and the log says what to do', async (_, move) => {
    const { program, path } = await start();
    expect(await ready(program)).toEqual([200, 'writable']);
    move(path);
    expect(await ready(program)).toEqual([503, 'unavailable']);
    const words = 'the vault writes nothing until it is restarted';
    await until('the log says what to do', () => program.output().includes(words));
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ handle: 'alice', did: 'did:key:zAlice' });
    const refused = await fetch(`${program.url}/api/sessions`, { method: 'POST', headers, body });
    expect([refused.status, await refused.json()]).toMatchObject([503, { error: 'database_unavailable' }]);
  });
});
