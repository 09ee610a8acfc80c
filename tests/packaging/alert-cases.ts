/**
 * Series of a test of promtool: what Prometheus scraped once a minute. A counter is there from its first event on, or
 * from the start if a fresh vault says 0 (`asScraped`).
 */
export type Series = Readonly<Record<string, string>>;

/** By alert, the series that make it fire within an hour, and the alerts that these cause as well. */
export interface AlertCase {
  readonly series: Series;
  readonly with?: readonly string[];
}

/** A series of the one vault that is scraped. */
export const at = (name: string, labels = '') =>
  `${name}{job="vault",instance="a"${labels === '' ? '' : `,${labels}`}}`;
/** Nothing for forty minutes, then the first. */
const FIRST = '0+0x39 1+0x50';
/** Grows by so much a minute, from zero, for as long as a case runs. */
const by = (step: number) => `0+${step}x90`;
const always = (value: number) => `${value}+0x90`;
const messages = (channel: string, outcome: string) =>
  at('vault_messages_total', `channel="${channel}",provider="p",outcome="${outcome}"`);
const upstream = (name: string, outcome: string) =>
  at('vault_upstream_requests_total', `upstream="${name}",outcome="${outcome}"`);
const request = (status: number) =>
  at('vault_http_requests_total', `route="/api/status",method="GET",status="${status}"`);
/** A histogram in which all were slower than its last bound, or faster than its first. */
const histogram = (name: string, label: string, bound: string, isSlow: boolean): Series => ({
  [at(`${name}_bucket`, `${label},le="${bound}"`)]: by(isSlow ? 0 : 50),
  [at(`${name}_bucket`, `${label},le="10"`)]: by(50),
  [at(`${name}_bucket`, `${label},le="+Inf"`)]: by(50),
  [at(`${name}_count`, label)]: by(50),
});
const trouble = (name: string): Series => ({
  [at('vault_relay_trouble', `signer="registrar",trouble="${name}"`)]: always(1),
});

/** A vault that has all its parts, much to do, and no trouble: a few failures are usual. */
export const HEALTHY: Series = {
  [at('up')]: always(1),
  [at('process_start_time_seconds')]: always(1_000),
  [at('process_open_fds')]: always(100),
  [at('process_max_fds')]: always(65_536),
  [at('vault_clock_off_seconds')]: always(0),
  [request(200)]: by(1_000),
  [request(500)]: by(1),
  [at('vault_db_queries_total', 'operation="select",outcome="ok"')]: by(2_000),
  [at('vault_db_queries_total', 'operation="select",outcome="error"')]: '0+0x30 1+0x60',
  ...histogram('vault_http_request_duration_seconds', 'route="/api/status"', '0.1', false),
  ...histogram('vault_db_query_duration_seconds', 'operation="select"', '0.1', false),
  [at('vault_db_log_bytes')]: always(4_000_000),
  [at('vault_db_checkpoint_age_seconds')]: always(59),
  [at('vault_backup_last_success_timestamp_seconds')]: always(-125_000),
  [messages('email', 'accepted')]: by(20),
  [messages('email', 'failed')]: by(1),
  [messages('sms', 'accepted')]: by(20),
  [messages('sms', 'failed')]: by(1),
  [at('vault_codes_lost_total')]: '0+0x30 2+0x60',
  [at('vault_budget_used', 'budget="emails-per-day"')]: always(10),
  [at('vault_budget_max', 'budget="emails-per-day"')]: always(20_000),
  [at('vault_budget_used', 'budget="sms-per-day"')]: always(0),
  [at('vault_budget_max', 'budget="sms-per-day"')]: always(0),
  [at('vault_limits_reached_total', 'limit="reads-per-ip"')]: by(2),
  [at('vault_codes_checked_total', 'channel="email",outcome="verified"')]: by(20),
  [at('vault_codes_checked_total', 'channel="email",outcome="incorrect"')]: by(4),
  [upstream('rpc', 'ok')]: by(60),
  [upstream('rpc', 'timeout')]: by(1),
  [upstream('rpc_witness', 'ok')]: by(60),
  [at('vault_nodes_disagree_total', 'about="registration"')]: '0+0x30 1+0x60',
  [at('vault_follower_lag_blocks')]: always(2),
  [at('vault_relay_trouble', 'signer="registrar",trouble="low_balance"')]: always(0),
  [at('vault_relay_trouble', 'signer="registrar",trouble="unfunded"')]: always(0),
  [at('vault_relay_oldest_seconds', 'signer="registrar"')]: always(20),
  [at('vault_payments_total', 'outcome="settled"')]: by(5),
  [at('vault_guardian_watch_failing_seconds', 'look="scan"')]: always(0),
  [at('vault_guardian_given_up_total')]: always(0),
  [at('vault_guardian_gas_full_total', 'budget="vault"')]: always(0),
  [at('vault_recovery_notices_total', 'outcome="failed"')]: '0+0x30 3+0x60',
  [at('vault_webhook_oldest_seconds')]: always(30),
  [at('vault_webhook_deliveries_total', 'outcome="failed"')]: by(1),
};

