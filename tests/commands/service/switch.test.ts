import { afterAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';

const folder = temporaryFolder();
afterAll(folder.remove);
const file = join(folder.path, 'vault-second');
const run = (...words: string[]) =>
  runProgram(['service', 'switch', ...words, '--switch-file', file, '--haproxy-socket', join(folder.path, 'none')], {
    cwd: folder.path,
  });

test('where no vault is ready nothing is switched, and nothing written', async () => {
  const port = freePort();
  const { code, out, err } = await run('second', '--second-port', String(port), '--wait', '0');
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain(`nothing was switched: http://127.0.0.1:${port}/readyz does not answer`);
  expect([existsSync(file), existsSync(join(folder.path, 'vault-data'))]).toEqual([false, false]);
});

test('a file that cannot be made is named, with the remedy', async () => {
  const ready = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('{}') });
  const missing = join(folder.path, 'missing/vault-second');
  const words = ['service', 'switch', 'second', '--second-port', String(ready.port), '--switch-file', missing];
  const none = join(folder.path, 'none');
  const { code, err } = await runProgram([...words, '--haproxy-socket', none], { cwd: folder.path });
  await ready.stop(true);
  expect([code, err]).toEqual([1, `vault: ${missing} cannot be made: run this as root (sudo)\n`]);
});

test.each([
  [[], 'vault service switch needs WHICH.'],
  [['third'], 'vault service switch needs first or second.'],
  [['second', '--second-port', '8787'], '--second-port must be a port from 1 to 65535, and not PORT.'],
  [['first', '--wait', 'long'], '--wait must be a number of seconds, such as 120.'],
])('refuses %j, with the remedy', async (words, message) => {
  expect(await run(...words)).toEqual({ code: 2, out: '', err: `vault: ${message}\n` });
});
