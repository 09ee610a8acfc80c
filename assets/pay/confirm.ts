// The confirm page: shows a payment, asks the passkey for approval, and follows the payment until it is in a block.

import type { Account } from '../wallet/account.ts';
import { RefusedError, readConfig, UnreachableError } from '../wallet/api.ts';
import { loadEnclave } from '../wallet/enclave.ts';
import { MemoryError, readAccounts } from '../wallet/memory.ts';
import { PasskeyError } from '../wallet/passkey.ts';
import { FeeBoundError } from '../wallet/send.ts';
import { type Channel, deafChannel, NoRequestError, openChannel } from './channel.ts';
import { QUOTE_MS, RECEIPT_SLOW_MS } from './constants.ts';
import { showFunds } from './funds.ts';
import { leave, showPaid, showProblem } from './outcome.ts';
import {
  approve,
  awaitReceipt,
  detailsOf,
  EndedError,
  isTooLate,
  type Quote,
  quote,
  recall,
  SpentError,
  submit,
} from './pay.ts';
import { addressOf, sumOf } from './receipt.ts';
import { type Payment, RequestError, readPayment } from './request.ts';
import { shortageOf, writeReview } from './review.ts';
import { showSetup, weighAccounts } from './setup.ts';
import { checkMemory, findPaymentOf, type StoredPayment } from './store.ts';
import { onArmedPress, onPress, showPart, step, toggle, write } from './view.ts';
import type { Problem } from './words.ts';

/** One payment on this page. */
interface Session {
  readonly channel: Channel;
  readonly config: Awaited<ReturnType<typeof readConfig>>;
  readonly enclave: Awaited<ReturnType<typeof loadEnclave>>;
  readonly payment: Payment;
  /** Over for the shop: nothing may be sent any more. */
  ended: boolean;
  /** The signature is on its way: nothing ends it any more. */
  committed: boolean;
  /** Counts what the person was shown: an approval that waits is void once they chose another account, or left. */
  turn: number;
}

/** What it takes to follow a payment that was signed. */
type Resumed = Pick<Session, 'channel' | 'config' | 'enclave' | 'committed'>;

let channel: Channel | undefined;
/** The payment this page has sent, if the worker with the request has ended. */
let left: StoredPayment | undefined;

void guard(start, start);

async function start(): Promise<void> {
  showPart('loading');
  channel ??= await connect();
  const [config, enclave] = await Promise.all([readConfig(), loadEnclave()]);
  write('chain', config.chain);
  if (left) return resume({ channel, config, enclave, committed: true }, left);
  const payment = readPayment(channel.asked, {
    chainId: config.chainId,
    now: Date.now(),
    keccak256: enclave.keccak256,
  });
  const session = openSession({ channel, config, enclave, payment, ended: false, committed: false, turn: 0 });
  await checkMemory();
  await proceed(session);
}

/** After this page has sent a payment it never says that nothing was paid: the browser may have ended the worker. */
async function connect(): Promise<Channel> {
  try {
    return await openChannel(location);
  } catch (error) {
    // Only the worker's URLs are made for one request each.
    const isWorkers = !new URLSearchParams(location.search).has('mode');
    if (error instanceof NoRequestError && isWorkers) left = await findPaymentOf(location.href);
    if (!left) throw error;
    return deafChannel(left.asker);
  }
}

/** Goes on where this payment stands: at its receipt, its sending, or its approval. */
async function proceed(session: Session): Promise<void> {
  const known = await recall(session.payment);
  if (known && known.state !== 'refused') return resume(session, known);
  // Only of what was never signed here: a reload may come after the end.
  if (session.payment.expiresAt <= Date.now()) throw new RequestError('expired');
  await review(session, known?.account);
}

/** What the shop or the clock ends, ends here, unless the signature is on its way. */
function openSession(session: Session): Session {
  const { channel: given, payment } = session;
  const end = (why: Problem) => {
    if (session.committed || session.ended) return;
    session.ended = true;
    problem(why);
  };
  given.onEnd = (why) => end(why === 'gone' ? 'no_request' : why);
  const rest = payment.expiresAt - Date.now();
  if (rest > 0) setTimeout(() => end('expired'), rest);
  const commit = async () => {
    session.committed ||= !session.ended && Date.now() < payment.expiresAt && (await given.commit());
    return session.committed;
  };
  return Object.assign(session, { channel: { ...given, commit } });
}

