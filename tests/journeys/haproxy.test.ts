import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../support/databases.ts';
import { OPERATOR, openStream } from '../support/events.ts';
import { type Haproxy, haproxy, startHaproxy } from '../support/haproxy.ts';
import { type Program, startProgram } from '../support/program.ts';
import { until, untilSo } from '../support/until.ts';
import { addProxyTests, PROXIED, sendCode, withoutPathRules } from './proxied.ts';

describe.skipIf(!haproxy)('behind a real HAProxy, two vaults on one database', () => {
  const folder = temporaryFolder();
  const ports = [freePort(), freePort()] as const;
  const vaults: Program[] = [];
  const ends: (() => unknown)[] = [];
  let proxy: Haproxy;

  const start = (port: number) => {
    const vars = { ...PROXIED, PORT: String(port), STREAM_HEARTBEAT_SECONDS: '1', DATA_DIR: folder.path };
    return startProgram(vars, { cwd: folder.path });
  };
  let split: Program;
  let ruleless: Haproxy;
  beforeAll(async () => {
    for (const port of ports) vaults.push(await start(port));
    split = await startProgram({ ...PROXIED, ADMIN_PORT: '0', DATA_DIR: folder.path }, { cwd: folder.path });
    proxy = await startHaproxy(folder.path, ports);
    const port = Number(new URL(split.url).port);
    ruleless = await startHaproxy(folder.path, [port, port], withoutPathRules);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    await Promise.all([proxy.stop(), ruleless.stop()]);
    await Promise.all([split, ...vaults].map((vault) => vault.stop()));
    folder.remove();
  });

  test('its plain health check, HTTP/1.0 without Host, finds both up, and no vault logs an error', async () => {
    const found = await untilSo(proxy.checks, (checks) => checks.every((check) => /L\dOK|L\dSTS/.test(check)));
    expect(found).toEqual(['first UP L7OK 200', 'second UP L7OK 200']);
    for (const vault of vaults) expect(vault.output()).not.toContain('"level":"error"');
  });

  test('a vault that is slow to answer its checks, as on a busy machine, is not taken for one that is down', async () => {
    let checks = 0;
    const slow = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch() {
        const asked = performance.now();
        // As long as two checks are apart, and more.
        await until('its turn', () => performance.now() - asked > 2_200);
        checks++;
        return new Response('ok');
      },
    });
    ends.push(() => slow.stop(true));
    const port = Number(slow.port);
    const front = await startHaproxy(folder.path, [port, port]);
    ends.push(front.stop);
    await untilSo(
      async () => checks,
      (answered) => answered > 6,
    );
    const found = await untilSo(front.checks, (all) => all.every((check) => /L\d/.test(check)));
    expect(found).toEqual(['first UP L7OK 200', 'second UP L7OK 200']);
  });

  addProxyTests(() => ({ proxy: proxy.port, vault: ports[0], ruleless: ruleless.port, log: proxy.log }));

  test('events come at once, and heartbeats keep a stream open for longer than its timeouts', async () => {
    const hasty = await startHaproxy(folder.path, ports, (config) =>
      withoutPathRules(config).replace(/timeout (client|server) 60s/g, `timeout $1 ${TIMEOUT_SECONDS}s`),
    );
    ends.push(hasty.stop);
    const stream = await openStream(hasty.url, { app: 'default', token: await mintToken(hasty.url) });
    ends.push(stream.close);
    expect(await sendCode({ port: proxy.port, from: '127.0.0.31' })).toBe(200);
    await untilSo(
      async () => stream.events().map(({ type }) => type),
      (types) => types.includes('code.sent'),
    );
    const isBeat = ({ comment }: { comment?: string }) => comment === 'heartbeat';
    const enough = TIMEOUT_SECONDS + 2;
    const beats = (await stream.until(stream.frames.length + enough)).filter(isBeat);
    expect(beats.length).toBeGreaterThanOrEqual(enough);
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('no reader notices that one vault ends by %s', async (signal) => {
    let reading = true;
    ends.push(() => {
      reading = false;
    });
    const found: number[] = [];
    const read = async () => {
      while (reading) found.push((await fetch(`${proxy.url}/api/status`)).status);
    };
    const readers = Promise.all(Array.from({ length: 8 }, read));
    const more = (count: number) => {
      const enough = found.length + count;
      return untilSo(
        async () => found.length,
        (length) => length >= enough,
      );
    };
    await more(50);
    await vaults[0]?.stop(signal);
    await more(100);
    vaults[0] = await start(ports[0]);
    reading = false;
    await readers;
    expect(found.filter((status) => status !== 200)).toEqual([]);
  });
});

/** Of the hasty proxy: far more than the second from one heartbeat to the next, for a busy machine. */
const TIMEOUT_SECONDS = 10;

/** A token of the stream of events, from the operator's route. */
async function mintToken(url: string): Promise<string> {
  const headers = { ...OPERATOR, 'Content-Type': 'application/json' };
  const answer = await fetch(`${url}/v1/console/token`, { method: 'POST', headers, body: '{"app":"default"}' });
  return ((await answer.json()) as { token: string }).token;
}
