import { afterAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { sleep } from '../../lib/base/clock.ts';
import { testClock } from './clock.ts';
import { temporaryFolder } from './databases.ts';
import { countedDatabase, idle } from './under-way.ts';

// A server of another thread, slower than any turn of the event loop.
const SLOW = `
  const late = () => new Promise((resolve) => setTimeout(() => resolve(new Response('slow')), 40));
  postMessage(String(Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: late }).url));
`;
const worker = new Worker(URL.createObjectURL(new Blob([SLOW])));
const slow = new Promise<string>((resolve) => {
  worker.onmessage = ({ data }) => resolve(data);
});
afterAll(() => worker.terminate());

const answerOf = async (url: string | URL) => (await fetch(url)).text();

/** A server of this process. */
const serve = (answer: (request: Request) => Response | Promise<Response>) =>
  Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer });

async function chain(links: number): Promise<void> {
  if (links > 0) await chain(links - 1);
}

describe('idle comes after the last link of a chain', () => {
  const key = crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']) as Promise<CryptoKeyPair>;
  const folder = temporaryFolder();
  const engine = openSqlite(join(folder.path, 'vault.db'));
  const database = countedDatabase(engine);
  afterAll(() => {
    engine.close();
    folder.remove();
  });
  const clock = testClock();
  const links: Record<string, () => Promise<unknown>> = {
    'of promises': () => chain(10_000),
    'of answers of another thread': async () => answerOf(await slow),
    'of timers of 0': () => sleep(clock, 0),
    'of statements': () => database.execute({ sql: 'SELECT 1', args: {} }),
    'of signatures': async () => crypto.subtle.sign('Ed25519', (await key).privateKey, new Uint8Array(100_000)),
    'of packed bodies': () =>
      new Response(new Blob([new Uint8Array(4_000_000)]).stream().pipeThrough(new CompressionStream('gzip'))).bytes(),
    'of answers of this process, whose body is long': async () => {
      await using server = serve(() => new Response('a'.repeat(2_000_000)));
      expect(await answerOf(server.url)).toHaveLength(2_000_000);
    },
    'of requests whose body is long': async () => {
      await using server = serve(async (request) => new Response(String((await request.text()).length)));
      const answer = await fetch(server.url, { method: 'POST', body: 'a'.repeat(2_000_000) });
      expect(await answer.text()).toBe('2000000');
    },
    'of answers that are asked for elsewhere': async () => {
      const url = await slow;
      await using server = serve(() => fetch(url));
      expect(await answerOf(server.url)).toBe('slow');
    },
  };

  test.each([...Object.keys(links), 'of all of these'])('%s', async (name) => {
    await Promise.all([slow, key]);
    const one = links[name];
    const all = one ? Array.from({ length: 5 }, () => one) : Object.values(links);
    let done = 0;
    const run = async () => {
      for (const link of all) {
        await link();
        done++;
      }
    };
    clock.after(10, run);
    await clock.advance(9);
    expect(done).toBe(0);
    await clock.advance(1);
    expect(done).toBe(all.length);
  });
});

describe('what a test holds back is not under way', () => {
  test('a promise of its own, or a request that a server of it has', async () => {
    const gate = Promise.withResolvers<Response>();
    await using server = serve(() => gate.promise);
    let isAnswered = false;
    const asked = answerOf(server.url).finally(() => {
      isAnswered = true;
    });
    await idle();
    expect(isAnswered).toBe(false);
    gate.resolve(new Response('at last'));
    await idle();
    expect([isAnswered, await asked]).toEqual([true, 'at last']);
  });

  test('a request that waits for the clock; its answer is there once time has come', async () => {
    const clock = testClock();
    await using server = serve(() => sleep(clock, 1000).then(() => new Response()));
    let isAnswered = false;
    const asked = fetch(server.url).finally(() => {
      isAnswered = true;
    });
    await clock.advance(999);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    expect(isAnswered).toBe(true);
    await asked;
  });

  test('requests that their caller gives up; the server has been told of all', async () => {
    let told = 0;
    await using server = serve((request) => {
      request.signal.addEventListener('abort', () => {
        told++;
      });
      return new Promise<never>(() => {});
    });
    const abort = new AbortController();
    const asked = Array.from({ length: 200 }, () => fetch(server.url, { signal: abort.signal }));
    const given = Promise.allSettled(asked);
    await idle();
    abort.abort();
    await idle();
    expect([told, new Set((await given).map(({ status }) => status))]).toEqual([200, new Set(['rejected'])]);
  });

  test('a request that its caller gives up while it is answered: its server may never be told', async () => {
    const answer = Promise.withResolvers<Response>();
    await using server = serve(() => answer.promise);
    const abort = new AbortController();
    const given = fetch(server.url, { signal: abort.signal }).catch(() => 'given up');
    await idle();
    abort.abort();
    answer.resolve(new Response('late'));
    await idle();
    expect(await given).toBe('given up');
  });
});

test('a server of this process sees the headers that were sent, and no other', async () => {
  const seen: string[][] = [];
  await using server = serve((request) => {
    seen.push([...request.headers.keys()].filter((name) => name.startsWith('x-')));
    return new Response();
  });
  await fetch(server.url, { headers: { 'X-One': '1' } });
  await fetch(new Request(server.url, { headers: [['X-Two', '2']] }));
  await fetch(server.url);
  expect(seen).toEqual([['x-one'], ['x-two'], []]);
});
