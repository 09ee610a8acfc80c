// The person's choices before the passkey signs, and the signature.

import { paymentNonce } from '../../client/payment-nonce.ts';
import { type Account, NoAccountError } from '../../client/wallet/account.ts';
import { PasskeyError } from '../../client/wallet/passkey.ts';
import { RefusedError } from '../../client/wallet/vault.ts';
import { readState } from '../wallet/api.ts';
import { type KeptAccount, readAccounts } from '../wallet/memory.ts';
import { namedAccount } from '../wallet/payer.ts';
import { promptWord } from '../wallet/prompt.ts';
import { word } from '../words/words.ts';
import { QUOTE_MS } from './constants.ts';
import { findElsewhere } from './elsewhere.ts';
import { follow, showProgress } from './follow.ts';
import { leave } from './outcome.ts';
import { approve, type Quote, quote, recordOf } from './pay.ts';
import { firstAccount, loadSetup, weighAccounts } from './payer.ts';
import { sumOf } from './receipt.ts';
import { writeReview } from './review.ts';
import { followingOf, type Session } from './session.ts';
import { onArmedPress, onPress, showPart, write, writeAmount } from './view.ts';

/** Shows the payment with an account, and its price; `chosen` is the person's choice. */
export async function review(session: Session, chosen?: KeptAccount): Promise<void> {
  const { guard, proceed } = session.steps;
  const turn = ++session.turn;
  const isOver = () => session.ended || session.turn !== turn;
  if (isOver()) return;
  showPart('loading');
  const account = chosen ?? (await likelyAccount(session));
  if (isOver()) return;
  if (!account) return setUp(session, 'payer');
  const priced = await quote(session.payment, account, session.config).catch((error) =>
    lookElsewhere(session, account, error),
  );
  if (!priced || isOver()) return;
  let current = priced;
  const show = (given: Quote, words?: string) => {
    current = given;
    writeReview(session.payment, given, session);
    write('review-notice', words);
    onPress('add', () => void guard(() => addFunds(given), again));
    showPart('review');
    onArmedPress('approve', () => void guard(confirm, () => proceed(session)));
  };
  const confirm = async () => {
    if (isOver()) return;
    if (await isStale(current)) {
      const fresh = await quote(session.payment, current.account, session.config);
      if (isOver()) return;
      if (fresh.lacks || fresh.fee > current.fee) return show(fresh, word('review.changed'));
      current = fresh;
    }
    await pay(session, current, (words) => show(current, words));
  };
  const again = () => review(session, account);
  const addFunds = async (given: Quote) => {
    const { askOwner, showFunds } = await loadSetup();
    if (session.claimed === account.address) {
      // The shop's word alone does not say whose account it is, so no money goes there.
      const isTheirs = await askOwner(session, account);
      if (isOver()) return;
      if (isTheirs === undefined) return show(given, word('review.passkey'));
      if (!isTheirs) return dropHint(session);
      session.claimed = undefined;
    }
    if (!isOver()) void showFunds({ ...session, quote: given, again: () => void guard(again, again) });
  };
  onPress('cancel', () => void giveUp(session));
  onPress('other', () => void guard(() => setUp(session), again));
  onPress('another', () => void guard(() => setUp(session, 'find'), again));
  show(current);
}

/** Somebody may have created the account: then the operation must not. */
async function isStale({ account, operation, standing }: Quote): Promise<boolean> {
  if (Date.now() - standing.at > QUOTE_MS) return true;
  return operation.factory !== undefined && (await readState(account.address)).isDeployed;
}

/** The nonce is spent, and this device signed nothing: another one may have paid. Throws other errors on. */
async function lookElsewhere(session: Session, account: Account, error: unknown): Promise<undefined> {
  if (!(error instanceof RefusedError) || error.aa !== 'AA25' || session.config.entryPoint === null) throw error;
  const { payment, steps } = session;
  const nonce = await paymentNonce({ ...payment.asker, id: payment.id });
  const about = { nonce, entryPoint: session.config.entryPoint, page: location.href, since: undefined };
  const found = await findElsewhere(recordOf(payment, account, about));
  if (session.ended) return undefined;
  session.committed = typeof found === 'object';
  if (typeof found === 'object') await follow(followingOf(session), found);
  else await steps.problem(found ?? 'used', found ? undefined : () => steps.proceed(session));
  return undefined;
}

/** The one that the shop names, else one of this device; undefined where a passkey has to be asked for it. */
async function likelyAccount(session: Session): Promise<KeptAccount | undefined> {
  const { payer, payment, config } = session;
  if (!payer) return firstAccount(payment);
  const named = await namedAccount(payer, config);
  session.claimed = named?.isClaimed ? named.account.address : undefined;
  return named?.account;
}

/** The hint was wrong: the passkey itself shows its account. */
function dropHint(session: Session): Promise<void> {
  session.claimed = session.payer = undefined;
  return setUp(session);
}

/** `payer`: the passkey that the shop names is asked for; `find`: any other, at once. */
async function setUp(session: Session, way?: 'payer' | 'find'): Promise<void> {
  const turn = ++session.turn;
  const { config, enclave, payment, steps } = session;
  const { guard } = steps;
  const accounts = readAccounts().then((all) => weighAccounts(all, payment));
  const [{ findNow, showSetup }, held] = await Promise.all([loadSetup(), accounts]);
  if (session.ended || session.turn !== turn) return;
  const done = (account: KeptAccount) => review(session, account);
  const payer = way === 'payer' ? session.payer : undefined;
  const hasBack = !payer && (held.length > 0 || session.payer !== undefined);
  const back = () =>
    void guard(
      () => review(session),
      () => steps.proceed(session),
    );
  const setup = {
    config,
    enclave,
    payment,
    payer,
    held,
    done,
    back: hasBack ? back : undefined,
    cancel: () => void giveUp(session),
    guard,
  };
  if (way === 'find') findNow(setup);
  else showSetup(setup);
}

/** Ends a session before its approval. */
async function giveUp(session: Session): Promise<void> {
  session.ended = true;
  const { guard, problem, proceed, resume, findLive } = session.steps;
  const live = await findLive().catch(() => null);
  if (live === null) return problem('no_memory');
  if (live)
    return guard(
      () => resume(session, live),
      () => proceed(session),
    );
  await leave('cancelled', { channel: session.channel, again: undefined, findLive: async () => undefined });
}

async function pay(session: Session, current: Quote, back: (words: string) => void): Promise<void> {
  writeAmount('progress-amount', sumOf(session.payment.amount, current.token));
  showProgress('sign');
  try {
    const stored = await approve(session.payment, current, { ...session, page: location.href });
    // Also another tab's, which may be sent already.
    session.committed ||= stored.state !== 'signed';
    await follow(followingOf(session), stored);
  } catch (error) {
    if (session.ended) return;
    if (error instanceof PasskeyError) return back(word(promptWord(error) ?? 'review.passkey'));
    if (error instanceof NoAccountError && session.claimed === current.account.address) {
      return dropHint(session);
    }
    throw error;
  }
}
