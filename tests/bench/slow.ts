// npm run bench:slow [-- --save --rounds N --ms N]: look-ups beside sends while each sync of the disk takes 20 ms longer,
// which strace brings about, with the writes on the event loop's thread and on one of their own; then sends beside busy
// programs (busy.ts). --only disk or --only busy measures one half.
import { measureBusy } from './busy.ts';
import { type Finding, load, offer } from './frame/load.ts';
import { type BenchOptions, benchOptions } from './frame/options.ts';
import { leaveServerCore, onServerCore } from './frame/place.ts';
import { type Cell, type Figure, publish } from './frame/report.ts';
import { type Case, each, interleaved, ratioOf } from './frame/rounds.ts';
import { startServer, type Target } from './frame/target.ts';
import { lookupRequest, mustBeOk, register, sendRequest } from './vault-work.ts';

const DELAY_MS = 20;
/** Sends a second that are offered, and look-ups where these are offered too. */
const SENDS = 1_000;
const LOOKUPS = 5_000;
/** As many as keep one core busy with an answer in half a millisecond: more of them only wait for each other. */
const READERS = 24;
/** Enough that a send waits for its commit, not for a connection. */
const SENDERS = 256;
const HOLDS = '"did":"did:key:z';

/** What one measurement found: the look-ups, and the sends beside them. */
interface Beside {
  readonly lookups: Finding;
  readonly sends?: Finding;
}

type Findings = ReadonlyMap<string, readonly Beside[]>;

/** A vault with its way of writing and the time that each sync takes longer. */
interface Setup {
  readonly name: string;
  readonly writer: string;
  readonly delayMs: number;
  readonly vault: Target;
}

const TIMES = [
  { title: 'p50 ms', digits: 2 },
  { title: 'p99 ms', digits: 2 },
];
const SENT = [{ title: 'sends/s' }, { title: 'sends’ p50 ms', digits: 1 }, { title: 'sends’ p99 ms', digits: 1 }];

const options = benchOptions({ ms: 3_000 });
leaveServerCore();
if (options.only !== 'busy') await measureDisk(options);
if (options.only !== 'disk') await measureBusy(options);

async function measureDisk(given: BenchOptions): Promise<void> {
  const strace = Bun.which('strace');
  if (!strace) throw new Error('bench:slow needs strace, which delays the answers of the disk');
  const setups: Setup[] = [];
  try {
    for (const delayMs of [0, DELAY_MS]) {
      for (const writer of ['inline', 'thread']) setups.push(await start(strace, writer, delayMs));
    }
    const findings = await interleaved(setups.map(casesOf), given);
    const tables = [fullTable(setups, findings), offeredTable(setups, findings)];
    const [version = ''] =
      Bun.spawnSync([strace, '--version'])
        .stdout.toString()
        .match(/\d+\.\d+/) ?? [];
    await publish({ name: 'slow', tables, figures: figuresOf(setups, findings), versions: { strace: version } }, given);
  } finally {
    for (const { vault } of setups) await vault.stop();
  }
}

