/** A panel: its queries by the legend of their series. */
export interface Panel {
  readonly title: string;
  readonly unit: 'reqps' | 's' | 'short' | 'percentunit' | 'bytes' | 'ops' | 'blocks' | 'bool';
  readonly queries: Readonly<Record<string, string>>;
}

const IN = 'job="$job",instance=~"$instance"';
const rate = (name: string, by: string, labels = '') =>
  `sum by (${by}) (rate(${name}{${IN}${labels}}[$__rate_interval]))`;
const quantile = (q: number, name: string, by = '') =>
  `histogram_quantile(${q}, sum by (le${by}) (rate(${name}_bucket{${IN}}[$__rate_interval])))`;

/** The panels, by the row that they are in. */
export const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  Overview: [
    { title: 'Up', unit: 'bool', queries: { '{{instance}}': `up{${IN}}` } },
    {
      title: 'Requests by status',
      unit: 'reqps',
      queries: { '{{status}}': rate('vault_http_requests_total', 'status') },
    },
    {
      title: 'Time of an answer',
      unit: 's',
      queries: {
        median: quantile(0.5, 'vault_http_request_duration_seconds'),
        '95 %': quantile(0.95, 'vault_http_request_duration_seconds'),
        '99 %': quantile(0.99, 'vault_http_request_duration_seconds'),
      },
    },
    {
      title: 'Slowest routes, 95 %',
      unit: 's',
      queries: { '{{route}}': `topk(5, ${quantile(0.95, 'vault_http_request_duration_seconds', ', route')})` },
    },
  ],
  'The main job': [
    {
      title: 'Codes sent',
      unit: 'ops',
      queries: { '{{channel}} {{outcome}}': rate('vault_codes_sent_total', 'channel, outcome') },
    },
    {
      title: 'Codes checked',
      unit: 'ops',
      queries: { '{{channel}} {{outcome}}': rate('vault_codes_checked_total', 'channel, outcome') },
    },
    {
      title: 'Sessions and registrations',
      unit: 'ops',
      queries: {
        'session {{outcome}}': rate('vault_sessions_total', 'outcome'),
        'registration {{outcome}}': rate('vault_registrations_total', 'outcome'),
      },
    },
    {
      title: 'Mail and SMS',
      unit: 'ops',
      queries: { '{{channel}} {{provider}} {{outcome}}': rate('vault_messages_total', 'channel, provider, outcome') },
    },
    {
      title: 'Time of a message, 95 %',
      unit: 's',
      queries: { '{{channel}}': quantile(0.95, 'vault_message_duration_seconds', ', channel') },
    },
    { title: 'Payments', unit: 'ops', queries: { '{{outcome}}': rate('vault_payments_total', 'outcome') } },
  ],
  Limits: [
    {
      title: 'Use of the daily budgets',
      unit: 'percentunit',
      queries: { '{{budget}}': `max by (budget) (vault_budget_used{${IN}} / (vault_budget_max{${IN}} > 0))` },
    },
    { title: 'Refused by a limit', unit: 'ops', queries: { '{{limit}}': rate('vault_limits_reached_total', 'limit') } },
    {
      title: 'Identifiers whose codes were guessed',
      unit: 'ops',
      queries: { '{{channel}}': rate('vault_guessing_total', 'channel') },
    },
  ],
  Database: [
    {
      title: 'Statements',
      unit: 'ops',
      queries: { '{{operation}} {{outcome}}': rate('vault_db_queries_total', 'operation, outcome') },
    },
    {
      title: 'Time of a statement, 95 %',
      unit: 's',
      queries: { '{{operation}}': quantile(0.95, 'vault_db_query_duration_seconds', ', operation') },
    },
    {
      title: 'Waiting for the database',
      unit: 'short',
      queries: {
        'waiting {{instance}}': `vault_db_pool_pending_requests{${IN}}`,
        'refused {{instance}}': rate('vault_db_pool_refused_total', 'instance'),
      },
    },
    { title: 'Write-ahead log', unit: 'bytes', queries: { '{{instance}}': `vault_db_log_bytes{${IN}}` } },
    {
      title: 'Age of the checkpoint and of the backup',
      unit: 's',
      queries: {
        'checkpoint {{instance}}': `vault_db_checkpoint_age_seconds{${IN}}`,
        backup: `time() - max(vault_backup_last_success_timestamp_seconds{${IN}} > 0)`,
      },
    },
  ],
  'The chain and other upstreams': [
    {
      title: 'Failed requests to upstreams',
      unit: 'ops',
      queries: {
        '{{upstream}} {{outcome}}': rate('vault_upstream_requests_total', 'upstream, outcome', ',outcome!="ok"'),
      },
    },
    {
      title: 'Time of an upstream, 95 %',
      unit: 's',
      queries: { '{{upstream}}': quantile(0.95, 'vault_upstream_duration_seconds', ', upstream') },
    },
    { title: 'Blocks not read', unit: 'blocks', queries: { lag: `max(vault_follower_lag_blocks{${IN}})` } },
    {
      title: 'Ether of the signers',
      unit: 'short',
      queries: { '{{signer}}': `max by (signer) (vault_relay_balance_ether{${IN}})` },
    },
    {
      title: 'Why the relay is blocked',
      unit: 'bool',
      queries: { '{{signer}} {{trouble}}': `max by (signer, trouble) (vault_relay_trouble{${IN}}) == 1` },
    },
    {
      title: 'Calls to the chain that are open',
      unit: 'short',
      queries: { '{{signer}} {{status}}': `max by (signer, status) (vault_relays{${IN}})` },
    },
  ],
  'Events and webhooks': [
    {
      title: 'Events and streams',
      unit: 'short',
      queries: { 'events a second': rate('vault_events_total', 'job'), 'streams {{instance}}': `vault_streams{${IN}}` },
    },
    { title: 'Webhooks', unit: 'ops', queries: { '{{outcome}}': rate('vault_webhook_deliveries_total', 'outcome') } },
    { title: 'The oldest webhook', unit: 's', queries: { age: `max(vault_webhook_oldest_seconds{${IN}})` } },
  ],
  'The process': [
    {
      title: 'Processor',
      unit: 'percentunit',
      queries: { '{{instance}}': rate('process_cpu_seconds_total', 'instance') },
    },
    { title: 'Memory', unit: 'bytes', queries: { '{{instance}}': `process_resident_memory_bytes{${IN}}` } },
    {
      title: 'File descriptors',
      unit: 'percentunit',
      queries: { '{{instance}}': `process_open_fds{${IN}} / process_max_fds{${IN}}` },
    },
    { title: 'Clock ahead of the database', unit: 's', queries: { '{{instance}}': `vault_clock_off_seconds{${IN}}` } },
  ],
};
