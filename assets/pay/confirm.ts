// The confirm page: shows a payment, asks the passkey for approval, and follows the payment until it is decided.

import { hasPasskeys } from '../../client/vault/passkeys.ts';
import { loadEnclave } from '../../client/wallet/enclave.ts';
import { UnreachableError } from '../../client/wallet/vault.ts';
import { readConfig } from '../wallet/api.ts';
import { NoRequestError } from '../wallet/opener.ts';
import { loadWords } from '../words/words.ts';
import { review } from './approval.ts';
import { type Channel, deafChannel, openChannel } from './channel.ts';
import { SIGNING_MS_MIN } from './constants.ts';
import { follow } from './follow.ts';
import { showProblem } from './outcome.ts';
import { EndedError, recall } from './pay.ts';
import { problemOf } from './problem.ts';
import { nameOf, readPayment } from './request.ts';
import { followingOf, openSession, type Session } from './session.ts';
import { checkMemory, findLiveHash, findPayment, findPaymentOf, isLive, isOver, type StoredPayment } from './store.ts';
import { showPart, writeNetwork } from './view.ts';
import type { Problem } from './words.ts';

let channel: Channel | undefined;
/** The payment this page has sent, if the worker with the request has ended. */
let left: StoredPayment | undefined;
let current: Session | undefined;
let hasWords = false;

void guard(start, start);

async function start(): Promise<void> {
  showPart('loading');
  hasWords ||= await loadWords('pay');
  if (!hasWords) throw new UnreachableError('no words');
  channel ??= await connect();
  const [config, enclave] = await Promise.all([readConfig(), loadEnclave()]);
  writeNetwork('chain', config);
  if (left) return follow({ channel, config, enclave, endsBy: undefined, restart: () => undefined }, left);
  const payment = readPayment(channel.asked, {
    chainId: config.chainId,
    now: Date.now(),
    keccak256: enclave.keccak256,
  });
  const steps = { guard, problem, proceed, resume, findLive };
  const about = { channel, config, enclave, payment, steps };
  const { payer } = payment;
  const session = openSession({ ...about, ended: false, committed: false, payer, claimed: undefined, turn: 0 });
  current = session;
  await checkMemory();
  await proceed(session);
}

/** After this page has sent a payment it never says that nothing was paid: the browser may have ended the worker. */
async function connect(): Promise<Channel> {
  try {
    return await openChannel(location);
  } catch (error) {
    if (!(error instanceof NoRequestError)) throw error;
    // Only the worker's URLs are made for one request each.
    const isWorkers = !new URLSearchParams(location.search).has('mode');
    left = await findPaymentOf(location.href, isWorkers ? ['unconfirmed', 'paid'] : ['unconfirmed']);
    if (!left) throw error;
    return deafChannel(left.asker);
  }
}

/** Goes on where this payment stands: at its receipt, its sending, or its approval. */
async function proceed(session: Session): Promise<void> {
  const known = await recall(session.payment);
  if (known && !isOver(known)) return resume(session, known);
  // Only for an order that was never signed here: a reload may come after the end.
  const rest = session.payment.expiresAt - Date.now();
  if (rest < SIGNING_MS_MIN) throw new EndedError(rest > 0 ? 'ending' : '');
  if (!hasPasskeys()) return problem('passkeys_unavailable');
  await review(session);
}

/** A payment that was approved before: by this window, another tab, or one that was closed. */
async function resume(session: Session, known: StoredPayment): Promise<void> {
  // A payment that was sent needs no permission, but the worker must know that it can no longer be taken back.
  session.committed ||= known.state !== 'signed';
  if (session.committed) await session.channel.commit();
  await follow(followingOf(session), known);
}

/**
 * Shows a problem. A payment that this device signed for the order comes first: it may be paid, also after an error
 * here.
 */
async function problem(of: Problem, again?: () => Promise<void>, detail?: string): Promise<void> {
  const name = nameOfAsked();
  const find = async () => (name === undefined ? undefined : findLiveHash(name));
  const around = { channel, again: again && (() => void guard(again, again)), detail, findLive: find };
  const session = current;
  try {
    const live = of === 'other_terms' ? undefined : await findLive();
    if (live && session && of !== 'unexpected') return await guard(() => resume(session, live), start);
    showProblem(of, around);
  } catch {
    // The signed payments cannot be read, so the page says nothing of them.
    showProblem('no_memory', around);
  }
}

/** The record of the order that is asked for, unless it is over; also of a request with faults. */
async function findLive(): Promise<StoredPayment | undefined> {
  const name = nameOfAsked();
  const known = name === undefined ? undefined : await findPayment(name);
  return known && isLive(known) ? known : undefined;
}

function nameOfAsked(): string | undefined {
  const { asker, id } = channel?.asked ?? {};
  return asker && typeof id === 'string' ? nameOf({ asker, id }) : undefined;
}

/** Runs a step of the page. Its errors become words, with a way to try again where that can help. */
async function guard(run: () => Promise<void>, again: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { of, canRetry, detail } = problemOf(error);
    if (of === 'unexpected') console.error(error);
    void problem(of, canRetry ? again : undefined, detail);
  }
}