/** The samples of a counter that a fresh vault leaves out until it counts: those before are none. */
export function asScraped(values: string): string {
  const numbers = values.split(' ').flatMap((span) => {
    const [, first, step, times] = /^(\d+)\+(\d+)x(\d+)$/.exec(span) ?? [];
    return Array.from({ length: Number(times) + 1 }, (_, i) => Number(first) + i * Number(step));
  });
  return numbers.map((one) => (one === 0 ? '_' : one)).join(' ');
}

/** A Prometheus that scrapes no vault. */
export const NO_TARGET: Series = { ...HEALTHY, [at('up')]: '_x90' };

/** A vault with registrations that nobody backs up, for a day and more. */
export const WITHOUT_BACKUP: Series = {
  [at('up')]: '1+0x1500',
  [at('vault_backup_last_success_timestamp_seconds')]: '0+0x1500',
};

/** What changes in the healthy vault, by the alert that it fires. */
export const CASES: Readonly<Record<string, AlertCase>> = {
  VaultDown: { series: { [at('up')]: '1+0x50 0+0x39' } },
  VaultRestarts: { series: { [at('process_start_time_seconds')]: by(60) } },
  VaultErrors: { series: { [request(500)]: by(40) } },
  VaultSlow: { series: histogram('vault_http_request_duration_seconds', 'route="/api/status"', '0.1', true) },
  VaultFilesRunOut: { series: { [at('process_open_fds')]: always(60_000) } },
  VaultClockOff: { series: { [at('vault_clock_off_seconds')]: always(-90) } },
  VaultDatabaseFails: {
    series: { [at('vault_db_queries_total', 'operation="select",outcome="error"')]: by(5) },
  },
  VaultDatabaseDamaged: { series: { [at('vault_db_damaged')]: '0+0x30 1+0x60' } },
  VaultDatabaseSlow: { series: histogram('vault_db_query_duration_seconds', 'operation="select"', '0.1', true) },
  VaultDatabaseFull: { series: { [at('vault_db_pool_refused_total')]: by(1) } },
  VaultDatabaseLogGrows: { series: { [at('vault_db_checkpoint_age_seconds')]: by(60) } },
  VaultBackupOld: { series: { [at('vault_backup_last_success_timestamp_seconds')]: always(-129_600) } },
  VaultMailFails: { series: { [messages('email', 'failed')]: by(10) } },
  VaultSmsFails: { series: { [messages('sms', 'accepted')]: by(0), [messages('sms', 'failed')]: by(1) } },
  VaultCodesLost: { series: { [at('vault_codes_lost_total')]: by(1) } },
  VaultBudgetNearlyUsed: { series: { [at('vault_budget_used', 'budget="emails-per-day"')]: always(17_000) } },
  VaultBudgetUsedUp: {
    series: { [at('vault_budget_used', 'budget="emails-per-day"')]: always(20_000) },
    with: ['VaultBudgetNearlyUsed'],
  },
  VaultLimitsRefuse: { series: { [at('vault_limits_reached_total', 'limit="reads-per-ip"')]: by(30) } },
  VaultGuessing: { series: { [at('vault_guessing_total', 'channel="email"')]: FIRST } },
  VaultGuessingWidely: {
    series: { [at('vault_codes_checked_total', 'channel="email",outcome="incorrect"')]: by(90) },
  },
  VaultUpstreamFails: { series: { [upstream('rpc', 'ok')]: always(9), [upstream('rpc', 'timeout')]: by(60) } },
  VaultWitnessSilent: { series: { [upstream('rpc_witness', 'timeout')]: by(60) } },
  VaultNodesDisagree: { series: { [at('vault_nodes_disagree_total', 'about="registration"')]: by(1) } },
  VaultNodeContradicts: {
    series: { [at('vault_node_contradictions_total', 'about="prediction"')]: FIRST },
  },
  VaultFollowerBehind: { series: { [at('vault_follower_lag_blocks')]: by(10) } },
  VaultRelayBalanceLow: { series: trouble('low_balance') },
  VaultRelayBlocked: { series: trouble('unfunded') },
  VaultRelayLate: { series: { [at('vault_relay_oldest_seconds', 'signer="registrar"')]: by(60) } },
  VaultKeyUsedElsewhere: {
    series: { [at('vault_relay_foreign_nonces_total', 'signer="registrar"')]: FIRST },
  },
  VaultPaymentsLost: { series: { [at('vault_payments_total', 'outcome="lost"')]: FIRST } },
  VaultRecoveryForeign: { series: { [at('vault_recoveries_foreign_total')]: FIRST } },
  VaultGuardianWatchFails: {
    series: { [at('vault_guardian_watch_failing_seconds', 'look="scan"')]: by(90) },
  },
  VaultGuardianGivesUp: { series: { [at('vault_guardian_given_up_total')]: FIRST } },
  VaultGuardianGasUsed: { series: { [at('vault_guardian_gas_full_total', 'budget="account"')]: FIRST } },
  VaultRecoveryNoticesFail: { series: { [at('vault_recovery_notices_total', 'outcome="failed"')]: by(1) } },
  VaultClaimUntold: { series: { [at('vault_challenge_notices_total', 'outcome="nobody"')]: FIRST } },
  VaultWebhooksLate: { series: { [at('vault_webhook_oldest_seconds')]: by(120) } },
  VaultWebhooksDead: { series: { [at('vault_webhook_deliveries_total', 'outcome="dead"')]: FIRST } },
};
