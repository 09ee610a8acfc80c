// npm run bench:server [-- --save --minutes N --vaults 1,2,4 --only as-it-comes]: one libSQL server on a core of its own,
// and several vaults on it that start at once on an empty database. Each number of vaults runs for the given minutes:
// every turn has look-ups, sends, and both beside each other, and every answer is counted. The server checkpoints by the
// clock, as docs/operating.md says for several vaults; with --only as-it-comes it has no option.
import { libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { type Finding, load, type RequestOf } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { besideServer, leaveServerCore, onServerCore } from './frame/place.ts';
import { processorOf } from './frame/processor.ts';
import { type Cell, type Figure, publish, type Table } from './frame/report.ts';
import { medianOf, progress, spreadOf } from './frame/rounds.ts';
import { benchFolder, startServer, type Target } from './frame/target.ts';
import { lookupRequest, register, sendRequest } from './vault-work.ts';

const CONNECTIONS = 64;
const TURN_MS = { lookups: 4_000, sends: 8_000, both: 3_000 };
const LAST_TURNS = 4;
const SERVER_OPTIONS = ['--checkpoint-interval-s', '5'];

/** One turn of a run: the vaults together. */
interface Turn {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the libSQL server for each answer. */
  readonly serverMicros: number;
  /** The same of the vaults, which share a core with the load. */
  readonly vaultMicros: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** A kind of request, and what its answer must hold. */
interface Kind {
  readonly requestOf: RequestOf;
  readonly holds: string;
}

interface Run {
  readonly vaults: number;
  readonly lookups: readonly Turn[];
  readonly sends: readonly Turn[];
  readonly both: readonly Turn[];
}

const options = benchOptions({ minutes: 1, vaults: [1, 2, 4] });
const serverOptions = options.only === 'as-it-comes' ? [] : SERVER_OPTIONS;
leaveServerCore();
let sent = 0;
let found = 0;
const lookup: Kind = { requestOf: () => lookupRequest(found++), holds: '"did":"did:key:z' };
const send: Kind = { requestOf: () => sendRequest(sent++), holds: '"ok":true' };

const runs: Run[] = [];
for (const vaults of options.vaults) runs.push(await run(vaults));
await publish(
  { name: 'server', tables: tables(), figures: figures(), versions: { sqld: sqldVersion() } },
  { ...options, rounds: runs[0]?.sends.length ?? 0 },
);

async function run(vaults: number): Promise<Run> {
  const folder = benchFolder();
  const server = await startLibsql({ dir: folder.path, place: onServerCore, more: serverOptions });
  if (!server) throw new Error('there is no libSQL server for this machine');
  const settings = { DATABASE_URL: server.url, DID_REGISTRY_ADDRESS: 'none', FOLLOWER: 'false' };
  const targets = await Promise.all(
    Array.from({ length: vaults }, () => startServer('vault', settings, { place: besideServer })),
  );
  const result = { vaults, lookups: [] as Turn[], sends: [] as Turn[], both: [] as Turn[] };
  try {
    if (targets[0]) await register(targets[0]);
    const end = performance.now() + options.minutes * 60_000;
    while (performance.now() < end || result.sends.length === 0) {
      progress(
        `${vaults} vaults, turn ${result.sends.length + 1}, ${Math.ceil((end - performance.now()) / 1000)} s left`,
      );
      result.lookups.push(await turn(server.pid, targets, [lookup], TURN_MS.lookups));
      result.sends.push(await turn(server.pid, targets, [send], TURN_MS.sends));
      result.both.push(await turn(server.pid, targets, [send, lookup], TURN_MS.both));
    }
    progress('');
    return result;
  } finally {
    for (const target of targets) await target.stop();
    await server.stop();
    folder.remove();
  }
}

/** All vaults under load at once, each with `CONNECTIONS` for each kind of request. */
async function turn(pid: number, targets: readonly Target[], kinds: readonly Kind[], ms: number): Promise<Turn> {
  const ofVaults = () => targets.reduce((sum, target) => sum + processorOf(target.pid).tree, 0);
  const [before, vaultsBefore] = [processorOf(pid).tree, ofVaults()];
  const findings = await Promise.all(
    targets.flatMap((target) =>
      kinds.map(({ requestOf, holds }) => load(target, requestOf, { ms, connections: CONNECTIONS, holds })),
    ),
  );
  const statuses: Record<string, number> = {};
  for (const { statuses: some } of findings)
    for (const [status, count] of Object.entries(some)) statuses[status] = (statuses[status] ?? 0) + count;
  const answers = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const worst = (member: (finding: Finding) => number) => Math.max(...findings.map(member));
  return {
    perSecond: findings.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50Ms: worst(({ p50Ms }) => p50Ms),
    p99Ms: worst(({ p99Ms }) => p99Ms),
    serverMicros: (processorOf(pid).tree - before) / answers,
    vaultMicros: (ofVaults() - vaultsBefore) / answers,
    statuses,
  };
}

function tables(): Table[] {
  const columns = [
    { title: 'together/s' },
    { title: 'last turns/s' },
    { title: 'of one', digits: 2 },
    { title: 'p50 ms', digits: 1 },
    { title: 'p99 ms', digits: 1 },
    { title: 'worst p99' },
    { title: 'server µs', digits: 0 },
    { title: 'vaults µs', digits: 0 },
    { title: 'other than 200' },
  ];
  const of = (title: string, kind: 'lookups' | 'sends' | 'both'): Table => {
    const one = rateOf(runs.find(({ vaults }) => vaults === 1)?.[kind] ?? []);
    const rows = runs.map((run) => ({
      name: `${run.vaults} ${run.vaults === 1 ? 'vault' : 'vaults'}`,
      cells: cells(run[kind], one),
    }));
    return { title, columns, rows };
  };
  const notes = [
    `${CONNECTIONS} connections to each vault, ${options.minutes} min each; sqld ${serverOptions.join(' ') || 'as it comes'}.`,
    'Times are of the slowest vault of a turn. The last turns show what a long run ends with.',
  ];
  return [of('look-ups', 'lookups'), of('sends', 'sends'), { ...of('both beside each other', 'both'), notes }];
}

/** What is promised of one vault, and of several beside it. */
function figures(): Figure[] {
  const rateIn = (run: Run | undefined, kind: 'lookups' | 'sends') =>
    spreadOf(run?.[kind].map(({ perSecond }) => perSecond) ?? []);
  const one = runs.find(({ vaults }) => vaults === 1);
  const alone: Figure[] = one
    ? [
        {
          label: 'one vault on a libSQL server, look-ups',
          value: rateIn(one, 'lookups'),
          unit: ' a second',
          floor: 8_000,
          goal: 20_000,
        },
        {
          label: 'one vault on a libSQL server, sends',
          value: rateIn(one, 'sends'),
          unit: ' a second',
          floor: 2_200,
          goal: 3_000,
        },
      ]
    : [];
  const together = runs.flatMap((run) => {
    const name = `${run.vaults} ${run.vaults === 1 ? 'vault' : 'vaults'} on a libSQL server`;
    const failed: Figure = { label: `${name}, answers other than 200`, value: othersOf(run), floor: 0, atMost: true };
    if (run.vaults === 1 || !one) return [failed];
    const ratio = (kind: 'lookups' | 'sends') => rateOf(run[kind]) / rateOf(one[kind]);
    const of = (what: string, value: number): Figure => ({
      label: `${name}, ${what} beside one`,
      value,
      digits: 2,
      unit: '×',
      floor: 0.8,
    });
    return [of('look-ups', ratio('lookups')), of('sends', ratio('sends')), failed];
  });
  return [...alone, ...together];
}

function othersOf({ lookups, sends, both }: Run): number {
  return [...lookups, ...sends, ...both].reduce((sum, turn) => sum + failuresOf(turn), 0);
}

function failuresOf({ statuses }: Turn): number {
  return Object.entries(statuses).reduce((sum, [status, count]) => sum + (status === '200' ? 0 : count), 0);
}

function cells(turns: readonly Turn[], one: number): Cell[] {
  const each = (member: (turn: Turn) => number) => spreadOf(turns.map(member));
  return [
    each(({ perSecond }) => perSecond),
    rateOf(turns.slice(-LAST_TURNS)),
    Number.isFinite(one) ? rateOf(turns) / one : null,
    each(({ p50Ms }) => p50Ms),
    each(({ p99Ms }) => p99Ms),
    Math.max(...turns.map(({ p99Ms }) => p99Ms)),
    each(({ serverMicros }) => serverMicros),
    each(({ vaultMicros }) => vaultMicros),
    turns.reduce((sum, turn) => sum + failuresOf(turn), 0),
  ];
}

function rateOf(turns: readonly Turn[]): number {
  return medianOf(turns.map(({ perSecond }) => perSecond));
}

function sqldVersion(): string {
  const found = Bun.spawnSync([libsqlProgram() ?? 'sqld', '--version']).stdout.toString();
  return /\d[\w.-]*/.exec(found)?.[0] ?? 'unknown';
}
