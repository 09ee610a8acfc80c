// npm run bench [-- --save --rounds N --ms N --only WORD]: requests per second and processor time of the main routes,
// beside a bare `Bun.serve` measured in the same rounds.
import { type Finding, load, type RequestOf, request } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { leaveServerCore } from './frame/place.ts';
import { type Cell, publish } from './frame/report.ts';
import { type Case, each, interleaved, ratioOf } from './frame/rounds.ts';
import { startServer, type Target } from './frame/target.ts';

const options = benchOptions();
leaveServerCore();

const bare = await startServer('bare');
// Handles without a registry ask nobody; with one, each request asks the node.
const vault = await startServer('vault', { DID_REGISTRY_ADDRESS: 'none' });
const node = await startServer('node');
const asking = await startServer('vault', { RPC_URL: `http://127.0.0.1:${node.port}`, FOLLOWER: 'false' });
const credentialId = 'A'.repeat(22);
await load(
  vault,
  () =>
    request('POST', '/api/dids', {
      body: { credentialId, handle: 'bench', did: 'did:key:z', txHash: `0x${'1'.repeat(64)}` },
    }),
  { ms: 2_000, connections: 1, count: 1 },
);

/** What `randomCode` makes of bytes that are all 7. */
const CODE = String(0x07070707 % 1_000_000).padStart(6, '0');
let [sent, checked, opened] = [0, 0, 0];
const who = (n: number) => ({ identifier: `user${n}@example.com`, channel: 'email' });
const ipOf = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
const session = (word: string) => () =>
  request('POST', '/api/sessions', { body: { handle: `${word}${opened}`, did: 'did:key:z' }, ip: ipOf(opened++) });
const lookup = request('GET', `/api/dids/lookup?credentialId=${credentialId}`);

const BARE = 'bare Bun.serve';
const cases: readonly Case[] = [
  loadOf(BARE, bare, () => request('GET', '/api/status')),
  loadOf('GET /api/status', vault, () => request('GET', '/api/status')),
  loadOf('GET /api/dids/lookup', vault, () => lookup),
  loadOf('POST /api/verify/send', vault, () =>
    request('POST', '/api/verify/send', { body: who(sent), ip: ipOf(sent++) }),
  ),
  // Each code is checked once, so a round stops when those sent are used up.
  loadOf(
    'POST /api/verify/check',
    vault,
    () => request('POST', '/api/verify/check', { body: { ...who(checked), code: CODE }, ip: ipOf(checked++) }),
    () => sent - checked,
  ),
  loadOf('POST /api/sessions', vault, session('bench')),
  loadOf('… an alias asked for', asking, session('asked')),
];

const findings = await interleaved(cases, options);
const beside = findings.get(BARE);
await publish(
  {
    name: 'http',
    tables: [
      {
        title: '64 connections',
        columns: [
          { title: 'requests/s' },
          { title: 'processor µs', digits: 1 },
          { title: 'of bare', digits: 2 },
          { title: 'p50 ms', digits: 2 },
          { title: 'p99 ms', digits: 2 },
          { title: 'statuses' },
        ],
        rows: [...findings].map(([name, all]) => ({ name, cells: cellsOf(all) })),
      },
    ],
  },
  options,
);
for (const target of [bare, vault, asking, node]) await target.stop();

function loadOf(name: string, target: Target, requestOf: RequestOf, count?: () => number): Case {
  return { name, run: () => load(target, requestOf, { ms: options.ms, ...(count && { count: count() }) }) };
}

function cellsOf(all: readonly Finding[]): Cell[] {
  return [
    each(all, (one) => one.perSecond),
    each(all, (one) => one.cpuMicros),
    ratioOf(all, beside, (one) => one.cpuMicros),
    each(all, (one) => one.p50Ms),
    each(all, (one) => one.p99Ms),
    statusesOf(all),
  ];
}

/** Which statuses were answered in any round. */
function statusesOf(all: readonly Finding[]): string {
  return [...new Set(all.flatMap(({ statuses }) => Object.keys(statuses)))].sort().join(' ');
}
