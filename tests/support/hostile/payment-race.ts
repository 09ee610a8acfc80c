import { Hash, type Hex } from 'ox';
import { bundlePage, type PageBundle, type Window } from '../pay-page/window.ts';
import { forgeFuture, forgePayment } from './forgeries.ts';
import { act, falsehoods, listen, look, newOrder, type Order } from './payments.ts';
import { FINAL_DEPTH, type HostileWorld, startHostileWorld } from './world.ts';

/** What came of it: each list holds what should not be. */
export interface PaymentRace {
  readonly untruePaid: readonly string[];
  readonly untrueNothing: readonly string[];
  readonly twice: readonly string[];
  readonly faults: readonly string[];
  /** Events `payment.settled` without a transfer, or a second one of an order; and orders paid without one. */
  readonly untrueEvents: readonly string[];
  readonly lackEvents: readonly string[];
  /** Orders of which no window ever came to an end. */
  readonly hanging: readonly string[];
  readonly paid: number;
  /** How often a node and a bundler failed in which way. */
  readonly tally: { readonly node: object; readonly bundler: object };
}

/** How many orders there are, and whether the first node lies beside an honest second one. */
export interface PaymentRaceOptions {
  readonly seed: number;
  readonly count: number;
  readonly isLying: boolean;
}

const FAULTS_SHOWN = 3;
/** Orders that are paid at the same time. */
const WAVE = 20;
const RAGING_TURNS = 40;
/** Then all is honest, until everything signed has ended: some short turns, and long ones. */
const CALM_TURNS = [...Array<number>(12).fill(20), ...Array<number>(18).fill(150)];

/** Longer than a payment takes to be final, and its watch to look again. */
const CLOSING_TURNS = Array<number>(FINAL_DEPTH + 4).fill(150);

/** People pay while everything fails and lies, then look once more when it is calm. */
export async function racePayments({ seed, count, isLying }: PaymentRaceOptions): Promise<PaymentRace> {
  const page = await bundlePage();
  const world = await startHostileWorld({ seed, hasWitness: isLying });
  try {
    const orders: Order[] = [];
    while (orders.length < count) orders.push(...(await payWave(world, page, orders.length, isLying)));
    // What was signed in the last moment of a wave is included after it, and final later still.
    for (const seconds of CLOSING_TURNS) await world.turn(seconds);
    for (const order of orders) order.isPaid = (await world.balanceOf(order.payee, order.token)) > 0n;
    const found = await Promise.all(orders.map((order) => falsehoods(world, order)));
    return {
      untruePaid: found.flatMap(({ untruePaid }) => untruePaid),
      untrueNothing: found.flatMap(({ untrueNothing }) => untrueNothing),
      twice: found.flatMap(({ twice }) => twice),
      faults: found.flatMap(({ faults }) => faults).slice(0, FAULTS_SHOWN),
      ...(await judgeEvents(world, orders)),
      hanging: orders.filter(isHanging).map(({ id, windows }) => `${id}: ${windows.map(lastOf)}`),
      paid: orders.filter(({ isPaid }) => isPaid).length,
      tally: { node: world.node.tally, bundler: world.bundler.tally },
    };
  } finally {
    await world.stop();
  }
}

async function payWave(world: HostileWorld, page: PageBundle, from: number, isLying: boolean): Promise<Order[]> {
  const { draw, node } = world;
  const orders: Order[] = [];
  for (let n = from; n < from + WAVE; n++) orders.push(await newOrder(world, n));
  // No re-org reaches what they own.
  for (let block = 0; block <= FINAL_DEPTH; block++) await world.mine();
  const round = async (seconds: number) => {
    for (const order of orders) act(world, order, page);
    await world.turn(seconds);
    await look(world, orders);
    for (const order of orders) listen(order);
  };
  world.rage(true);
  if (isLying) for (const order of orders) lie(world, order);
  if (isLying && draw.below(3) === 0) node.lies.push(forgeFuture());
  for (let turn = 0; turn < RAGING_TURNS; turn++) await round(1 + draw.below(25));
  world.rage(false);
  node.lies.length = 0;
  for (const seconds of CALM_TURNS) await round(seconds);
  for (const { windows } of orders) for (const one of windows) one.close();
  return orders;
}

/** The event is for shops: it says what is so for good, once. */
async function judgeEvents({ vault, bundler }: HostileWorld, orders: readonly Order[]) {
  const rows = await vault.rows(`SELECT data FROM events WHERE type = 'payment.settled'`);
  const nonces = rows.map(({ data }) => BigInt((JSON.parse(String(data)) as { nonce: string }).nonce));
  const timesOf = ({ nonce }: Order) => nonces.filter((one) => one === nonce).length;
  const untrue = orders.filter((order) => timesOf(order) > (order.isPaid ? 1 : 0));
  const lacking = orders.filter((order) => order.isPaid && timesOf(order) === 0);
  const watched = await vault.rows('SELECT * FROM payments');
  const shown = (all: readonly Order[]) =>
    all.map((order) => {
      const rows = watched.filter(({ nonce }) => BigInt(String(nonce)) === order.nonce);
      const sent = order.accounts.flatMap(({ address }) => bundler.storyOf(order.nonce, address));
      const { token, said, windows } = order;
      const about = { token, sent, said, windows: windows.map(lastOf), rows, now: vault.clock.now() };
      return `${order.id}: ${timesOf(order)} events, ${order.isPaid ? 'paid' : 'not paid'} ${JSON.stringify(about)}`;
    });
  return { untrueEvents: shown(untrue), lackEvents: shown(lacking) };
}

/** The first node tells a story of the order, or none. */
function lie({ node, draw, contracts, bundler }: HostileWorld, order: Order): void {
  const story = ([undefined, 'paid', 'other', 'denied'] as const)[draw.below(4)];
  if (!story) return;
  const accounts = order.accounts.map(({ address }) => address.toLowerCase() as Hex.Hex);
  const { nonce, payee, amount } = order;
  const token = order.token === 'native' ? payee : order.token;
  const entryPoint = contracts.entryPoint.toLowerCase() as Hex.Hex;
  const userOpHash = (account: Hex.Hex) => bundler.hashOf(nonce, account) ?? Hash.keccak256(account);
  node.lies.push(forgePayment({ story, entryPoint, accounts, nonce, token, payee, amount, userOpHash }));
}

/** Nobody was told how it ended. A payment of an account of the first kind never ends by itself. */
function isHanging({ said, accounts }: Order): boolean {
  return accounts.every(({ kind }) => kind === 2) && !said.some(({ word }) => word !== 'left');
}

function lastOf(one: Window): string {
  return [one.part(), one.text('pending-words'), one.text('pending-detail'), one.text('pending-notice')].join(' ');
}
