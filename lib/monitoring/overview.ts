import { isoTime } from '../base/clock.ts';
import type { MetricName } from '../base/metric-catalogue.ts';
import type { Family, Labels } from '../base/metrics.ts';
import { VERSION } from '../base/version.ts';
import { EVENT_CHANNELS, EVENTS, type EventSpan } from '../events/catalogue.ts';
import { readFollower } from '../indexer/queries.ts';
import type { Platform } from '../platform.ts';
import type { Readiness } from './health.ts';

/** Counts of one kind by what became of them. */
export type Outcomes = Readonly<Record<string, number>>;

/** What the console draws: counters since the process started, so that two readings make a rate, and how things are now. */
export interface Overview {
  readonly at: string;
  readonly version: string;
  /** Whether the console shows the stream (`NEXT_PUBLIC_HYPERAUTH_ENABLE_LIVE`). */
  readonly live: boolean;
  readonly apps: readonly string[];
  readonly events: {
    readonly types: readonly string[];
    readonly channels: readonly string[];
    /** Of the events kept; past `last_id` when all are gone. */
    readonly first_id: number;
    readonly last_id: number;
  };
  readonly counters: {
    /** By the status' class, such as `2xx`; the console's own are in neither these nor `latency`. */
    readonly requests: Outcomes;
    readonly sends: Outcomes;
    readonly verifications: Outcomes;
    readonly sessions: Outcomes;
    readonly registrations: Outcomes;
  };
  /** Answers within each bound, cumulative; `le` in seconds, null for no bound. */
  readonly latency: readonly { readonly le: number | null; readonly count: number }[];
  /** Refusals by limit. */
  readonly limits: Outcomes;
  readonly upstreams: Readonly<Record<string, Outcomes>>;
  readonly database: {
    readonly state: 'writable' | 'unavailable';
    readonly queries: Outcomes;
    readonly connections: { readonly used: number; readonly max: number; readonly waiting: number };
  };
  /** Null where nothing is relayed; `trouble` is null when nothing keeps it from getting on, `balance` in ether. */
  readonly relay: { readonly trouble: string | null; readonly balance: number | null; readonly open: Outcomes } | null;
  /** Null where no follower ever looked. */
  readonly follower: { readonly block: number; readonly lag: number; readonly silent_ms: number } | null;
}

type Services = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics'> & {
  readonly readiness: () => Promise<Readiness>;
  readonly relay: { trouble(): Promise<string | null> } | undefined;
};

/** Reads it all but the `span` of events. Metrics are this process's own, relay and follower any process's. */
export async function readOverview(vault: Services, span: EventSpan): Promise<Overview> {
  const { state, relay, follower } = await readState(vault);
  const families = new Map(vault.metrics.read().map((family) => [family.name as MetricName, family]));
  const by = (name: MetricName, label: string) => sumBy(families.get(name), (labels) => labels[label]);
  const gauge = (name: MetricName, labels: Labels = {}) => gaugeOf(families.get(name), labels);
  return {
    at: isoTime(vault.clock.now()),
    version: VERSION,
    live: vault.config.nextPublicHyperauthEnableLive,
    apps: ['default', ...vault.config.apps.filter((app) => app !== 'default')],
    events: {
      types: Object.keys(EVENTS),
      channels: EVENT_CHANNELS,
      first_id: span.oldest,
      last_id: span.newest,
    },
    counters: {
      requests: sumBy(withoutConsole(families.get('vault_http_requests_total')), ({ status }) => `${status?.[0]}xx`),
      sends: by('vault_codes_sent_total', 'outcome'),
      verifications: by('vault_codes_checked_total', 'outcome'),
      sessions: by('vault_sessions_total', 'outcome'),
      registrations: by('vault_registrations_total', 'outcome'),
    },
    latency: readLatency(withoutConsole(families.get('vault_http_request_duration_seconds'))),
    limits: by('vault_limits_reached_total', 'limit'),
    upstreams: readUpstreams(families.get('vault_upstream_requests_total')),
    database: {
      state,
      queries: by('vault_db_queries_total', 'outcome'),
      connections: {
        used: gauge('vault_db_pool_connections', { state: 'used' }) ?? 0,
        max: gauge('vault_db_pool_connections_max') ?? 0,
        waiting: gauge('vault_db_pool_pending_requests') ?? 0,
      },
    },
    relay: relay && {
      ...relay,
      balance: gauge('vault_relay_balance_ether') ?? null,
      open: by('vault_relays', 'status'),
    },
    follower,
  };
}

/** What has to be asked for; a database that is away hides relay and follower, not the rest. */
async function readState(vault: Services) {
  const { database: state } = await vault.readiness();
  if (state === 'unavailable') return { state, relay: null, follower: null };
  const [follower, trouble] = await Promise.all([readFollower(vault), vault.relay?.trouble()]);
  return {
    state,
    relay: vault.relay ? { trouble: trouble ?? null } : null,
    follower: follower ? { block: follower.block, lag: follower.lag, silent_ms: follower.silentMs } : null,
  };
}

function sumBy(family: Family | undefined, keyOf: (labels: Labels) => string | undefined): Outcomes {
  const sums: Record<string, number> = {};
  for (const { labels, value } of family?.samples ?? []) {
    const key = keyOf(labels) ?? 'other';
    sums[key] = (sums[key] ?? 0) + value;
  }
  return sums;
}

function gaugeOf(family: Family | undefined, wanted: Labels): number | undefined {
  const isIt = (labels: Labels) => Object.keys(wanted).every((name) => labels[name] === wanted[name]);
  return family?.samples.find(({ labels }) => isIt(labels))?.value;
}

/** The console asks all the time: what it costs tells nothing of those who are served. */
function withoutConsole(family: Family | undefined): Family | undefined {
  return (
    family && {
      ...family,
      samples: family.samples.filter(({ labels }) => !/^(?:\/v1)?\/console(?:\/|$)/.test(labels['route'] ?? '')),
    }
  );
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