/** `pinned` is the account that has signed this payment before: no other may. `chosen` is the person's choice. */
async function review(session: Session, pinned?: Account, chosen = pinned): Promise<void> {
  const turn = ++session.turn;
  const isOver = () => session.ended || session.turn !== turn;
  if (isOver()) return;
  showPart('loading');
  const account = chosen ?? (await firstAccount(session));
  if (isOver()) return;
  if (!account) return setUp(session);
  let current = await quote(session.payment, account, session.config);
  if (isOver()) return;
  const show = (given: Quote, words?: string) => {
    current = given;
    writeReview(session.payment, given, session);
    write('review-notice', words);
    toggle('other', !pinned);
    onPress('add', () => addFunds(session, given, () => void guard(again, again)));
    showPart('review');
    onArmedPress('approve', () => void guard(confirm, () => proceed(session)));
  };
  const confirm = async () => {
    if (isOver()) return;
    if (Date.now() - current.standing.at > QUOTE_MS) {
      const fresh = await quote(session.payment, current.account, session.config);
      if (isOver()) return;
      if (fresh.lacks || fresh.fee > current.fee) return show(fresh, 'The fee or the balance has changed.');
      current = fresh;
    }
    await pay(session, current, (words) => show(current, words));
  };
  const again = () => review(session, pinned, account);
  onPress('cancel', () => giveUp(session));
  onPress('other', () => void guard(() => setUp(session), again));
  show(current);
}

/** The account used last, or one with money enough. */
async function firstAccount({ payment }: Session): Promise<Account | undefined> {
  const [first, ...others] = await readAccounts();
  if (!first || others.length === 0) return first;
  return (await weighAccounts([first, ...others], payment))[0]?.account;
}

function addFunds({ payment, config, enclave }: Session, given: Quote, again: () => void): void {
  const shortage = shortageOf(payment, given);
  const address = addressOf(given.account.address, enclave);
  const isFee = given.lacks === 'fee';
  if (shortage) void showFunds({ shortage, isFee, address, chain: config.chain, again });
}

async function setUp(session: Session): Promise<void> {
  const turn = ++session.turn;
  const { config, enclave, payment } = session;
  const held = await weighAccounts(await readAccounts(), payment);
  if (session.ended || session.turn !== turn) return;
  const done = (account: Account) => review(session, undefined, account);
  const back = held.length === 0 ? undefined : () => void guard(() => review(session), start);
  showSetup({ config, enclave, payment, held, done, back, cancel: () => giveUp(session), guard });
}

/** What is still on its way to an approval ends with it. */
function giveUp(session: Session): void {
  session.ended = true;
  leave('cancelled', channel);
}

async function pay(session: Session, current: Quote, back: (words: string) => void): Promise<void> {
  const { payment } = session;
  write('progress-amount', sumOf(payment.amount, current.token));
  showProgress('sign');
  try {
    const sent = await approve(payment, current, session);
    await follow(session, sent);
  } catch (error) {
    if (session.ended) return;
    if (error instanceof PasskeyError) return back('Your passkey was not used. Nothing was paid.');
    // Trying again looks at what became of it, and sends the very same operation.
    if (error instanceof UnreachableError && session.committed) return problem('unknown', () => proceed(session));
    throw error;
  }
}

/** A payment that was approved before: by this window, another tab, or one that was closed. */
async function resume(session: Resumed, known: StoredPayment): Promise<void> {
  write('progress-amount', '');
  showProgress('send');
  try {
    // What was sent needs no leave any more, but the worker has to know that it is too late to take it back.
    if (known.state !== 'signed') await session.channel.commit();
    session.committed ||= known.state !== 'signed';
    await follow(session, await submit(known, session.channel));
  } catch (error) {
    if (error instanceof UnreachableError) return problem('unknown', start);
    throw error;
  }
}

async function follow(session: Resumed, sent: StoredPayment): Promise<void> {
  showProgress('block');
  // The very same operation once more: a restarted bundler has forgotten it.
  onPress('again', () => void submit(sent, session.channel).catch(() => undefined));
  const slowAt = Date.now() + RECEIPT_SLOW_MS;
  const known = await awaitReceipt(sent, session.channel, () => {
    const isSlow = Date.now() > slowAt;
    toggle('slow', isSlow);
    toggle('again', isSlow);
  });
  if (known.state === 'failed') return problem('reverted');
  const details = detailsOf(known, session.enclave);
  session.channel.answer(details);
  showPaid(details, session.channel, { ...known, explorer: session.config.explorer });
}

function showProgress(current: 'sign' | 'send' | 'block'): void {
  toggle('slow', false);
  toggle('again', false);
  showPart('progress');
  step(current);
}

function problem(of: Problem, again?: () => Promise<void>, detail?: string): void {
  showProblem(of, { channel, again: again && (() => void guard(again, again)), detail });
}

/** Runs a step of the page; what it throws becomes words, with a way to try again where that can help. */
async function guard(run: () => Promise<void>, again: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof RequestError) problem(error.fault);
    else if (error instanceof NoRequestError) problem('no_request');
    else if (error instanceof MemoryError) problem('no_memory', again);
    else if (error instanceof EndedError) problem('expired');
    else if (error instanceof SpentError) problem(error.message === 'other terms' ? 'other_terms' : 'spent');
    else if (error instanceof UnreachableError) problem('down', again);
    else if (error instanceof FeeBoundError) problem('fee_bound', again, error.message);
    else if (error instanceof RefusedError && isTooLate(error)) problem('expired');
    else if (error instanceof RefusedError) {
      problem(error.aa === 'AA25' ? 'spent' : 'refused', error.aa === 'AA25' ? undefined : again, error.message);
    } else {
      console.error(error);
      problem('unexpected');
    }
  }
}
