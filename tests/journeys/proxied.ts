import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { request } from 'node:http';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import type { FrontProxy, Setup } from '../support/proxies.ts';
import { sendRaw } from '../support/raw.ts';
import { untilSo } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

/** Headers as they are sent; a list is sent as so many headers. */
type Sent = Readonly<Record<string, string | string[]>>;

/** What stands there once the tests run. */
export interface Proxied {
  /** The proxy's port, with the example of the documents. */
  readonly proxy: number;
  /** The port of the vault behind it, which serves the operator's paths to everyone on this machine. */
  readonly vault: number;
  /** The port of a proxy without any rule about paths, and in front of a vault with `ADMIN_PORT`. */
  readonly ruleless: number;
  /** What the proxy's access log says so far. */
  readonly log: () => string;
}

/** Settings of a vault behind a proxy on this machine. */
export const PROXIED = {
  BASE_URL: 'https://vault.example.com',
  TRUSTED_PROXIES: '127.0.0.1/32,::1/128',
  ALLOW_LOG_DELIVERY: 'true',
  METRICS_ALLOW: '127.0.0.0/8',
  FOLLOWER: 'false',
  VAULT_SECRET,
  OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
};

/** The example without what it says about paths. */
export function withoutPathRules(config: string): string {
  return config
    .split('\n')
    .filter((line) => !/return 40[04]|@odd|@operator|deny_status/.test(line))
    .join('\n');
}

/** The proxy's tests: in front of a vault, and without rules about paths in front of a vault with `ADMIN_PORT`. */
export function describeProxy(
  name: string,
  program: string | undefined,
  startProxy: (setup: Setup) => Promise<FrontProxy>,
): void {
  const start = (setup: Omit<Setup, 'program'>) => startProxy({ ...setup, program: program ?? '' });
  describe.skipIf(!program)(name, () => {
    const folder = temporaryFolder();
    let vaults: Program[];
    let proxies: FrontProxy[];

    beforeAll(async () => {
      const vars = { ...PROXIED, DATA_DIR: folder.path };
      vaults = [
        await startProgram(vars, { cwd: folder.path }),
        await startProgram({ ...vars, ADMIN_PORT: '0' }, { cwd: folder.path }),
      ];
      const [open, split] = vaults.map(({ url }) => url) as [string, string];
      proxies = [
        await start({ folder: folder.path, upstream: open }),
        await start({ folder: folder.path, upstream: split, edit: withoutPathRules }),
      ];
    });
    afterAll(async () => {
      await Promise.all([...(proxies ?? []), ...(vaults ?? [])].map((one) => one.stop()));
      folder.remove();
    });

    addProxyTests(() => {
      const [proxy, ruleless] = proxies as [FrontProxy, FrontProxy];
      const vault = Number(new URL((vaults[0] as Program).url).port);
      return { proxy: proxy.port, vault, ruleless: ruleless.port, log: proxy.log };
    });
  });
}

/** The host that the proxied vaults are named by. */
const HOST = 'vault.example.com';

/** Paths that are `/metrics` or the console's to the vault's server, and others to a rule about paths. */
const WALKS = [
  ...[
    '/./metrics',
    '/.\\metrics',
    '/x\\..\\metrics',
    '/%2e/metrics',
    '/x/%2E%2e/metrics',
    '/x/../metrics',
    '/x/.%2E/metrics',
  ],
  ...['/./v1/console/overview', '/.\\v1/console/overview', '/v1\\console/overview', '/%2E/v1/console/overview'],
  ...[
    '/v1/./console/overview',
    '/v1/x/../console/overview',
    '/v1/console\\overview',
    '/x\\..\\console',
    '/%2e/console',
  ],
];

/**
 * The tests that every proxy passes: limits count by true client, whatever headers the client sends; the operator's
 * paths are hidden; the log holds no query.
 */
