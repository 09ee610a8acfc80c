// The API's answers, as schemas of the wire. The OpenAPI document and the client's types are made from them. Each
// exported schema is a component of the document under its name.
import * as v from 'valibot';

/** A schema with a sentence about it. */
export function about<S extends v.GenericSchema>(schema: S, sentence: string) {
  return v.pipe(schema, v.description(sentence));
}

/** One of these words. */
export function words<const Words extends readonly [string, ...string[]]>(...words: Words) {
  return v.picklist(words);
}

/** Text of a form. */
function text(form: RegExp, sentence: string) {
  return v.pipe(v.string(), v.regex(form), v.description(sentence));
}

/** A time. */
export const Time = text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'ISO 8601 in UTC, with milliseconds');
/** A DID. */
export const Did = about(v.string(), 'A DID');
/** A hash, or a word of the chain. */
export const Hash = text(/^0x[0-9a-f]{64}$/, '32 bytes in 0x-hex');
/** An address on the chain. */
export const Address = text(/^0x[0-9a-fA-F]{40}$/, 'An address, 20 bytes in 0x-hex');
/** A number as JSON-RPC writes it. */
export const Quantity = text(/^0x(?:0|[1-9a-f][0-9a-f]*)$/, 'A number in 0x-hex');
/** A number that JavaScript's numbers may not hold. */
export const Decimal = text(/^\d+$/, 'A number in decimal digits');

/** How many; 0 or more. */
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** A whole number. */
export const Whole = v.pipe(v.number(), v.integer());
/** The newest block that the follower has read. */
export const ReadBlock = v.pipe(v.number(), v.integer(), v.minValue(-1), v.description('-1 before the first block'));
/** A span in seconds. */
export const Seconds = v.pipe(v.number(), v.integer(), v.minValue(0), v.description('Seconds'));

/** A way to reach a person, or a name. */
export const Channel = v.picklist(['sms', 'email', 'handle']);

/** An answer that only says that it is done. */
export const Done = v.object({ ok: v.literal(true) });

/** The proof that an address is somebody's: valid for 300 seconds and for one use. */
export const Attestation = v.object({
  identifier: v.string(),
  channel: v.string(),
  verified_at: Time,
  expires_at: Time,
  registrar: Did,
  signature: Hash,
});

/** A WebAuthn assertion by the passkey, its members in base64url. */
export const Proof = v.object({ authenticatorData: v.string(), clientDataJSON: v.string(), signature: v.string() });
