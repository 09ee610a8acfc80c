/** A metric family: its help text and the labels of its series. */
export interface Metric<Type extends MetricType = MetricType, Label extends string = string> {
  readonly type: Type;
  readonly help: string;
  readonly labels: readonly Label[];
  /** A histogram's, in seconds, ascending; without them `DURATION_BOUNDS_SECONDS`. */
  readonly bounds?: readonly number[];
}

/** What a family measures: a counter only grows, a gauge goes up and down, a histogram counts durations. */
export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Families by name. */
export type MetricCatalogue = Readonly<Record<string, Metric>>;

/** Every family of `/metrics`, by subject; its labels' values come from bounded sets. */
export const METRICS = {
  vault_http_requests_total: counter('HTTP requests answered.', 'route', 'method', 'status'),
  vault_http_request_duration_seconds: histogram('Time from request to answer.', 'route'),

  vault_db_queries_total: counter('Requests to the database engine.', 'operation', 'outcome'),
  vault_db_query_duration_seconds: histogram('Time the database engine took for a request.', 'operation'),
  vault_db_pool_acquire_wait_seconds: histogram('Time a request waited for a connection.'),
  vault_db_pool_connections: gauge('Connections by state.', 'state'),
  vault_db_pool_connections_max: gauge('Size of the connection pool.'),
  vault_db_pool_pending_requests: gauge('Requests that wait for a connection.'),
  vault_db_pool_refused_total: counter(
    'Requests refused because the queue for a connection was full, or the wait was over 10 seconds.',
  ),
  vault_db_writer: gauge('Where the embedded database is written: 1 for the kind in use.', 'kind'),
  vault_db_sync_seconds: gauge('Time until a page was on the disk, measured at the start.'),

  vault_codes_sent_total: counter('One-time codes sent.', 'channel', 'outcome'),
  vault_codes_checked_total: counter('One-time codes checked.', 'channel', 'outcome'),
  vault_guessing_total: counter('Identifiers whose codes needed a pass after too many wrong guesses.', 'channel'),
  vault_codes_lost_total: counter('Codes whose message no provider had accepted before a crash.'),
  vault_sessions_total: counter('Requests for a session by outcome.', 'outcome'),
  vault_registrations_total: counter('Registrations by outcome.', 'outcome'),
  vault_authorization_codes_total: counter('Authorization codes of apps by outcome.', 'outcome'),
  vault_budget_used: gauge('Use of the daily budgets of the whole vault.', 'budget'),
  vault_budget_max: gauge('Size of the daily budgets of the whole vault.', 'budget'),
  vault_limits_reached_total: counter('Requests refused by a limit.', 'limit'),

  vault_messages_total: counter('Messages with one-time codes by outcome.', 'channel', 'provider', 'outcome'),
  vault_message_duration_seconds: histogram('Time until a provider accepted or failed a message.', 'channel'),

  vault_upstream_requests_total: counter('Requests to upstreams by outcome.', 'upstream', 'outcome'),
  vault_upstream_duration_seconds: histogram('Duration of requests to upstreams.', 'upstream'),
  vault_node_contradictions_total: counter('Answers of the node that cannot be so.', 'about'),
  vault_nodes_disagree_total: counter('Judgements put off because the two nodes of the chain disagree.', 'about'),

  vault_relay_balance_ether: gauge('The ether of the account that signs.', 'signer'),
  vault_relay_trouble: gauge('Conditions that block relaying: 1 while the condition holds.', 'signer', 'trouble'),
  vault_relays: gauge('Calls in the outbox that are not settled yet.', 'signer', 'status'),
  vault_relay_oldest_seconds: gauge('Age of the oldest call in the outbox that is not mined.', 'signer'),
  vault_relay_broadcasts_total: counter('Transactions handed to the node.', 'signer', 'kind', 'outcome'),
  vault_relay_foreign_nonces_total: counter('Nonces of the signer that others used.', 'signer'),
  vault_relay_fills_total: counter('Empty transactions for nonces that no call has.', 'signer'),
  vault_relay_nonces_taken_back_total: counter(
    'Nonces that the chain never reached, and that are used again.',
    'signer',
  ),

  vault_payments_total: counter('Payments that went through the bundler, by what became of them.', 'outcome'),

  vault_recoveries: gauge('Recoveries of accounts that may still end.', 'status', 'foreign'),
  vault_recoveries_total: counter('Recoveries of accounts by what became of them.', 'outcome'),
  vault_recoveries_foreign_total: counter("Recoveries that another copy of the guardian's key proposed."),
  vault_recovery_notices_total: counter('Mails about recoveries by outcome.', 'outcome'),

  vault_clock_off_seconds: gauge("How far the clock is ahead of the other processes'; 0 unless it is off."),

  vault_follower_block: gauge('The last block whose events were read.'),
  vault_follower_lag_blocks: gauge('Blocks of the chain that are not read yet.'),
  vault_follower_events_total: counter('Events read from the chain.'),
  vault_key_looks_total: counter('Looks at the keys of an account that may have several.', 'outcome'),
  vault_follower_reorgs_total: counter('Re-orgs that removed blocks already read.'),

  vault_events_total: counter('Events written.'),
  vault_streams: gauge('Event streams that are open.'),
  vault_stream_rewinds_total: counter('Streams told to rewind because they missed events.'),
  vault_streams_superseded_total: counter('Streams ended by a newer one of their token.'),

  vault_webhook_deliveries_total: counter('Attempts to deliver webhooks by outcome.', 'outcome'),
  vault_webhook_queue: gauge('Webhooks that are not delivered yet.'),
  vault_webhook_oldest_seconds: gauge('Age of the oldest webhook that is not delivered yet.'),

  vault_build_info: gauge('The release that runs.', 'version'),
  process_cpu_seconds_total: counter('Processor time used, in seconds.'),
  process_resident_memory_bytes: gauge('Memory in use, in bytes.'),
  process_start_time_seconds: gauge('Start of the process since the Unix epoch.'),
  process_open_fds: gauge('Open file descriptors.'),
  process_max_fds: gauge('File descriptors that may be open.'),
};

/** The name of a family. */
export type MetricName = keyof typeof METRICS;

function counter<Label extends string = never>(help: string, ...labels: Label[]): Metric<'counter', Label> {
  return { type: 'counter', help, labels };
}

function gauge<Label extends string = never>(help: string, ...labels: Label[]): Metric<'gauge', Label> {
  return { type: 'gauge', help, labels };
}

function histogram<Label extends string = never>(help: string, ...labels: Label[]): Metric<'histogram', Label> {
  return { type: 'histogram', help, labels };
}
