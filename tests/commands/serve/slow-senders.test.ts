import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { temporaryFolder } from '../../support/databases.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { until } from '../../support/until.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

/** Headers have Bun's 12 s and a body 20; without the vault's timer Bun would close the latter after 60. */
const LIMIT_MS = 45_000;
/** Of each of three kinds: 2,000 in all. */
const DRIPS = 667;

const folder = temporaryFolder();
let vault: Program;
beforeAll(async () => {
  vault = await startProgram({ VAULT_SECRET, DATA_DIR: folder.path, FOLLOWER: 'false' }, { cwd: folder.path });
});
afterAll(async () => {
  await vault.stop('SIGKILL');
  folder.remove();
});

/** Connections that were let in. */
let opened = 0;

/** A connection that sends a text and then a byte each 2 s: resolves with what it was answered, once it is closed. */
function drip(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(vault.url).port), '127.0.0.1', () => {
      socket.write(text);
      opened++;
    });
    const dripping = setInterval(() => socket.write('a'), 2_000);
    const limit = setTimeout(() => reject(new Error(`still open: ${text.split('\r\n')[0]}`)), LIMIT_MS);
    const end = () => {
      clearInterval(dripping);
      clearTimeout(limit);
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}

const several = (text: string) => Promise.all(Array.from({ length: DRIPS }, () => drip(text)));
const POST = 'POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

test('headers that never end are cut, a body that never ends is 408 and the last of its connection; others stay', async () => {
  const idle = connect(Number(new URL(vault.url).port), '127.0.0.1');
  const asked: string[] = [];
  idle.on('data', (data) => asked.push(String(data)));
  const ask = () => idle.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  ask();
  const all = Promise.all([
    several('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: '),
    several(`${POST}Content-Length: 1000\r\n\r\n`),
    several(`${POST}Transfer-Encoding: chunked\r\n\r\n100\r\n{`),
  ]);
  let isOver = false;
  const over = all.finally(() => {
    isOver = true;
  });
  await until(
    'the end of all',
    async () => {
      expect((await fetch(`${vault.url}/healthz`)).status).toBe(200);
      return isOver;
    },
    LIMIT_MS,
  );
  const [headers, bodies, chunks] = await over;
  expect(opened).toBe(3 * DRIPS);
  expect(new Set(headers)).toEqual(new Set(['']));
  for (const answer of [...bodies, ...chunks]) {
    expect(answer).toStartWith('HTTP/1.1 408 ');
    expect(answer).toContain('"error":"request_timeout"');
    expect(answer).toMatch(/^connection: close$/im);
  }
  // A client that was idle for as long asks again on its connection.
  expect(asked).toHaveLength(1);
  const again = Promise.withResolvers<void>();
  idle.on('data', () => again.resolve());
  idle.on('close', () => again.reject(new Error('the idle connection was closed')));
  ask();
  await again.promise;
  idle.removeAllListeners('close').destroy();
});
