import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { PLANS } from '../support/hostile/bundler-faults.ts';
import { type PaymentRace, racePayments } from '../support/hostile/payment-race.ts';
import { isLong } from '../support/long.ts';
import { SEED } from '../support/seed.ts';

/** `SEED=… npm test -- hostile-payments` draws the same again. */
const COUNT = isLong ? 400 : 40;

const WORLDS = [
  { name: 'a node that fails by a seed', isLying: false },
  { name: 'a node that lies, beside an honest one that fails', isLying: true },
];

const races = new Map<string, PaymentRace>();
beforeAll(async () => {
  for (const { name, isLying } of WORLDS) {
    const race = await racePayments({ seed: SEED, count: COUNT, isLying });
    races.set(name, race);
    console.log(`SEED=${SEED} ${name}: ${race.paid} paid, ${JSON.stringify(race.tally)}`);
  }
});
afterAll(() => races.clear());

/** Those of a node in which nobody sends a transaction, and of a bundler. */
const FAULTS = {
  node: ['behind', 'error', 'few-logs', 'late', 'lost', 'no-block', 'no-code', 'no-receipt', 'other-receipt'],
  bundler: [...PLANS.map(({ name }) => name), 'estimate', 'receipt'],
};

test.each(['node', 'bundler'] as const)('each way in which a %s fails came about', (who) => {
  const came = new Set([...races.values()].flatMap(({ tally }) => Object.keys(tally[who])));
  expect(FAULTS[who].filter((name) => !came.has(name))).toEqual([]);
});

describe.each(WORLDS)(`${COUNT} payments over $name and a bundler that lies (SEED=${SEED})`, ({ name }) => {
  const race = () => races.get(name) as PaymentRace;

  test('none is "paid" without a transfer', () => expect(race().untruePaid).toEqual([]));

  test('of none is said that nothing was paid, to the person or the shop, and it was', () =>
    expect(race().untrueNothing).toEqual([]));

  test('no order is settled twice', () => expect(race().twice).toEqual([]));

  test('each order of an account whose operations end comes to an end', () => expect(race().hanging).toEqual([]));

  test('payment.settled is emitted once for each payment, and for nothing else', () => {
    expect([race().untrueEvents, race().lackEvents]).toEqual([[], []]);
  });

  test('the page has an answer to everything', () => expect(race().faults).toEqual([]));

  test('most are paid all the same', () => expect(race().paid).toBeGreaterThan(COUNT / 2));
});
