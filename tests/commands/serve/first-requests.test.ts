import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ROUTES } from '../../../routes/index.ts';
import { freePort } from '../../../scripts/dev-stack/port.ts';
import { untilListening } from '../../support/asking.ts';
import { buildBinary } from '../../support/binary.ts';
import { eachTest } from '../../support/each-test.ts';

let binary: Awaited<ReturnType<typeof buildBinary>>;
const { folder, ends } = eachTest();
beforeAll(async () => {
  binary = await buildBinary();
});
afterAll(() => binary.remove());

/** Starts the program without waiting for it. */
function spawn(port: number) {
  const child = Bun.spawn([binary.path], {
    cwd: folder.path,
    env: { PORT: `${port}`, LOG_FORMAT: 'json', DID_REGISTRY_ADDRESS: 'none' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  ends.push(() => {
    child.kill('SIGKILL');
    return child.exited;
  });
  return child;
}

/** What each route answers to a request without anything in it. */
async function askAll(port: number): Promise<Readonly<Record<string, unknown>>> {
  const answers = ROUTES.map(async ({ method, path }, i) => {
    // Each of a client of its own: too many without the operator's secret are refused.
    const headers = { 'content-type': 'application/json', 'edge-connecting-ip': `10.0.0.${i}` };
    const init = method === 'POST' ? { method, headers, body: '{}' } : { method, headers };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const text = await response.text();
    // The metrics count what was asked, and the status says what time it is.
    const lasting = path === '/metrics' ? '' : text.replace(/"time":\d+/, '"time":0');
    return [`${method} ${path}`, [response.status, lasting]] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

describe('the program, as soon as it listens', () => {
  test('answers requests of every route as it does later', async () => {
    const port = freePort();
    spawn(port);
    await untilListening(port);
    const first = await askAll(port);
    expect(Object.entries(first).filter(([, answer]) => (answer as [number])[0] === 500)).toEqual([]);
    expect(await askAll(port)).toEqual(first);
  });

  test('can be stopped', async () => {
    const port = freePort();
    const child = spawn(port);
    await untilListening(port);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    const output = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text());
    expect(output).not.toContain('"error"');
  });
});