export function addProxyTests(ports: () => Proxied): void {
  describe('paths', () => {
    const ask = (port: number, path: string) =>
      sendRaw(`http://127.0.0.1:${port}`, [`GET ${path} HTTP/1.1`, `Host: ${HOST}`]);

    test.each(WALKS)("%s is the operator's to the vault, and does not pass the proxy", async (path) => {
      const own = await ask(ports().vault, path);
      expect([path, own.status]).toEqual([path, path.includes('overview') ? 401 : 200]);
      const reply = await ask(ports().proxy, path);
      expect([path, [400, 404].includes(reply.status), reply.headers['x-request-id']]).toEqual([path, true, undefined]);
    });

    test.each(['/metrics', '/metrics?x=1', '/console', '/console/main.js', '/v1/console/overview'])(
      '%s does not pass either',
      async (path) => {
        const reply = await ask(ports().proxy, path);
        expect([reply.status, reply.headers['x-request-id']]).toEqual([404, undefined]);
      },
    );

    test.each([
      '/healthz',
      '/.well-known/did.json',
      '/api/status',
      '/pay/',
      '/api/sessions/check?identifier=a.b%2Ec%5C/..\\',
    ])('%s passes', async (path) => {
      expect((await ask(ports().proxy, path)).headers['x-request-id']).toBeString();
    });

    test.each([...WALKS, '/metrics', '/console', '/v1/console/overview'])(
      'with ADMIN_PORT no rule is needed: %s is nowhere on the public listener',
      async (path) => {
        const reply = await ask(ports().ruleless, path);
        expect([path, reply.status, reply.headers['x-request-id']?.length]).toEqual([path, 404, 32]);
      },
    );

    test('the log holds the path of a request, and not its query', async () => {
      const query = 'identifier=somebody%40example.com&token=confidential';
      await ask(ports().proxy, `/api/verify/status?channel=email&${query}`);
      await untilSo(
        async () => ports().log(),
        (log) => log.includes('/api/verify/status'),
      );
      expect(ports().log()).not.toMatch(/somebody|confidential|\?/);
    });
  });

  describe('limits', () => {
    const statuses = async (times: number, from: string, headers: (n: number) => Sent) => {
      const found: number[] = [];
      for (let n = 0; n < times; n++) found.push(await sendCode({ port: ports().proxy, from, headers: headers(n) }));
      return found;
    };
    const THREE = [200, 200, 200, 429, 429];

    test('each true client has its own limit', async () => {
      expect(await statuses(5, '127.0.0.2', () => ({}))).toEqual(THREE);
      expect(await statuses(5, '127.0.0.3', () => ({}))).toEqual(THREE);
    });

    const ip = (n: number) => `203.0.113.${n}`;
    const ipv6 = (n: number) => `2001:db8:0:${n}::1`;
    test.each<[string, string, (n: number) => Sent]>([
      ['Edge-Connecting-IP', '127.0.0.11', (n) => ({ 'Edge-Connecting-IP': ip(n) })],
      ['Edge-Connecting-IP in another spelling', '127.0.0.12', (n) => ({ 'EDGE-connecting-ip': ip(n) })],
      ['Edge_Connecting_IP', '127.0.0.13', (n) => ({ Edge_Connecting_IP: ip(n) })],
      ['Edge-Connecting-IP twice', '127.0.0.14', (n) => ({ 'Edge-Connecting-IP': [ip(n), ip(n + 1)] })],
      ['X-Forwarded-For', '127.0.0.15', (n) => ({ 'X-Forwarded-For': `${ip(n)}, 10.0.0.1` })],
      ['X-Real-IP and Forwarded', '127.0.0.16', (n) => ({ 'X-Real-IP': ip(n), Forwarded: `for=${ip(n)}` })],
      ['rotating IPv6 addresses', '127.0.0.17', (n) => ({ 'Edge-Connecting-IP': ipv6(n), 'X-Forwarded-For': ipv6(n) })],
    ])('a spoofed header gains nothing: %s', async (_, from, headers) => {
      expect(await statuses(5, from, headers)).toEqual(THREE);
    });

    test('past the proxy, an address that is no trusted one cannot name another client either', async () => {
      const found: number[] = [];
      for (let n = 0; n < 5; n++) {
        const headers = { 'Edge-Connecting-IP': ip(n) };
        found.push(await sendCode({ port: ports().vault, from: '127.0.0.21', headers }));
      }
      expect(found).toEqual(THREE);
    });
  });
}

let sends = 0;

/**
 * Asks for a code from a client's own address, for another identifier each time, so that only the IP's limit counts.
 */
export function sendCode({
  port,
  from,
  headers = {},
}: {
  port: number;
  from: string;
  headers?: Sent;
}): Promise<number> {
  const text = JSON.stringify({ identifier: `user${sends++}@example.com`, channel: 'email' });
  const length = { 'Content-Type': 'application/json', 'Content-Length': String(text.length) };
  // Node's client, since Bun's `fetch` cannot choose the address it comes from.
  const options = {
    host: '127.0.0.1',
    port,
    localAddress: from,
    path: '/api/verify/send',
    method: 'POST',
    agent: false,
  } as const;
  return new Promise((resolve, reject) => {
    request({ ...options, headers: { ...length, ...headers } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end(text);
  });
}
