import { isoTime } from '../base/clock.ts';
import type { LastCall } from '../base/last-calls.ts';
import type { MetricName } from '../base/metric-catalogue.ts';
import type { Family, Labels } from '../base/metrics.ts';
import { VERSION } from '../base/version.ts';
import { EVENT_CHANNELS, EVENTS, type EventSpan } from '../events/catalogue.ts';
import { readFollower } from '../indexer/queries.ts';
import type { Platform } from '../platform.ts';
import { type Outcomes, statusClass, sumBy, withoutConsole } from './families.ts';
import type { Readiness } from './health.ts';
import { type BackupState, readBackupState } from './last-backup.ts';

/** The console's overview: counters since the process started, and the current state of its parts. */
export interface Overview {
  readonly at: string;
  readonly version: string;
  /** The client that limits count this request under: the operator's own address, unless a proxy hides it. */
  readonly client: string;
  /** Whether the console shows the stream (`NEXT_PUBLIC_HYPERAUTH_ENABLE_LIVE`). */
  readonly live: boolean;
  readonly apps: readonly string[];
  /** The kinds of accounts that are offered: those whose factory is configured. */
  readonly account_kinds: readonly number[];
  readonly events: {
    readonly types: readonly string[];
    readonly channels: readonly string[];
    /** The oldest event in the table; `last_id + 1` if all are deleted. */
    readonly first_id: number;
    readonly last_id: number;
  };
  readonly counters: {
    /** By status class, such as `2xx`. Without the console's own requests, as in `latency`. */
    readonly requests: Outcomes;
    readonly sends: Outcomes;
    readonly verifications: Outcomes;
    readonly sessions: Outcomes;
    readonly registrations: Outcomes;
  };
  /** Cumulative counts of requests by duration; `le` in seconds, null for no bound. */
  readonly latency: readonly { readonly le: number | null; readonly count: number }[];
  /** Refusals by limit. */
  readonly limits: Outcomes;
  /** Identifiers, by channel, whose codes now need a pass because somebody guessed. */
  readonly guessing: Outcomes;
  readonly upstreams: Readonly<Record<string, Outcomes>>;
  /** The providers of messages, and the messages with codes by outcome. */
  readonly delivery: Readonly<Record<'email' | 'sms', { readonly provider: string; readonly messages: Outcomes }>>;
  /** The last calls of this process by upstream, `email` and `sms`. */
  readonly calls: Readonly<Record<string, CallTimes>>;
  /** The functions that the settings turn on, whether they work or not. */
  readonly configured: Readonly<Record<'registry' | 'indexer' | 'follower' | 'relay' | 'webhooks', boolean>>;
  readonly database: {
    readonly state: Readiness['database'];
    readonly queries: Outcomes;
    readonly connections: { readonly used: number; readonly max: number; readonly waiting: number };
    /** Of an embedded database: its write-ahead log, and for how long not all of it was in the file. */
    readonly log: { readonly bytes: number; readonly checkpoint_age_ms: number | null } | null;
  };
  /** The last findings of this process's doctor; null before the first since the start. */
  readonly doctor: DoctorView | null;
  /** The newest backup that is known, and whether another one is due; null while the database is away. */
  readonly backup: BackupView | null;
  /** How far this process's clock is ahead of the other processes', negative if behind; 0 unless it is off. */
  readonly clock: { readonly off_ms: number };
  /** Null without a relay. `trouble`: the condition that blocks it, or null; `balance` in ether. */
  readonly relay: { readonly trouble: string | null; readonly balance: number | null; readonly open: Outcomes } | null;
  /** Null if no follower has run; `lag` in blocks. */
  readonly follower: { readonly block: number; readonly lag: number; readonly silent_ms: number } | null;
}

/** A report in short: the numbers of failures and warnings, and the failed checks, each once. */
export interface DoctorView {
  readonly checked_at: string;
  readonly failures: number;
  readonly failing: readonly string[];
  readonly warnings: number;
}

/** Of the newest backup: when it was made, null if none is known. */
export interface BackupView {
  readonly made_at: string | null;
  readonly bytes: number | null;
  readonly place: string | null;
  /** It is old, or none is known of a vault that has registrations. */
  readonly due: boolean;
}