/** A vault that strace runs: it stops at each sync and at nothing else. The vault stays our own child. */
async function start(tracer: string, writer: string, delayMs: number): Promise<Setup> {
  const syncs = 'fsync,fdatasync';
  const delay = delayMs > 0 ? ['-e', `inject=${syncs}:delay_exit=${delayMs * 1000}`] : [];
  const flags = ['-D', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-e', `trace=${syncs}`, ...delay];
  const place = (command: readonly string[]) => onServerCore([tracer, ...flags, ...command]);
  const mode = writer === 'thread' ? 'vault' : 'vault-inline';
  const vault = await startServer(mode, { DID_REGISTRY_ADDRESS: 'none' }, { place });
  await register(vault);
  return { name: `${writer}, each sync + ${delayMs} ms`, writer, delayMs, vault };
}

/** The look-ups alone, as many as go; beside sends; and both as they are offered. */
function casesOf({ name, vault }: Setup): Case<Beside>[] {
  const { ms } = options;
  let sent = 0;
  const senders = { perSecond: SENDS, connections: SENDERS, holds: '"ok":true' };
  const sends = () => offer(vault, () => sendRequest(sent++), { ms, ...senders });
  const most = () => load(vault, lookupRequest, { ms, connections: READERS, holds: HOLDS });
  const offered = () => offer(vault, lookupRequest, { ms, perSecond: LOOKUPS, holds: HOLDS });
  const beside = async (lookups: () => Promise<Finding>): Promise<Beside> => {
    const [read, written] = await Promise.all([lookups(), sends()]);
    return { lookups: mustBeOk(read), sends: mustBeOk(written) };
  };
  return [
    { name: aloneOf(name), run: async () => ({ lookups: mustBeOk(await most()) }) },
    { name: besideOf(name), run: () => beside(most) },
    { name: offeredOf(name), run: () => beside(offered) },
  ];
}

function fullTable(setups: readonly Setup[], findings: Findings) {
  const columns = [
    { title: 'alone/s' },
    { title: 'p99 ms alone', digits: 2 },
    { title: `beside ${SENDS} sends/s` },
    { title: 'of alone', digits: 2 },
    ...TIMES,
    ...SENT,
  ];
  const rows = setups.map(({ name }) => {
    const [alone, beside] = [findings.get(aloneOf(name)), findings.get(besideOf(name))];
    const rate = ({ lookups }: Beside) => lookups.perSecond;
    const [, p99Alone = Number.NaN] = timesOf(alone);
    const cells = [each(alone, rate), p99Alone, each(beside, rate), ratioOf(beside, alone, rate), ...timesOf(beside)];
    return { name, cells: [...cells, ...sentOf(beside)] };
  });
  return { title: `Look-ups over ${READERS} connections`, columns, rows };
}

function offeredTable(setups: readonly Setup[], findings: Findings) {
  const columns = [{ title: 'requests/s' }, ...TIMES, { title: 'slowest ms', digits: 1 }, ...SENT];
  const rows = setups.map(({ name }) => {
    const offered = findings.get(offeredOf(name));
    const cells = [each(offered, ({ lookups }) => lookups.perSecond), ...timesOf(offered)];
    return { name, cells: [...cells, each(offered, ({ lookups }) => lookups.maxMs), ...sentOf(offered)] };
  });
  return { title: `${LOOKUPS} look-ups a second beside ${SENDS} sends a second`, columns, rows };
}

function timesOf(all: readonly Beside[] | undefined): Cell[] {
  return [each(all, ({ lookups }) => lookups.p50Ms), each(all, ({ lookups }) => lookups.p99Ms)];
}

function sentOf(all: readonly Beside[] | undefined): Cell[] {
  const members = ['perSecond', 'p50Ms', 'p99Ms'] as const;
  return members.map((member) => each(all, ({ sends }) => sends?.[member] ?? Number.NaN));
}

/** What the thread is for. */
function figuresOf(setups: readonly Setup[], findings: Findings): Figure[] {
  const slow = setups.find(({ writer, delayMs }) => writer === 'thread' && delayMs > 0);
  if (!slow) return [];
  const [alone, beside, offered] = [aloneOf, besideOf, offeredOf].map((nameOf) => findings.get(nameOf(slow.name)));
  const p99 = { digits: 2, unit: ' ms', atMost: true, floor: 5 };
  const title = `syncs ${DELAY_MS} ms slower`;
  return [
    {
      label: `${title}: look-ups beside ${SENDS} sends a second ÷ look-ups alone`,
      value: ratioOf(beside, alone, ({ lookups }) => lookups.perSecond),
      digits: 2,
      unit: '×',
      floor: 0.8,
      goal: 0.95,
      headline: true,
    },
    {
      label: `${title}: p99 of look-ups beside ${SENDS} sends a second`,
      value: each(beside, ({ lookups }) => lookups.p99Ms),
      headline: true,
      ...p99,
    },
    {
      label: `${title}: the same, of ${LOOKUPS} look-ups a second`,
      value: each(offered, ({ lookups }) => lookups.p99Ms),
      ...p99,
    },
  ];
}

function aloneOf(name: string): string {
  return `${name}: alone`;
}

function besideOf(name: string): string {
  return `${name}: beside`;
}

function offeredOf(name: string): string {
  return `${name}: offered`;
}
