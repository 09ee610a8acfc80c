// One payment on the page, from its request to its signature.

import type { Hex } from '../../client/wallet/bytes.ts';
import type { Enclave } from '../../client/wallet/enclave.ts';
import type { Config } from '../../client/wallet/vault.ts';
import type { Payer } from '../wallet/payer.ts';
import type { Channel } from './channel.ts';
import { SIGNING_MS_MIN } from './constants.ts';
import type { Following } from './follow.ts';
import type { Payment } from './request.ts';
import type { StoredPayment } from './store.ts';
import type { Problem } from './words.ts';

/** One payment on this page. */
export interface Session {
  readonly channel: Channel;
  readonly config: Config;
  readonly enclave: Enclave;
  readonly payment: Payment;
  readonly steps: Steps;
  /** Over for the shop: nothing may be sent any more. */
  ended: boolean;
  /** The signature is on its way: nothing ends it any more. */
  committed: boolean;
  /** The payer that the shop names, while the page uses it. */
  payer: Payer | undefined;
  /** The account that only the shop's hint says is the person's. */
  claimed: Hex | undefined;
  /** Counts what the person was shown: an approval that waits is void once they chose another account, or left. */
  turn: number;
}

/** The steps of the page that others lead back to. */
export interface Steps {
  /** Runs a step; shows what it throws, with a way to `again`. */
  readonly guard: (run: () => Promise<void>, again: () => Promise<void>) => Promise<void>;
  readonly problem: (of: Problem, again?: () => Promise<void>, detail?: string) => Promise<void>;
  /** Goes on where the payment stands. */
  readonly proceed: (session: Session) => Promise<void>;
  /** Follows a payment that was signed. */
  readonly resume: (session: Session, known: StoredPayment) => Promise<void>;
  /** The signed payment of this device for the order, unless it is over. */
  readonly findLive: () => Promise<StoredPayment | undefined>;
}

/** An end by the shop or the clock ends the session, unless the signature is on its way. */
export function openSession(session: Session): Session {
  const { channel: given, payment } = session;
  const end = (why: Problem) => {
    if (session.committed || session.ended) return;
    session.ended = true;
    void session.steps.problem(why);
  };
  given.onEnd = (why) => end(why === 'gone' ? 'no_request' : why);
  const rest = payment.expiresAt - SIGNING_MS_MIN - Date.now();
  if (rest > 0) setTimeout(() => end('ending'), rest);
  const commit = async () => {
    const isGiven = !session.ended && Date.now() < payment.expiresAt && (await given.commit());
    session.committed ||= isGiven;
    return session.committed;
  };
  return Object.assign(session, { channel: { ...given, commit } });
}

/** The parts needed to follow the session's payment. */
export function followingOf(session: Session): Following {
  const { channel, config, enclave, payment, steps } = session;
  const restart = () => {
    session.committed = false;
    const proceed = () => steps.proceed(session);
    void steps.guard(proceed, proceed);
  };
  return { channel, config, enclave, endsBy: payment.expiresAt, restart };
}
