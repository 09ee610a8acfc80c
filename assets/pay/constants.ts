/** The limits of the confirm page, unit last. */

/** Lifetime of a request, unless the shop set an earlier end. Chromium ends a worker's event after five minutes. */
export const REQUEST_MS = 4 * 60_000;
/** Links whose first opening this device remembers. */
export const LINKS_MAX = 100;
/** A quote older than this is requested again before approval. */
export const QUOTE_MS = 60_000;
/** With less time left nothing is signed: it could end before a block has it. */
export const SIGNING_MS_MIN = 90_000;
/** After this time the page says that the network is slow. */
export const SLOW_MS = 45_000;
/** How often an operation is sent again to a bundler that took it: it may have forgotten. */
export const RESEND_MS = 30_000;
/** Looks for a payment that another device made, and the pause between them. */
export const LOOKS_ELSEWHERE = 12;
export const LOOK_PAUSE_MS = 1_500;
/** Pause between looks for money that the account lacks. */
export const FUNDS_POLL_MS = 4_000;
/** After this time without an answer the browser, the shop or the vault counts as gone. */
export const CHANNEL_MS = 5_000;
/** The longest id of a shop's request. */
export const ID_CHARS_MAX = 256;
/** How long this device keeps a finished payment: a shop that asks again in this time gets the receipt. */
export const PAYMENT_KEEP_MS = 90 * 86_400_000;
