/** The limits of the confirm page, unit last. */

/** Lifetime of a request, unless the shop set an earlier end. Chromium ends a worker's event after five minutes. */
export const REQUEST_MS = 4 * 60_000;
/** Links whose first opening this device remembers. */
export const LINKS_MAX = 100;
/** A quote older than this is requested again before approval. */
export const QUOTE_MS = 60_000;
/** A button that moves money reacts only after this time, so that a click meant for another window cannot hit it. */
export const ARMING_MS = 600;
/** A request that ends sooner is not signed any more: bundlers refuse what ends in a few seconds. */
export const SIGNING_MS_MIN = 10_000;
/** So long after its end a payment without a receipt is sent again, so that the bundler says what became of it. */
export const LATE_MS = 20_000;
/** Pause between looks for money that the account lacks. */
export const FUNDS_POLL_MS = 4_000;
/** Pause between polls for the receipt, and when the page says that it is slow. */
export const RECEIPT_POLL_MS = 1_000;
export const RECEIPT_SLOW_MS = 45_000;
/** Polls for the receipt of an operation whose nonce is spent, before another operation is assumed to have spent it. */
export const SPENT_LOOKS = 5;
/** After this time without an answer the browser, the shop or the vault counts as gone. */
export const CHANNEL_MS = 5_000;
/** What a shop may send. */
export const ID_CHARS_MAX = 256;
export const LABEL_CHARS_MAX = 80;
export const URL_CHARS_MAX = 2_048;
/** How long this device keeps a finished payment: a shop that asks again in this time gets the receipt. */
export const PAYMENT_KEEP_MS = 90 * 86_400_000;
