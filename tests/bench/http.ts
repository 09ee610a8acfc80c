import { join } from 'node:path';
import { type Finding, load, type RequestOf, request } from './load.ts';

/**
 * Requests per second and processor time per request of the main routes, as ratios to a bare `Bun.serve` answer
 * measured in the same run.
 */
const ROUNDS = Number(process.argv[2] ?? 3);
const ROUND_MS = 1_500;
const CODE = codeOfConstantRandom();

const bare = await start('bare');
// Handles without a registry ask nobody; with one, each request asks the node.
const vault = await start('vault', { DID_REGISTRY_ADDRESS: 'none' });
const node = await start('node');
const asking = await start('vault', { RPC_URL: `http://127.0.0.1:${node.port}`, FOLLOWER: 'false' });
const credentialId = 'A'.repeat(22);
await load(
  vault,
  () =>
    request('POST', '/api/dids', {
      body: { credentialId, handle: 'bench', did: 'did:key:z', txHash: `0x${'1'.repeat(64)}` },
    }),
  { ms: 2_000, connections: 1, count: 1 },
);

let sent = 0;
let checked = 0;
let opened = 0;
const who = (n: number) => ({ identifier: `user${n}@example.com`, channel: 'email' });
const ipOf = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
const lookup = request('GET', `/api/dids/lookup?credentialId=${credentialId}`);
const cases: readonly { name: string; target: typeof bare; request: RequestOf; count?: () => number }[] = [
  { name: 'bare Bun.serve', target: bare, request: () => request('GET', '/api/status') },
  { name: 'GET /api/status', target: vault, request: () => request('GET', '/api/status') },
  { name: 'GET /api/dids/lookup', target: vault, request: () => lookup },
  {
    name: 'POST /api/verify/send',
    target: vault,
    request: () => request('POST', '/api/verify/send', { body: who(sent), ip: ipOf(sent++) }),
  },
  // Each code is checked once, so a round stops when those sent are used up.
  {
    name: 'POST /api/verify/check',
    target: vault,
    request: () => request('POST', '/api/verify/check', { body: { ...who(checked), code: CODE }, ip: ipOf(checked++) }),
    count: () => sent - checked,
  },
  {
    name: 'POST /api/sessions',
    target: vault,
    request: () =>
      request('POST', '/api/sessions', { body: { handle: `bench${opened}`, did: 'did:key:z' }, ip: ipOf(opened++) }),
  },
  {
    name: '… an alias asked for',
    target: asking,
    request: () =>
      request('POST', '/api/sessions', { body: { handle: `asked${opened}`, did: 'did:key:z' }, ip: ipOf(opened++) }),
  },
];

const findings = new Map(cases.map(({ name }) => [name, [] as Finding[]]));
for (let round = 0; round < ROUNDS; round++) {
  for (const { name, target, request: requestOf, count } of cases) {
    const finding = await load(target, requestOf, { ms: ROUND_MS, ...(count ? { count: count() } : {}) });
    findings.get(name)?.push(finding);
  }
}
const floor = medianOf(findings.get('bare Bun.serve') ?? []);
console.log(
  `${'64 connections'.padEnd(24)}${['req/s', 'of bare', 'CPU µs', 'of bare', 'p50 ms', 'p99 ms'].map((text) => text.padStart(10)).join('')}  statuses`,
);
for (const [name, all] of findings) {
  const one = medianOf(all);
  const cells = [
    one.perSecond.toFixed(0),
    (one.perSecond / floor.perSecond).toFixed(2),
    one.cpuMicros.toFixed(1),
    (one.cpuMicros / floor.cpuMicros).toFixed(2),
    one.p50Ms.toFixed(2),
    one.p99Ms.toFixed(2),
  ];
  console.log(`${name.padEnd(24)}${cells.map((text) => text.padStart(10)).join('')}  ${JSON.stringify(one.statuses)}`);
}
for (const { process: child } of [bare, vault, asking, node]) child.kill('SIGTERM');

async function start(mode: 'bare' | 'vault' | 'node', settings: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'server.ts'), mode, JSON.stringify(settings)], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { value } = await child.stdout.getReader().read();
  return { process: child, pid: child.pid, port: Number(new TextDecoder().decode(value)) };
}

/** The run in the middle by requests per second. */
function medianOf(all: readonly Finding[]): Finding {
  const middle = all.toSorted((a, b) => a.perSecond - b.perSecond)[all.length >> 1];
  if (!middle) throw new Error('nothing was measured');
  return middle;
}

/** What `randomCode` makes of bytes that are all 7. */
function codeOfConstantRandom(): string {
  return String(0x07070707 % 1_000_000).padStart(6, '0');
}
