/** The limits of accounts' operations, unit last. */

/** After this time without an answer the vault counts as gone. */
export const API_MS = 25_000;
/**
 * The least gas an operation asks for. Estimates alone are too low: of the verification because they are made with a
 * signature over something else, which is refused before its P-256 half has cost anything.
 */
export const VERIFICATION_GAS_MIN = 300_000n;
export const CALL_GAS_MIN = 150_000n;
/** Extra verification gas where the chain has no precompile for P-256. */
export const VERIFICATION_GAS_WITHOUT_P256 = 250_000n;
/** How long a signed operation of an account of kind 2 can be included, in seconds of the chain's time. */
export const VALID_SECONDS_MAX = 600;
