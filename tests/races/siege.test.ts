import { expect, test } from 'bun:test';
import { isLong } from '../support/long.ts';
import { SEED } from '../support/seed.ts';
import { besiege } from '../support/siege.ts';
import { phish } from '../support/siege-phisher.ts';

// npm run race:siege prints a day of 1,000 people against one /48 and 20 addresses, and against 10,000 addresses, and
// what a phisher gets of 60 people.

/** The sends of one /48 that is let through are far fewer than its networks, so that more of them show no more. */
const NETWORKS = 400;

test('a day of one /48 and 20 IPv4 addresses refuses no honest person a code', async () => {
  const honest = isLong ? 1_000 : 60;
  const result = await besiege({ ipv4: 20, networks: isLong ? NETWORKS : 40, honest, seed: SEED });
  if (isLong) console.log(JSON.stringify(result));
  expect(result.honest).toMatchObject({ refused: 0, verified: honest });
  expect(result.honest.neededPass).toBeGreaterThan(0);
});

test('a phisher with one code of each person gets at once what has no passkey, and after 72 hours what nobody renews', async () => {
  const count = isLong ? 60 : 9;
  const result = await phish(count, SEED);
  if (isLong) console.log(JSON.stringify(result));
  const each = count / 3;
  const { 'no passkey': bare, renews, ignores } = result;
  expect(bare).toEqual({ people: each, takenAt: Array(each).fill(0), stoppedAt: [] });
  expect([renews.people, renews.takenAt, renews.stoppedAt.length]).toEqual([each, [], each]);
  expect([ignores.people, ignores.takenAt.length, ignores.stoppedAt]).toEqual([each, each, []]);
  for (const hour of ignores.takenAt) expect(hour).toBeWithin(72, 75);
});

if (isLong) {
  test('a day of 10,000 IPv4 addresses: what is refused, and what is guessed', async () => {
    const result = await besiege({ ipv4: 10_000, networks: 0, honest: 1_000, seed: SEED });
    console.log(JSON.stringify(result));
    // Each honest person is either in or was refused a mail: no code that arrived failed to verify.
    expect(result.honest.verified + result.honest.refused).toBe(1_000);
  });
}
