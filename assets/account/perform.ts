// The three screens of every change: the change and its cost, the passkey and the network, and its success.

import type { Call } from '../../client/wallet/abi.ts';
import type { Account } from '../../client/wallet/account.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { PasskeyError } from '../../client/wallet/passkey.ts';
import { RefusedError } from '../../client/wallet/vault.ts';
import { amountText } from '../wallet/amount.ts';
import { word } from '../words/words.ts';
import { writeAddress } from './format.ts';
import { tellRemoved } from './managers.ts';
import { forget, recall, remember } from './memory.ts';
import { type Price, priceOf, type Sent, send, settle, sign, type World } from './operate.ts';
import { guard, ProblemError, unusedWords, wordsOf } from './problem.ts';
import { element, loading, onPress, show, step, toggle, write } from './view.ts';

/** A change that the person is asked to confirm. */
export interface Plan {
  readonly title: string;
  readonly words: string;
  /** The verb on the button. */
  readonly button: string;
  readonly calls: readonly Call[];
  readonly progress: string;
  readonly done: readonly [string, string];
  /** The screen after it, by its hash; '' is the account. */
  readonly next?: string;
  /** The key that it removes from the account. */
  readonly removes?: Hex;
  /** Runs when the person goes back without having signed it. */
  readonly unsigned?: (() => void) | undefined;
  /** Shown for Details. */
  readonly detail: object;
}

/** Fees are shown in millionths of an ether, rounded up. */
const MICRO = 10n ** 12n;

function roundedUp(wei: bigint): bigint {
  return (wei + MICRO - 1n) / MICRO;
}

/** The changes that were signed: from then on each may happen. */
const signedPlans = new WeakSet<Plan>();

const STEPS = ['step-sign', 'step-send', 'step-block'];
/** After this time the page says that the network is slow. */
const SLOW_MS = 45_000;

/** Asks for the price and shows the change; goes on when the person confirms. `back` is where Cancel leads. */
export function perform(world: World, account: Account, plan: Plan, back: () => void): void {
  guard(
    async () => {
      loading(word('confirm.loading'));
      showPrice(world, account, plan, await priceOf(world, account, plan.calls), back);
    },
    { again: () => perform(world, account, plan, back) },
  );
}

/** Signs a change that is not confirmed once more, with the same nonce. An error is shown beside the wait. */
async function repeat(world: World, account: Account, plan: Plan, earlier: Sent): Promise<void> {
  try {
    const price = await priceOf(world, account, plan.calls, earlier);
    if (price.fee > price.has) throw new RefusedError(word('confirm.lacks'), 'lacks');
    await go(world, account, plan, price, earlier);
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    const words = error instanceof PasskeyError ? unusedWords(error) : wordsOf(error)[1];
    await follow(world, earlier, { words, again: () => guard(() => repeat(world, account, plan, earlier)) });
  }
}

function showPrice(world: World, account: Account, plan: Plan, price: Price, back: () => void, notice?: string): void {
  const { operation, fee, has } = price;
  const lacks = fee > has;
  const ether = (parts: bigint) => `${amountText(parts, 6)} ETH`;
  const [needed, there] = [ether(roundedUp(fee)), ether(has / MICRO)];
  write('confirm-title', plan.title);
  write('confirm-words', plan.words);
  write(
    'confirm-notice',
    lacks
      ? word('confirm.lacks_sum', {
          needed,
          here: there,
        })
      : notice,
  );
  writeAddress(element('confirm-account'), account.address);
  write(
    'confirm-fee',
    operation.paymaster === undefined ? word('confirm.at_most', { fee: needed }) : word('confirm.sponsored'),
  );
  write('confirm-detail', JSON.stringify({ ...plan.detail, operation }, null, 2));
  write('confirm-go', lacks ? word('look_again') : plan.button);
  onPress('confirm-back', () => {
    if (!signedPlans.has(plan)) plan.unsigned?.();
    back();
  });
  onPress('confirm-go', () => {
    if (lacks) return perform(world, account, plan, back);
    guard(() => go(world, account, plan, price), {
      again: () => perform(world, account, plan, back),
      noPasskey: (words) => showPrice(world, account, plan, price, back, words),
    });
  });
  show('confirm');
}

