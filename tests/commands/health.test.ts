import { afterEach, beforeEach, expect, test } from 'bun:test';
import { temporaryFolder } from '../support/databases.ts';
import { startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';

/** Public, as in a container. */
const SETTINGS = { HOST: '0.0.0.0', EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' };

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

test('health is 0 while the vault of these settings is ready, and 1 once it is gone', async () => {
  const vault = await startProgram(SETTINGS, { cwd: folder.path });
  const vars = { ...SETTINGS, PORT: new URL(vault.url).port };
  expect(await runProgram(['health'], { cwd: folder.path, vars })).toEqual({ code: 0, out: '✓ ready\n', err: '' });
  expect(await vault.stop()).toBe(0);
  const { code, out } = await runProgram(['health', '--json'], { cwd: folder.path, vars });
  expect([code, JSON.parse(out)]).toEqual([1, { url: expect.any(String), ok: false, problem: 'nothing answers' }]);
});

test('a vault that is not ready is 1, with the status it answers', async () => {
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('', { status: 503 }) });
  const { code, out } = await runProgram(['health', '--port', String(server.port)], { cwd: folder.path });
  expect([code, out]).toEqual([1, expect.stringContaining('not ready: it answers 503')]);
});
