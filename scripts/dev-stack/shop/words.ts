// The page's words for failures: what happened, and what to do.

/** An error of the vault's client, as far as it is read. */
interface Thrown {
  readonly error?: string;
  readonly hint?: string;
  readonly retryAfter?: number;
  readonly message?: string;
}

/** By the word of a `VaultClientError`. */
const SIGN_UP: Readonly<Record<string, string>> = {
  identifier_taken: 'This address has an account already. Sign in with its passkey.',
  passkey_refused: 'No passkey was used. Send the address again: you go on where you were.',
  passkeys_unavailable:
    'This window has no passkeys. Open the shop in the browser itself, by the address of localhost.',
  passkey_unsupported: 'This device makes no passkey that the vault takes. Use another device.',
  not_confirmed_yet: 'Your account is on its way. Try again in a few seconds.',
  not_registered: 'This passkey has no account here. Sign up with your address first.',
  unreachable: 'The vault does not answer. Is npm start still running? Try again: nothing is lost.',
  registration_failed: 'The chain refused the registration. Sign up again.',
};

const PAYMENT: Readonly<Record<string, string>> = {
  cancelled: 'You closed the payment. Nothing was paid.',
  not_paid_yet: 'The payment ended without a receipt. Press Pay again: an order is paid once, however often you press.',
  expired: 'The payment took longer than four minutes, so nothing was signed. Press Pay again.',
  payment_blocked: 'The browser opened no window. Allow popups for this page, and press Pay again.',
  ended: 'The network did not take the payment in time. Nothing was paid. Press Pay again.',
  voided: 'You cancelled the payment on the network. Nothing was paid. This is a new order: press Pay.',
  reverted: 'The network refused the payment. Nothing was paid. This is a new order: press Pay.',
  spent: 'Your account did something else in its place. Nothing was paid. This is a new order: press Pay.',
  unreachable: 'The vault does not answer. Is npm start still running? Then press Pay again.',
};

/** By the reason of the server's finding. */
const REFUSED: Readonly<Record<string, string>> = {
  other_order: 'This payment is for another order. It was not counted for this one.',
  payment_used: 'This payment was counted for another order before.',
  order_paid: 'This order was paid before, by another payment. A real shop gives this one back.',
  reverted: 'The network took the payment back: no money was moved.',
  no_transfer: 'The transaction moved another amount, or to somebody else. This order is not paid.',
  other_chain: 'This payment is on another chain. This shop does not look there.',
  bad_receipt: 'This is not a receipt of a payment.',
};

function minutes(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} seconds`;
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3600)} hours`;
}

/** Why somebody is not signed in. */
export function signUpWords(thrown: unknown): string {
  const { error = '', hint, retryAfter, message } = thrown as Thrown;
  if (error === 'rate_limited') return `Too many tries. Try again in ${minutes(retryAfter ?? 60)}.`;
  return SIGN_UP[error] ?? hint ?? `It did not work: ${message}`;
}

/** Why there is no payment. */
export function paymentWords(thrown: unknown): string {
  const { error = '', hint, message } = thrown as Thrown;
  return PAYMENT[error] ?? hint ?? `No payment: ${message}`;
}

/** Why the server does not count a payment. */
export function refusalWords(reason: string): string {
  return REFUSED[reason] ?? `The server could not prove the payment (${reason}).`;
}

/** Time left, `0:42`. */
export function left(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