async function go(world: World, account: Account, plan: Plan, price: Price, earlier?: Sent): Promise<void> {
  showProgress(plan.progress, 'step-sign');
  const { operation, userOpHash, validUntil } = await sign(world, account, price);
  signedPlans.add(plan);
  const { entryPoint, standing } = price;
  const version = { kind: 'pay', userOpHash, ...(validUntil === undefined ? {} : { validUntil }) } as const;
  const sent: Sent = {
    account: account.address,
    chainId: world.config.chainId,
    entryPoint,
    nonce: operation.nonce,
    since: earlier?.since ?? standing.fees.block,
    versions: [...(earlier?.versions ?? []), version],
    title: plan.progress,
    done: plan.done,
    next: plan.next ?? '',
    removes: plan.removes,
  };
  step(STEPS, 'step-send');
  // Written before it goes out: from here on it may settle, also if the page is closed.
  remember('sent', sent);
  const words = await send(operation, entryPoint);
  const again = () => guard(() => repeat(world, account, plan, sent));
  await follow(world, sent, words === undefined ? undefined : { words, again });
}

/** Continues a change that was under way when the page was closed; false if there is none. */
export function resume(world: World): boolean {
  const sent = recall<Sent>('sent');
  // Pages before this one did not write down where to look.
  if (!sent?.versions) return false;
  showProgress(sent.title, 'step-block');
  guard(() => follow(world, sent));
  return true;
}

/** The change that this page waits for; undefined once the person has gone on without it. */
let waited: Sent | undefined;

function showProgress(title: string, at: string): void {
  write('progress-title', title);
  for (const id of ['slow', 'repeat', 'leave']) toggle(id, false);
  onPress('leave', () => {
    waited = undefined;
    forget('sent');
    toHash('');
  });
  show('progress');
  step(STEPS, at);
}

/** The bundler's objection to a change, and the action that signs it again. */
interface Doubt {
  readonly words: string;
  readonly again: () => void;
}

async function follow(world: World, sent: Sent, doubt?: Doubt): Promise<void> {
  showProgress(sent.title, 'step-block');
  const slowAt = Date.now() + SLOW_MS;
  waited = sent;
  const isHere = () => waited === sent;
  onPress('repeat', () => {
    waited = undefined;
    doubt?.again();
  });
  const outcome = await settle(sent, () => {
    const isSlow = Date.now() > slowAt || doubt !== undefined;
    write('slow', isSlow ? slowWords(doubt) : undefined);
    toggle('leave', isSlow);
    toggle('repeat', doubt !== undefined);
    return isHere();
  });
  if (!isHere()) return;
  // Another tab may have sent something since.
  if (recall<Sent>('sent')?.nonce === sent.nonce) forget('sent');
  if (outcome !== 'done') throw new ProblemError(outcome, sent.versions.at(-1)?.userOpHash);
  if (sent.removes) tellRemoved(world.config, sent.account, sent.removes);
  leaveForm(sent.next);
  showDone(sent.done, sent.next);
}

/** A reload leads to what there is now, and begins no form again. */
export function leaveForm(next = ''): void {
  history.replaceState(null, '', location.pathname + location.search + (next === '' ? '' : `#${next}`));
}

/** A bundler's no is not the end: it may have the operation all the same. */
function slowWords(doubt: Doubt | undefined): string {
  if (!doubt) return word('progress.slow');
  return [
    word('progress.unconfirmed'),
    doubt.words === '' ? word('progress.silent') : word('progress.answer', { answer: doubt.words.replace(/\.$/, '') }),
    word('progress.once'),
  ].join(' ');
}

/** The last screen of a change. */
export function showDone([title, words]: readonly [string, string], next: string): void {
  write('done-title', title);
  write('done-words', words);
  write('done-go', next === '' ? word('done.go') : word('continue'));
  onPress('done-go', () => toHash(next));
  show('done');
}

/** Goes to a screen; to the one that is shown, too. */
function toHash(hash: string): void {
  if (location.hash.slice(1) === hash) dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = hash;
}
