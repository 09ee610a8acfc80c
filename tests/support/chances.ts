// Where tests still break the rule of CONTRIBUTING on chance, by their paths, and how often. `tests/architecture.test.ts`
// holds them to it: no file may join, and who makes a number smaller writes the smaller one here.

/** `Bun.sleep` of 10 ms and more. Wait by `until` for what is asserted; a pause within a loop of one's own counts too. */
export const SLEEPS: Readonly<Record<string, number>> = {
  'bench/frame/load': 1,
  'client/vault/register-code': 1,
  'commands/backup/every': 1,
  'commands/backup/restore': 1,
  'commands/mail/smtp': 1,
  'commands/serve/readiness': 1,
  'commands/serve/serve': 1,
  'commands/storage/durable': 1,
  'lib/db/read-batches': 1,
  'races/follower': 1,
  'races/libsql-faults': 1,
  'races/litestream': 2,
  'races/recovery': 2,
  'races/relay': 2,
  'races/webhooks': 1,
  'scripts/dev-stack/bundler': 1,
  'scripts/dev-stack/shop-receipts': 1,
  'scripts/restarting': 2,
  'scripts/testing/test-files': 1,
  'scripts/timeout': 2,
  'support/program': 1,
};

/**
 * Tests that take longer than 20 s on a machine that does nothing else, or whose orders compute without a pause, and how
 * many times as long they may take. No other test, and none of these, says a limit of its own.
 */
export const LONGER: Readonly<Record<string, number>> = {
  'commands/mistakes': 2,
  'journeys/account-recovery': 2,
  'journeys/console': 2,
  'journeys/demo': 4,
  'journeys/lost-passkey': 4,
  'journeys/published-clients': 4,
  'journeys/start': 4,
  'lib/registration/evidence-service': 2,
  'orders/joins': 4,
  'orders/relays': 4,
  'races/disk': 4,
  'races/follower': 4,
  'races/freshness': 4,
  'races/hostile-payments': 9,
  'races/hostile-registrations': 9,
  'races/hostile-registrations-forged': 9,
  'races/libsql-faults': 4,
  'races/libsql-reads': 4,
  'races/litestream': 4,
  'races/payments': 4,
  'races/recovery': 9,
  'races/relay': 9,
  'races/siege': 4,
  'races/webhooks': 4,
  'races/writer': 4,
  'runtimes/enclave': 4,
  'scripts/release/reproducible': 4,
  'simulations/vault/plants': 4,
  'simulations/vault/simulate': 4,
  'torture/torture': 6,
};
