// Things that happen at once, in orders that are drawn: fast-check draws them, makes what fails smaller, and draws the
// same again. Its own scheduler does not make an order smaller, and does not wait for the event loop.
import { expect, test } from 'bun:test';
import { relative } from 'node:path';
import fc from 'fast-check';
import { isLong } from '../long.ts';
import { SEED } from '../seed.ts';
import { IN_LINE, type Order, type Pair, type PlayedWrong, playOne } from './play.ts';
import { interruptionsOf, messageOf, shorten, wordsOf } from './shorten.ts';
import { BEGINS, type Stand, type Step, TIME } from './stage.ts';
import type { Plant } from './vaults.ts';

/** So many orders of each pair, where it asks for no fewer. */
const ORDERS = 300;
const ORDERS_LONG = 5_000;
/** Fewer different ones prove little. */
const DISTINCT_MIN = 50;
const STANDS_MAX = 24;
/** A planted fault that is not found in so many is not found. */
const ORDERS_PLANTED = 5_000;
/** How often others come in between at most in the smallest order that shows a planted fault. */
const SHORT_MAX = 8;
/** So many orders that show it are passed over, since they do not get that short: the next takes less than shrinking. */
const PASSED_OVER_MAX = 2;
/** Longer than the lease of the relay, and than that of a row or of a confirmation. Five orders of six have no pause. */
const PAUSES_MS = [3_500, 31_000];
const UNPAUSED_WEIGHT = 63;
const ROOT = new URL('../../..', import.meta.url).pathname;

/** What is taken away from the product to see that orders find it. */
interface Planted {
  readonly plant: Plant;
  /** What then is violated; an order that violates something else with it is passed over. */
  readonly violates: RegExp;
}

/** How a planted fault is looked for. */
interface Sought extends Planted {
  /** Has fast-check make the order smaller, too: it tries so much that this takes most of the time. */
  readonly isShrunk: boolean;
}

/** A pair, and a fault to plant. */
export interface Orders extends Planted {
  /** The test's own file. */
  readonly file: string;
  readonly pair: Pair;
  /** What it is without, in words. */
  readonly without: string;
  /** How many orders are enough of it in the short form: many times those that found what is taken away. */
  readonly orders?: number;
}

/** What the orders of a pair came to. */
export interface Found {
  readonly distinct: number;
  /** What is violated by the smallest order that violates something; undefined if none does. */
  readonly violation: string | undefined;
  /** How often others come in between in it. */
  readonly interruptions: number;
  /** What it does, and how to play it again; without a violation, how many orders there were. */
  readonly message: string;
}

/** Tests that nothing is violated in any of the orders, and that they find what is taken away. */
export function testOrders(name: string, { file, pair, plant, without, violates, orders = ORDERS }: Orders): void {
  const place = (title: string) => `./${relative(ROOT, file)} -t '${title}'`;
  const sound = `${name}: nothing is violated`;
  test(sound, async () => {
    const { violation, message, distinct } = await playOrders(pair, place(sound), undefined, orders);
    if (violation !== undefined) throw new Error(message);
    console.log(`${name}: ${message}`);
    if (process.env['ORDER'] === undefined) expect(distinct).toBeGreaterThanOrEqual(DISTINCT_MIN);
  });
  const planted = `${name}: found without ${without}`;
  test(planted, async () => {
    const play = (isShrunk: boolean) => playOrders(pair, place(planted), { plant, violates, isShrunk });
    const first = await play(false);
    const { violation, message, interruptions } = first.interruptions > SHORT_MAX ? await play(true) : first;
    console.log(`${name}, without ${without}: ${message}`);
    expect(violation).toMatch(violates);
    expect(interruptions).toBeLessThanOrEqual(SHORT_MAX);
    // One after the other shows nothing, so that it was the order that did.
    await playOne(pair, IN_LINE, plant);
  });
}

