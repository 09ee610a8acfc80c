import { Hex } from 'ox';
import { predictAddress, readConfig } from '../../../assets/wallet/api.ts';
import { keepAccount } from '../../../assets/wallet/memory.ts';
import { paymentNonce } from '../../../client/payment-nonce.ts';
import type { Account } from '../../../client/wallet/account.ts';
import { createPasskey } from '../../../client/wallet/passkey.ts';
import { USDC } from '../../../scripts/dev-stack/usdc.ts';
import { type Draw, openDraw } from '../draw.ts';
import { hashOf } from '../node-faults.ts';
import { popupLine, type ShopMessage } from '../pay-page/line.ts';
import { openWindow, type PageBundle, type Window } from '../pay-page/window.ts';
import { type Device, newDevice, on, reach } from './device.ts';
import type { HostileWorld } from './world.ts';

/** One order of a shop, and the windows in which somebody pays it. */
export interface Order {
  readonly id: string;
  readonly nonce: bigint;
  /** What those who pay it do is drawn from this alone. */
  readonly draw: Draw;
  /** An address of its own: what arrives there was paid for this order. */
  readonly payee: Hex.Hex;
  readonly token: Hex.Hex | 'native';
  readonly amount: bigint;
  /** The person's own device, and another one with the same passkeys, or the same one again. */
  readonly devices: readonly Device[];
  readonly accounts: readonly Account[];
  readonly windows: Window[];
  readonly said: Said[];
  /** Whether the amount was ever in a block, and whether it is there in the end. */
  wasPaid: boolean;
  isPaid: boolean;
}

/** What a window said when it ended, to the person or to the shop. */
export interface Said {
  readonly word: 'paid' | 'nothing' | 'left';
  readonly text: string;
  /** When (`WorldTime.sequence`). */
  readonly at: number;
  /** Whether a block had held the transfer by then. */
  readonly wasPaid: boolean;
}

const ORIGIN = 'https://shop.example';
const ETHER = 10n ** 18n;
const CHAIN_ID = 84532;

/** An order, and a person with two funded accounts of either kind. */
export async function newOrder(world: HostileWorld, n: number): Promise<Order> {
  const { vault } = world;
  const draw = openDraw(hashOf(`${world.seed} order ${n}`));
  const device = newDevice(vault.url, draw);
  const isToken = draw.below(3) > 0;
  const accounts: Account[] = [];
  for (let i = 0; i < 2; i++) accounts.push(await on(device, () => makeAccount(draw.below(4) === 0 ? 1 : 2)));
  for (const { address } of accounts)
    await world.fund(address, { wei: ETHER, ...(isToken ? { usdc: 50_000_000n } : {}) });
  const id = `order-${n}`;
  return {
    id,
    nonce: BigInt(await paymentNonce({ origin: ORIGIN, id })),
    draw,
    payee: Hex.fromBytes(draw.bytes(20)),
    token: isToken ? (USDC.toLowerCase() as Hex.Hex) : 'native',
    amount: BigInt(1 + draw.below(1_000_000)),
    devices: [device],
    accounts,
    windows: [],
    said: [],
    wasPaid: false,
    isPaid: false,
  };
}

async function makeAccount(kind: 1 | 2): Promise<Account> {
  const { rpId } = await readConfig();
  const name = `Account of kind ${kind}`;
  const { credentialId, x, y } = await createPasskey(rpId, { name });
  const account = { credentialId, address: await predictAddress({ x, y }, kind), kind, x, y, name };
  await keepAccount(account);
  return account;
}

/** What the person does at one moment: presses what is shown, opens one more window, closes one, or does nothing. */
export function act(world: HostileWorld, order: Order, page: PageBundle): void {
  const { draw } = order;
  const open = order.windows.filter((one) => one.isOpen());
  const told = order.said.findLast(({ word }) => word !== 'left')?.word;
  // Who was told that nothing was paid tries again at times; who has paid seldom looks again.
  const comes = told === undefined || draw.below(told === 'paid' ? 20 : 3) === 0;
  if (open.length === 0 ? comes : told === undefined && open.length < 3 && draw.below(12) === 0) {
    order.windows.push(open1(world, order, page));
    // Two windows at once, so that both show the price before one of them signs.
    if (open.length === 0 && draw.below(4) === 0) order.windows.push(open1(world, order, page));
    return;
  }
  for (const one of open) if (draw.below(3) > 0) useWindow(order, one);
}

