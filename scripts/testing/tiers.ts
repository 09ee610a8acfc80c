/** Folders whose tests wait for browsers, chains and killed programs, and files beside them: most of all the time. */
const LONG = [
  ...['tests/journeys/', 'tests/races/', 'tests/runtimes/', 'tests/simulations/vault/'],
  ...['tests/soak/', 'tests/torture/'],
  // scripts/contracts is red in the usual run once a source differs from the committed code.
  'tests/contracts/',
  // A thief of a whole day; bundler/sponsor-day and sponsored-calls have the same limits at their edges.
  'tests/lib/bundler/sponsor-attacks.test.ts',
  // Thirty hours of sign-ins at two vaults; routes/token and signing/signing-keys have the same rules at one.
  'tests/routes/openid-vaults.test.ts',
  // Every example of docs/http.md by curl, at a vault with all there is; tests/routes has the routes.
  'tests/examples.test.ts',
  // Other people's programs judge what is packed; the other tests of packaging read it.
  'tests/packaging/alerts.test.ts',
  'tests/packaging/debian.test.ts',
  // Copies beside a writer, killed, for days; the tests beside it have a copy, its places, its retention.
  'tests/commands/backup/every.test.ts',
  // Hundreds of orders each; routes, lib/person, lib/moves and lib/relay have the rules one step after the other.
  'tests/orders/',
];

/**
 * The long tests that run each time: the contracts' interface, the main flow on both databases, a journey of each page
 * in a browser, a short torture.
 */
export const USUAL_OF_LONG: readonly string[] = [
  'tests/contracts/interface.test.ts',
  'tests/journeys/main.test.ts',
  'tests/journeys/account.test.ts',
  'tests/journeys/console-lists.test.ts',
  'tests/journeys/documented-shop.test.ts',
  'tests/journeys/landing.test.ts',
  'tests/journeys/sign-up.test.ts',
  'tests/torture/torture.test.ts',
];

/** Which tests a run without an area has: the usual ones, all, or the long ones that the usual run leaves out. */
export type Tier = 'usual' | 'all' | 'rest';

/** The files of a tier. `usual` and `rest` are together `all`, and have no file in common. */
export function filesOfTier(tier: Tier, files: readonly string[]): readonly string[] {
  if (tier === 'all') return files;
  return files.filter((file) => isRest(file) === (tier === 'rest'));
}

function isRest(file: string): boolean {
  return LONG.some((folder) => file.startsWith(folder)) && !USUAL_OF_LONG.includes(file);
}
