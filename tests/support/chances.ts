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
  'commands/serve/rest': 1,
  'commands/serve/serve': 1,
  'commands/storage/durable': 1,
  'journeys/console-process': 1,
  'journeys/start': 1,
  'lib/db/read-batches': 1,
  'races/compared-clocks': 1,
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
