import * as v from 'valibot';

// The shapes of the answers (completions section 8). Those of an upstream are cut to them, so that all modes answer
// alike.

const hash = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/), v.toLowerCase());
const address = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/), v.toLowerCase());
const digits = v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.regex(/^\d{1,16}$/));
const count = v.pipe(digits, v.transform(Number));
const cid = v.pipe(
  v.nullable(v.string()),
  v.transform((text) => text ?? ''),
);

function findable<E extends v.ObjectEntries>(entries: E) {
  return v.union([v.object({ found: v.literal(true), ...entries }), v.object({ found: v.literal(false) })]);
}

/** Where an event is; absent in an answer of the registry itself. */
const minedIn = { block_number: v.optional(digits), tx_hash: v.optional(hash) };

/** The answer of `aliases`. */
export const aliasShape = findable({
  alias_hash: hash,
  did_hash: hash,
  active: v.boolean(),
  controller: v.nullable(address),
});
/** The answer of `dids`. */
export const didShape = findable({
  did_hash: hash,
  controller: address,
  metadata_cid: cid,
  active: v.boolean(),
  ...minedIn,
});
/** The answer of `accounts`. */
export const accountShape = findable({ account_address: address, owner_address: address, ...minedIn });
/** The answer of `stats`. */
export const statisticsShape = v.object({
  total_dids: count,
  active_dids: count,
  total_aliases: count,
  total_accounts: count,
  last_block_number: digits,
});
/** The answer of `health`. */
export const healthShape = v.object({ ok: v.boolean(), chain: count });
