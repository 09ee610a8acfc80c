/** A metric family: its help text and the labels of its series. */
export interface Metric<Type extends MetricType = MetricType, Label extends string = string> {
  readonly type: Type;
  readonly help: string;
  readonly labels: readonly Label[];
  /** All values of the labels that have a closed set of them. */
  readonly values?: LabelValues;
  /** A histogram's, in seconds, ascending; without them `DURATION_BOUNDS_SECONDS`. */
  readonly bounds?: readonly number[];
}

/** The type of a metric: a counter only grows, a gauge goes up and down, a histogram counts durations. */
export type MetricType = 'counter' | 'gauge' | 'histogram';

/** The values that labels have. */
export type LabelValues = Readonly<Record<string, readonly string[]>>;

/** Families by name. */
export type MetricCatalogue = Readonly<Record<string, Metric>>;

const CODE_CHANNELS = ['email', 'sms'] as const;
const SIGNERS = ['registrar', 'guardian'] as const;

/** Every family of `/metrics`, by subject; its labels' values come from bounded sets. */
export const METRICS = {
  vault_http_requests_total: counter('HTTP requests answered.', 'route', 'method', 'status'),
  vault_refusals_total: counter('Requests answered with an error, by its word.', 'route', 'error'),
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
  vault_db_damaged: gauge('Whether the database was found damaged: 1 until the process ends.'),
  vault_db_log_bytes: gauge("Size of the embedded database's write-ahead log."),
  vault_db_checkpoint_age_seconds: gauge('Time since all of the write-ahead log was in the file.'),
  vault_backup_last_success_timestamp_seconds: gauge(
    'Time of the newest known backup since the Unix epoch; 0 where none is known of a vault with registrations.',
  ),

  vault_codes_sent_total: closed('One-time codes sent.', { channel: CODE_CHANNELS, outcome: ['accepted', 'refused'] }),
  vault_codes_checked_total: closed('One-time codes checked.', {
    channel: CODE_CHANNELS,
    outcome: ['verified', 'incorrect', 'expired', 'exhausted', 'none'],
  }),
  vault_email_tokens_total: closed('Email tokens checked.', {
    outcome: ['verified', 'form', 'email', 'time', 'audience', 'nonce', 'holder', 'issuer'],
  }),
  vault_guessing_total: closed('Identifiers whose codes needed a pass after too many wrong guesses.', {
    channel: CODE_CHANNELS,
  }),
  vault_codes_lost_total: counter('Codes whose message no provider had accepted before a crash.'),
  vault_sessions_total: closed('Requests for a session by outcome.', {
    outcome: [
      'opened',
      'identifier_reserved',
      'identifier_taken',
      'ip_limit_reached',
      'mail_domain_refused',
      'registration_closed',
      'invite_required',
      'invite_invalid',
    ],
  }),
  vault_registrations_total: closed('Registrations by outcome.', { outcome: ['submitted', 'confirmed', 'failed'] }),
  vault_did_resolutions_total: closed('Resolutions of DIDs by method and outcome.', {
    method: ['pkh', 'hyper', 'web', 'other'],
    outcome: [
      'resolved',
      'deactivated',
      'invalid_did',
      'invalid_options',
      'not_found',
      'representation_not_supported',
      'internal_error',
      'method_not_supported',
      'feature_not_supported',
    ],
  }),
  vault_credentials_total: closed('Credentials of proven addresses by outcome.', {
    outcome: ['issued', 'not_verified', 'proof_invalid', 'not_found', 'identifier_taken', 'rate_limited', 'failed'],
  }),
  vault_authorization_codes_total: perClient('Authorization codes of apps by outcome.', {
    outcome: ['issued', 'exchanged', 'refused'],
  }),
  vault_token_requests_total: closed('Exchanges at /token by outcome.', {
    outcome: [
      'answered',
      'invalid_request',
      'invalid_client',
      'unsupported_grant_type',
      'invalid_grant',
      'invalid_target',
      'failed',
    ],
  }),
  vault_authorize_refused_total: closed('Authorization requests that were refused, by reason.', {
    reason: [
      'query',
      'client_id_missing',
      'client_id_twice',
      'client_unknown',
      'client_document',
      'redirect_uri_missing',
      'redirect_uri_twice',
      'redirect_uri_unknown',
      'invalid_request',
      'invalid_target',
      'invalid_scope',
      'unsupported_response_type',
      'request_not_supported',
      'request_uri_not_supported',
      'registration_not_supported',
      'login_required',
    ],
  }),
  vault_client_refusals_total: counter(
    'Sign-ins that were refused, by app, by where, and why.',
    'client',
    'stage',
    'reason',
  ),
  vault_signing_key_age_seconds: gauge('How long the key has signed: RS256 of ID tokens, ES256 of credentials.', 'alg'),
  vault_budget_used: gauge('Use of the daily budgets of the whole vault.', 'budget'),
  vault_budget_max: gauge('Size of the daily budgets of the whole vault.', 'budget'),
  vault_limits_reached_total: counter('Requests refused by a limit.', 'limit'),

  vault_messages_total: counter('Messages with one-time codes by outcome.', 'channel', 'provider', 'outcome'),
  vault_message_duration_seconds: histogram('Time until a provider accepted or failed a message.', 'channel'),

  vault_upstream_requests_total: counter('Requests to upstreams by outcome.', 'upstream', 'outcome'),
  vault_upstream_duration_seconds: histogram('Duration of requests to upstreams.', 'upstream'),
  vault_node_contradictions_total: closed('Impossible answers of the node about known contracts.', {
    about: ['decimals', 'factory', 'prediction'],
  }),
  vault_nodes_disagree_total: closed('Judgements put off because the two nodes of the chain disagree.', {
    about: ['account', 'chain', 'decimals', 'factory', 'nonce', 'payment', 'registration'],
  }),

  vault_relay_balance_ether: gauge('The ether of the account that signs.', 'signer'),
  vault_relay_trouble: gauge('Conditions that block relaying: 1 while the condition holds.', 'signer', 'trouble'),
  vault_relays: gauge('Calls in the outbox that are not settled yet.', 'signer', 'status'),
  vault_relay_oldest_seconds: gauge('Age of the oldest call in the outbox that is not mined.', 'signer'),
  vault_relay_broadcasts_total: closed('Transactions handed to the node.', {
    signer: SIGNERS,
    kind: ['call', 'noop'],
    outcome: ['accepted', 'not_accepted'],
  }),
  vault_relay_foreign_nonces_total: closed('Nonces of the signer that others used.', { signer: SIGNERS }),
  vault_relay_fills_total: closed('Empty transactions for nonces that no call has.', { signer: SIGNERS }),
  vault_relay_nonces_taken_back_total: closed('Nonces that the chain never reached, and that are used again.', {
    signer: SIGNERS,
  }),

  vault_payments_total: closed('Payments that went through the bundler, by outcome.', {
    outcome: ['settled', 'spent', 'ended', 'lost', 'dropped'],
  }),

  vault_recoveries: gauge('Recoveries of accounts that may still end.', 'status', 'foreign'),
  vault_recoveries_total: closed('Recoveries of accounts by outcome.', {
    outcome: ['requested', 'queued', 'proposed', 'finished', 'vetoed', 'cancelled', 'lapsed', 'failed'],
  }),
  vault_recoveries_foreign_total: counter("Recoveries that another copy of the guardian's key proposed."),
  vault_guardian_watch_failing_seconds: gauge(
    "For how long a look of the watch over the guardian's key has failed; 0 while it works.",
    'look',
  ),
  vault_guardian_given_up_total: counter('Recoveries whose call the guardian gave up after six tries.'),
  vault_guardian_gas_full_total: closed("Looks at a recovery whose call waits for the day's gas.", {
    budget: ['account', 'vault'],
  }),
  vault_recovery_notices_total: closed('Mails about recoveries by outcome.', { outcome: ['sent', 'nobody', 'failed'] }),

  vault_passkey_notices_total: closed('Mails about passkeys that are new to an account by outcome.', {
    outcome: ['sent', 'nobody', 'failed'],
  }),

  vault_challenge_notices_total: closed(
    "Notices of another DID's claim to an address, and claims that nobody heard of.",
    {
      outcome: ['sent', 'failed', 'nobody'],
    },
  ),

  vault_clock_off_seconds: gauge("How far the clock is ahead of the database's; 0 unless by more than a minute."),

  vault_follower_block: gauge('The last block whose events were read.'),
  vault_follower_lag_blocks: gauge('Blocks of the chain that are not read yet.'),
  vault_follower_events_total: counter('Events read from the chain.'),
  vault_key_looks_total: closed("Looks at an account's keys, DIDs and aliases.", {
    outcome: ['same', 'added', 'removed', 'changed'],
  }),
  vault_follower_reorgs_total: counter('Re-orgs that removed blocks already read.'),

  vault_events_total: counter('Events written.'),
  vault_streams: gauge('Event streams that are open.'),
  vault_stream_rewinds_total: counter('Streams told to rewind because they missed events.'),
  vault_streams_superseded_total: counter('Streams ended by a newer one of their token.'),

  vault_webhook_deliveries_total: closed('Attempts to deliver webhooks by outcome.', {
    outcome: ['delivered', 'failed', 'dead'],
  }),
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

/** A counter whose series are all known: each is there from the start, as 0. */
function closed<const Values extends LabelValues>(help: string, values: Values) {
  return { type: 'counter', help, labels: Object.keys(values) as (keyof Values & string)[], values } as const;
}

/** A counter of each app of `CLIENTS`, which are known at the start, beside labels whose values are all known. */
function perClient<const Values extends LabelValues>(help: string, values: Values) {
  return {
    type: 'counter',
    help,
    labels: ['client', ...(Object.keys(values) as (keyof Values & string)[])],
    values,
  } as const;
}

function gauge<Label extends string = never>(help: string, ...labels: Label[]): Metric<'gauge', Label> {
  return { type: 'gauge', help, labels };
}

function histogram<Label extends string = never>(help: string, ...labels: Label[]): Metric<'histogram', Label> {
  return { type: 'histogram', help, labels };
}
