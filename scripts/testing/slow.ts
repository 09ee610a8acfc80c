/**
 * The files that take longest by themselves. They begin first, each in a process of its own: one that begins last
 * leaves a core idle at the end of a run. Those that mostly wait stand between those that compute: side by side they
 * leave the cores idle. `npm test -- --times` measures both.
 */
export const SLOW_FIRST: readonly string[] = [
  'tests/simulations/vault/plants.test.ts',
  'tests/races/webhooks.test.ts',
  'tests/journeys/accessible.test.ts',
  'tests/commands/backup/every.test.ts',
  'tests/journeys/lost-passkey.test.ts',
  'tests/soak/soak.test.ts',
  'tests/journeys/console.test.ts',
  'tests/commands/serve/slow-senders.test.ts',
  'tests/journeys/account-recovery.test.ts',
  'tests/commands/serve/readiness.test.ts',
  'tests/races/hostile-payments.test.ts',
  'tests/races/writer.test.ts',
  'tests/races/hostile-registrations-forged.test.ts',
  'tests/journeys/pay.test.ts',
  'tests/client/vault/register.test.ts',
  'tests/journeys/shop.test.ts',
  'tests/journeys/demo.test.ts',
  'tests/journeys/account-signals.test.ts',
  'tests/races/hostile-registrations.test.ts',
  'tests/journeys/sign-up-ways.test.ts',
  'tests/simulations/vault/simulate.test.ts',
  'tests/lib/bundler/sponsor-attacks.test.ts',
];