/** Plays the orders up to the first that violates something, which it makes as small as it gets. */
export async function playOrders(pair: Pair, place = '', planted?: Sought, orders: number = ORDERS): Promise<Found> {
  const { plant, violates = /./, isShrunk = true } = planted ?? {};
  const distinct = new Set<string>();
  const interrupted = new Set<string>();
  const lengths = await lengthsOf(pair);
  const path = process.env['ORDER'];
  let passedOver = 0;
  let shown: Awaited<ReturnType<typeof shorten>> | undefined;
  const isTooLong = async (order: Order) => {
    if (isShrunk || path !== undefined) return false;
    shown = await shorten(pair, order, plant, (text) => violates.test(text));
    return interruptionsOf(shown.steps).length > SHORT_MAX && passedOver++ < PASSED_OVER_MAX;
  };
  const property = fc.asyncProperty(anyOrder(lengths), async (order) => {
    const steps = await playOne(pair, order, plant).then(
      ({ steps }) => steps,
      async ({ steps, failure }: PlayedWrong) => {
        if (violates.test(messageOf(failure)) && !(await isTooLong(order))) throw failure;
        return steps;
      },
    );
    for (const place of interruptionsOf(steps)) interrupted.add(place);
    distinct.add(JSON.stringify(steps.filter(({ who, what }: Step) => what !== BEGINS && who !== TIME)));
  });
  const again = path === undefined ? {} : { path };
  const endOnFailure = path !== undefined || !isShrunk;
  const {
    failed: isFailed,
    numRuns,
    counterexample,
    counterexamplePath,
    errorInstance,
  } = await fc.check(property, {
    numRuns: planted ? ORDERS_PLANTED : isLong ? ORDERS_LONG : orders,
    seed: SEED,
    endOnFailure,
    ...again,
  });
  if (!isFailed) {
    const where = `others come in between before ${interrupted.size} of some ${stepsOf(lengths)} steps`;
    const message = `${numRuns} orders, ${distinct.size} of them different; ${where}`;
    return { distinct: distinct.size, violation: undefined, interruptions: 0, message };
  }
  const found = messageOf(errorInstance);
  const isStill = (text: string) => (planted ? violates.test(text) : text === found);
  const shortest = shown ?? (await shorten(pair, (counterexample as [Order])[0], plant, isStill));
  const { stands, steps, violation = found } = shortest;
  const interruptions = interruptionsOf(steps).length;
  const message = [
    violation,
    `Order ${numRuns}, made smaller:`,
    ...steps.map(({ who, what }, i) => `${String(i + 1).padStart(4)} ${who} ${what}`),
    ...stands.map(wordsOf),
    `Exactly this order again: SEED=${SEED} ORDER=${counterexamplePath} npx bun test ${place}`,
  ].join('\n');
  return { distinct: distinct.size, violation, interruptions, message };
}

/** How many steps each party takes at most where one comes after the other, whichever is first. */
async function lengthsOf(pair: Pair): Promise<ReadonlyMap<string, number>> {
  const { lengths } = await playOne(pair, IN_LINE);
  const most = new Map(lengths);
  for (const until of lengths.keys()) {
    const others = [...lengths.keys()].filter((who) => who !== until);
    const stands = others.map((who) => ({ who, before: 0, until, done: Number.POSITIVE_INFINITY, pauseMs: 0 }));
    const played = await playOne(pair, { ...IN_LINE, stands });
    for (const [who, length] of played.lengths) most.set(who, Math.max(length, most.get(who) ?? 0));
  }
  return most;
}

/** Without fast-check's bias to small cases: those are orders in which one comes after the other. */
function anyOrder(lengths: ReadonlyMap<string, number>): fc.Arbitrary<Order> {
  const each = [...lengths].flatMap(([who, own]) =>
    [...lengths].flatMap(([until, others]) => (who === until ? [] : [anyStand(who, own, until, others)])),
  );
  const stands = fc.array(fc.oneof(...each), { maxLength: STANDS_MAX, size: 'max' });
  return fc.noBias(fc.record({ isShared: fc.constantFrom(false, false, false, true), stands }));
}

function stepsOf(lengths: ReadonlyMap<string, number>): number {
  return [...lengths.values()].reduce((sum, length) => sum + length, 0);
}

function anyStand(who: string, own: number, until: string, others: number): fc.Arbitrary<Stand> {
  return fc.record({
    who: fc.constant(who),
    before: fc.nat(own - 1),
    until: fc.constant(until),
    done: fc.integer({ min: 1, max: others }),
    pauseMs: fc.oneof(
      { withCrossShrink: true },
      { weight: UNPAUSED_WEIGHT, arbitrary: fc.constant(0) },
      fc.constantFrom(...PAUSES_MS),
    ),
  });
}
