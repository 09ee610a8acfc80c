/** The answers of a call that refuses; the header of `index.ts` repeats this table. */

/** Malformed by its standard: COSE, DER, client data, sealed box. */
export const MALFORMED: i32 = -1;
/** A length that this call does not take (a range outside the window traps instead). */
export const LENGTH: i32 = -2;
/** Entropy or secret is all zeros: written by nobody, or wiped by the call before. */
export const ZEROS: i32 = -3;
/** No key in this slot. */
export const NO_KEY: i32 = -4;
/** All slots hold a key. */
export const SLOTS_FULL: i32 = -5;
/** No such curve. */
export const CURVE: i32 = -6;
/** The wrong secret, or bytes that somebody changed. */
export const FORGED: i32 = -7;
/** The private key is out of range, or does not belong to the public key beside it. */
export const KEY: i32 = -8;
/** Shares that are damaged, too few, twice the same or of different splits. */
export const SHARES: i32 = -9;
/** A stream that was not started. */
export const STREAM: i32 = -10;
