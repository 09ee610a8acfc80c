/**
 * The files that take longest by themselves, the slowest first. They begin first, each in a process of its own: one
 * that begins last leaves a core idle at the end of a run. `npm test -- --times` measures them.
 */
export const SLOW_FIRST: readonly string[] = [
  'tests/simulations/vault/plants.test.ts',
  'tests/journeys/accessible.test.ts',
  'tests/journeys/lost-passkey.test.ts',
  'tests/journeys/console.test.ts',
  'tests/journeys/account-recovery.test.ts',
  'tests/races/hostile-payments.test.ts',
  'tests/races/hostile-registrations-forged.test.ts',
  'tests/races/writer.test.ts',
  'tests/races/webhooks.test.ts',
  'tests/journeys/pay.test.ts',
  'tests/journeys/shop.test.ts',
  'tests/journeys/demo.test.ts',
  'tests/journeys/account-signals.test.ts',
  'tests/races/hostile-registrations.test.ts',
  'tests/journeys/sign-up-ways.test.ts',
  'tests/simulations/vault/simulate.test.ts',
  'tests/lib/bundler/sponsor-attacks.test.ts',
  'tests/commands/backup/every.test.ts',
  'tests/client/vault/register.test.ts',
  'tests/commands/serve/slow-senders.test.ts',
  'tests/commands/serve/readiness.test.ts',
  'tests/soak/soak.test.ts',
];