/** When a part outside last answered and last failed, and why. */
export interface CallTimes {
  readonly ok_at: string | null;
  readonly failed_at: string | null;
  readonly fault: string | null;
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'clocks' | 'db' | 'metrics'> & {
  readonly readiness: () => Promise<Readiness>;
  readonly relay: { blocker(): Promise<string | null> } | undefined;
  readonly doctor: { last(): Report | undefined };
};

/** The parts of a doctor's report that are read. */
interface Report {
  readonly checkedAt: string;
  readonly checks: readonly { readonly name: string; readonly state: string }[];
}

/** Reads the overview. Metrics are those of this process; relay and follower are those of all processes. */
export async function readOverview(ctx: Ctx, span: EventSpan, client: string): Promise<Overview> {
  const { state, relay, follower, backup } = await readState(ctx);
  const factories = [ctx.config.hyperauthFactoryAddress, ctx.config.accountFactory2Address];
  const families = new Map(ctx.metrics.read().map((family) => [family.name as MetricName, family]));
  const by = (name: MetricName, label: string) => sumBy(families.get(name), (labels) => labels[label]);
  const gauge = (name: MetricName, labels: Labels = {}) => gaugeOf(families.get(name), labels);
  return {
    at: isoTime(ctx.clock.now()),
    version: VERSION,
    client,
    live: ctx.config.nextPublicHyperauthEnableLive,
    apps: ['default', ...ctx.config.apps.filter((app) => app !== 'default')],
    account_kinds: factories.flatMap((factory, i) => (factory === null ? [] : [i + 1])),
    events: {
      types: Object.keys(EVENTS),
      channels: EVENT_CHANNELS,
      first_id: span.oldest,
      last_id: span.newest,
    },
    counters: {
      requests: sumBy(withoutConsole(families.get('vault_http_requests_total')), statusClass),
      sends: by('vault_codes_sent_total', 'outcome'),
      verifications: by('vault_codes_checked_total', 'outcome'),
      sessions: by('vault_sessions_total', 'outcome'),
      registrations: by('vault_registrations_total', 'outcome'),
    },
    latency: readLatency(withoutConsole(families.get('vault_http_request_duration_seconds'))),
    limits: by('vault_limits_reached_total', 'limit'),
    guessing: by('vault_guessing_total', 'channel'),
    upstreams: readUpstreams(families.get('vault_upstream_requests_total')),
    delivery: readDelivery(ctx.config, families.get('vault_messages_total')),
    calls: readCalls(ctx.metrics.calls.read()),
    configured: {
      registry: ctx.config.didRegistryAddress !== null,
      indexer: ctx.config.indexerUrl !== undefined,
      follower: ctx.config.follower,
      relay: ctx.config.registrarPrivateKey !== undefined,
      webhooks: ctx.config.webhookUrl !== undefined,
    },
    database: {
      state,
      queries: by('vault_db_queries_total', 'outcome'),
      connections: {
        used: gauge('vault_db_pool_connections', { state: 'used' }) ?? 0,
        max: gauge('vault_db_pool_connections_max') ?? 0,
        waiting: gauge('vault_db_pool_pending_requests') ?? 0,
      },
      log: readLog(gauge('vault_db_log_bytes'), gauge('vault_db_checkpoint_age_seconds')),
    },
    doctor: toDoctorView(ctx.doctor.last()),
    backup,
    clock: { off_ms: ctx.clocks.offMs() },
    relay: relay && {
      ...relay,
      balance: gauge('vault_relay_balance_ether', { signer: 'registrar' }) ?? null,
      open: sumBy(ofRegistrar(families.get('vault_relays')), ({ status }) => status),
    },
    follower,
  };
}

function readDelivery({ emailProvider, smsProvider }: Ctx['config'], family: Family | undefined): Overview['delivery'] {
  const of = (channel: 'email' | 'sms') =>
    sumBy(
      family && { ...family, samples: family.samples.filter(({ labels }) => labels['channel'] === channel) },
      (labels) => labels['outcome'],
    );
  return {
    email: { provider: emailProvider, messages: of('email') },
    sms: { provider: smsProvider, messages: of('sms') },
  };
}

function readCalls(calls: Readonly<Record<string, LastCall>>): Overview['calls'] {
  const time = (at: number | null) => (at === null ? null : isoTime(at));
  return Object.fromEntries(
    Object.entries(calls).map(([part, { okAt, failedAt, fault }]) => [
      part,
      { ok_at: time(okAt), failed_at: time(failedAt), fault },
    ]),
  );
}

/** The parts read from the database; without it they are null. */
async function readState(ctx: Ctx) {
  const { database: state } = await ctx.readiness();
  if (state !== 'writable') return { state, relay: null, follower: null, backup: null };
  const [follower, blocker, backup] = await Promise.all([
    readFollower(ctx),
    ctx.relay?.blocker(),
    readBackupState(ctx),
  ]);
  return {
    state,
    relay: ctx.relay ? { trouble: blocker ?? null } : null,
    follower: follower ? { block: follower.block, lag: follower.lag, silent_ms: follower.silentMs } : null,
    backup: toView(backup),
  };
}

function readLog(bytes: number | undefined, ageSeconds: number | undefined): Overview['database']['log'] {
  if (bytes === undefined) return null;
  return { bytes, checkpoint_age_ms: ageSeconds === undefined ? null : Math.round(ageSeconds * 1000) };
}

function toDoctorView(report: Report | undefined): DoctorView | null {
  if (!report) return null;
  const failing = report.checks.flatMap(({ name, state }) => (state === 'fail' ? [name] : []));
  const warnings = report.checks.filter(({ state }) => state === 'warn').length;
  return { checked_at: report.checkedAt, failures: failing.length, failing: [...new Set(failing)], warnings };
}

function toView({ last, isDue }: BackupState): BackupView {
  const made = last && { made_at: isoTime(last.madeAt), bytes: last.bytes, place: last.place };
  return { ...(made ?? { made_at: null, bytes: null, place: null }), due: isDue };
}

function gaugeOf(family: Family | undefined, wanted: Labels): number | undefined {
  const isIt = (labels: Labels) => Object.keys(wanted).every((name) => labels[name] === wanted[name]);
  return family?.samples.find(({ labels }) => isIt(labels))?.value;
}

/** The outbox of registrations, without the guardian's. */
function ofRegistrar(family: Family | undefined): Family | undefined {
  return family && { ...family, samples: family.samples.filter(({ labels }) => labels['signer'] === 'registrar') };
}

function readLatency(family: Family | undefined): Overview['latency'] {
  const counts = new Map<number, number>();
  for (const { buckets } of family?.samples ?? []) {
    for (const { le, count } of buckets ?? []) counts.set(le, (counts.get(le) ?? 0) + count);
  }
  return [...counts].map(([le, count]) => ({ le: Number.isFinite(le) ? le : null, count }));
}

function readUpstreams(family: Family | undefined): Overview['upstreams'] {
  const upstreams: Record<string, Record<string, number>> = {};
  for (const { labels, value } of family?.samples ?? []) {
    const { upstream = 'other', outcome = 'other' } = labels;
    upstreams[upstream] = { ...upstreams[upstream], [outcome]: (upstreams[upstream]?.[outcome] ?? 0) + value };
  }
  return upstreams;
}