function open1({ time }: HostileWorld, order: Order, page: PageBundle): Window {
  const { id, token, amount, payee: to, devices, draw } = order;
  const device = devices[draw.below(devices.length)] as Device;
  const data = { to, amount: String(amount), token, chainId: CHAIN_ID };
  const line = popupLine(ORIGIN, { id, data }, time);
  return openWindow(page, { device, time, line, ask: (path, init) => reach(device, path, init) });
}

/** One press in a window, or none. */
function useWindow({ draw, accounts }: Order, one: Window): void {
  const chance = draw.below(24);
  if (chance === 0) one.close();
  else if (chance === 1) one.say({ type: 'abort' });
  else if (one.part() === 'setup') one.pressIn('accounts', BUTTONS_OF_ACCOUNT * draw.below(accounts.length));
  else {
    const able = buttonsOf(one.part(), chance).filter((id) => one.canPress(id));
    const id = able[draw.below(able.length || 1)];
    if (id !== undefined) one.press(id);
  }
}

/** One that chooses it, one that changes its name. */
const BUTTONS_OF_ACCOUNT = 2;

/** What people press on a part of the page; `chance` is from 2 to 23. */
function buttonsOf(part: string | undefined, chance: number): readonly string[] {
  switch (part) {
    case 'review':
      if (chance < 4) return ['other'];
      return chance < 6 ? ['cancel'] : ['approve'];
    case 'funds':
      return ['funds-back'];
    case 'pending':
      if (chance > 18) return ['pending-leave'];
      return chance > 10 ? ['again', 'raise', 'void'] : [];
    case 'problem':
      return ['retry', 'leave'];
    case 'done':
      return ['close'];
    default:
      return [];
  }
}

/** Notes what windows say now that they have come to an end, and what they told the shop. */
export function listen(order: Order): void {
  for (const [n, one] of order.windows.entries()) {
    const answers = one.told.filter(({ type }) => type === 'answer' || type === 'cancel');
    for (const said of [...saidBy(one), ...answers.map(toldBy)]) {
      const text = `window ${n}: ${said.text}`;
      const isKnown = order.said.some((known) => known.text === text && known.at === said.at);
      if (!isKnown) order.said.push({ ...said, text, wasPaid: order.wasPaid });
    }
  }
}

type Heard = Pick<Said, 'word' | 'text' | 'at'>;

function saidBy(one: Window): Heard[] {
  const at = one.shownAt();
  if (!one.isOpen()) return [];
  if (one.part() === 'done') return [{ word: 'paid', text: 'Paid', at }];
  if (one.part() !== 'problem') return [];
  const text = `${one.text('problem-title')}: ${one.text('problem-words')}`;
  return [{ word: NOTHING.test(text) ? 'nothing' : 'left', text, at }];
}

/** What the page says of a payment that was not made. */
const NOTHING = /nothing was paid|was not made|no money/i;

function toldBy({ type, reason = '', at }: ShopMessage): Heard {
  if (type === 'answer') return { word: 'paid', text: 'the shop got the receipt', at };
  return { word: reason === 'unconfirmed' ? 'left' : 'nothing', text: `the shop was told ${reason}`, at };
}

/** Notes which orders the chain has paid by now. */
export async function look(world: HostileWorld, orders: readonly Order[]): Promise<void> {
  const open = orders.filter(({ wasPaid }) => !wasPaid);
  const balances = await Promise.all(open.map(({ payee, token }) => world.balanceOf(payee, token)));
  for (const [i, order] of open.entries()) order.wasPaid = (balances[i] ?? 0n) > 0n;
}

/** What was said of an order and is not so, now that everything that could still happen has happened. */
export async function falsehoods(world: HostileWorld, order: Order) {
  const { id, payee, token, amount, said, windows } = order;
  const arrived = await world.balanceOf(payee, token);
  const settledAt = await world.bundler.settledBytesAt(order.nonce, payee);
  const isSigned = (at: number) => arrived > 0n && settledAt !== undefined && settledAt <= at;
  const untruePaid = said.filter(({ word, wasPaid }) => word === 'paid' && !wasPaid);
  const untrueNothing = said.filter(({ word, at }) => word === 'nothing' && isSigned(at));
  const shown = (all: readonly Said[]) => all.map(({ text }) => `${id}: ${text}`);
  return {
    untruePaid: shown(untruePaid),
    untrueNothing: shown(untrueNothing),
    twice: arrived > amount ? [`${id}: ${arrived / amount} times`] : [],
    faults: windows.flatMap((one) => one.faults.map((fault) => `${id}: ${fault}`)),
  };
}
