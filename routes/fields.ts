import * as v from 'valibot';
import { languageTag } from '../lib/base/language.ts';
import { TEXT_CHARS_MAX } from '../lib/constants.ts';
import { DID_CHARS_MAX } from '../lib/identity/did.ts';
import { CHANNELS, type ProvableChannel } from '../lib/identity/identifier.ts';
import { CREDENTIAL_ID_CHARS_MAX } from '../lib/identity/passkey.ts';
import { textField, word } from './http/fields.ts';

/** Lengths in UTF-16 code units. */
export const IDENTIFIER_CHARS_MAX = 320;
export const CODE_CHARS_MAX = 32;

const UINT256_MAX = 2n ** 256n - 1n;

const SINCE = 'Invalid since: expected a block number';

/** The errors that refuse a newcomer where registration is not open to all. */
export const ADMISSION_ERRORS = [
  'registration_closed',
  'invite_required',
  'invite_invalid',
  'mail_domain_refused',
] as const;

/** The fields that several routes share. */
export const identifierText = textField('identifier', IDENTIFIER_CHARS_MAX);
export const aliasText = textField('alias', IDENTIFIER_CHARS_MAX);
export const didText = word('did', DID_CHARS_MAX);
export const credentialIdText = word('credentialId', CREDENTIAL_ID_CHARS_MAX);
/** A code as a person copies it from a message: blanks and dashes between its digits do not make it wrong. */
export const codeText = v.pipe(
  textField('code', CODE_CHARS_MAX),
  v.transform((code) => code.replace(/[\s\p{Dash}]/gu, '')),
  v.minLength(1, 'Invalid code'),
);

/** A challenge or a pass, as the vault gave it out. */
export function ticketText(name: 'challenge' | 'pass') {
  return word(name, 64);
}

/** The proof of a holder's key, a JWT: its form is judged with the rest of it. */
export const holderText = v.string('Invalid holder');

/** The token of an invite. */
export const inviteText = word('invite', 64);

/** A value that a service judges itself, in its own words; clients send what `wire` says. */
export function judged<S extends v.GenericSchema>(wire: S) {
  const any: v.GenericSchema<unknown, unknown> = v.pipe(v.unknown(), v.metadata({ wire }));
  return any as v.GenericSchema<v.InferInput<S>, unknown>;
}

/** The number of a registration. */
export const registrationId = v.pipe(v.number('Invalid id'), v.safeInteger('Invalid id'), v.minValue(1, 'Invalid id'));

/** A language (RFC 5646, or `de_DE`); one that the vault does not have is the nearest that it has. */
export const languageText = v.pipe(
  word('lang', 64),
  v.check((tag) => languageTag(tag.replaceAll('_', '-')) !== undefined, 'Invalid lang'),
);

/** The language in a page's address; an unknown one is ignored. */
export const pageLanguage = v.pipe(
  v.string('Invalid lang'),
  v.transform((tag) => languageTag(tag.replaceAll('_', '-'))),
);

/** True or false. */
export function flag(name: string) {
  return v.boolean(`Invalid ${name}`);
}

/** Any of the three channels. */
export const channelName = v.picklist(CHANNELS, 'Invalid channel. Must be "sms", "email" or "handle"');

/** A channel that takes one-time codes. */
export const provableChannelName = v.picklist(
  ['sms', 'email'] as const satisfies readonly ProvableChannel[],
  'Invalid channel. Must be "sms" or "email"',
);

/** Name of an app. */
export const appName = v.pipe(v.string('Invalid app'), v.regex(/^[a-z0-9-]{1,64}$/, 'Invalid app'));

/** Name of an app, or `*` for all of them. */
export const appOrAll = v.pipe(v.string('Invalid app'), v.regex(/^(?:\*|[a-z0-9-]{1,64})$/, 'Invalid app'));

/** The app in a page's address; an unknown one is ignored. */
export const pageApp = v.pipe(
  v.string('Invalid app'),
  v.transform((name) => (v.is(appName, name) ? name : undefined)),
);

/** 32 bytes, 0x-hex, lower-cased. */
export function hashText(name: string) {
  const message = `Invalid ${name}: expected 32-byte hash`;
  return v.pipe(v.string(message), v.regex(/^0x[0-9a-fA-F]{64}$/, message), v.toLowerCase());
}

/** `native` or the address of a token, lower-cased. */
export const tokenName = v.union(
  [v.pipe(v.string(), v.toLowerCase(), v.literal('native')), addressText('token')],
  'Invalid token: expected native or a 20-byte address',
);

/** A number below 2²⁵⁶ in decimal digits. */
export const amountText = uint256Field(/^\d+$/, 'Invalid amount: expected uint256 decimal string');

/** The same, above 0. */
export const priceText = v.pipe(amountText, v.minValue(1n, 'Invalid amount: expected a number above 0'));

/** The origin of a page, as `location.origin` says it or otherwise. */
export function originText(name: string) {
  const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin !== 'null';
  return v.pipe(
    textField(name),
    v.check(isOrigin, `Invalid ${name}: expected an origin, such as https://shop.example`),
  );
}

/** The nonce of a user operation: a number below 2²⁵⁶ in 0x-hex. */
export const nonceHex = uint256Field(/^0x[0-9a-fA-F]+$/, 'Invalid nonce: expected uint256 hex string');

/** A chain's number in decimal digits. */
export const chainIdText = v.pipe(
  v.string('Invalid chainId'),
  v.regex(/^\d{1,15}$/, 'Invalid chainId'),
  v.transform((digits) => Number(digits)),
);

/** A time in seconds since 1970, from 2001 to 5138: neither milliseconds nor the number of a block. */
export function secondsText(name: string) {
  const message = `Invalid ${name}: expected seconds since 1970`;
  return v.pipe(
    v.string(message),
    v.regex(/^[1-9]\d{9,10}$/, message),
    v.transform((digits) => Number(digits)),
  );
}

/** A block number in decimal digits. */
export const sinceText = v.pipe(
  v.string(SINCE),
  v.regex(/^\d{1,15}$/, SINCE),
  v.transform((digits) => Number(digits)),
);

/** A transaction hash, 0x-hex of 32 bytes, lower-cased. */
export const txHashText = v.pipe(
  textField('txHash'),
  v.regex(/^0x[0-9a-fA-F]{64}$/, 'Invalid txHash'),
  v.toLowerCase(),
);

/** A nonce of the vault's for a touch of a passkey. */
export const nonceText = word('nonce', 64);

/** A text of this form. */
export function patternText(name: string, pattern: RegExp) {
  const message = `Invalid ${name}`;
  return v.pipe(v.string(message), v.regex(pattern, message));
}

/** A 20-byte EVM address, lower-cased. */
export function addressText(name: string) {
  const message = `Invalid ${name}: expected 20-byte address`;
  return v.pipe(v.string(message), v.regex(/^0x[0-9a-fA-F]{40}$/, message), v.toLowerCase());
}

/** A coordinate of an account's P-256 key. */
export const pubKeyHex = uint256Hex('Invalid pubKeyX or pubKeyY: expected uint256 hex string');

/** That an order was paid by an authorization (EIP-3009), and not by an operation. */
export const byAuthorization = v.literal('authorization', 'Invalid by: expected authorization');

/** The number that tells accounts of one key apart. */
export const saltNumber = uint256('Invalid salt: expected uint256 decimal or hex string');

/** The kind of an account: 1 by default. */
export const accountKind = v.pipe(
  v.picklist(['1', '2'], 'Invalid kind: expected 1 or 2'),
  v.transform((kind) => (kind === '1' ? 1 : 2)),
);

/** A block number as a JSON number. */
export const blockNumberValue = wholeNumber('Invalid blockNumber');

/** The end of a proof, in seconds since 1970, as a JSON number. */
export const proofExpiresAtValue = wholeNumber('Invalid proofExpiresAt');

function wholeNumber(message: string) {
  return v.pipe(v.number(message), v.safeInteger(message), v.minValue(0, message));
}

/** A number below 2²⁵⁶ in hex, with or without 0x; an odd number of digits and leading zeros are as good as any. */
function uint256Hex(message: string) {
  const toBigInt = (digits: string) => BigInt(digits.startsWith('0x') ? digits : `0x${digits}`);
  return v.pipe(
    uint256Digits(/^(?:0x)?[0-9a-fA-F]+$/, message),
    v.transform(toBigInt),
    v.maxValue(UINT256_MAX, message),
  );
}

/** A number below 2²⁵⁶, decimal or in hex with 0x. */
function uint256(message: string) {
  return uint256Field(/^(?:\d+|0x[0-9a-fA-F]+)$/, message);
}

function uint256Field(pattern: RegExp, message: string) {
  return v.pipe(
    uint256Digits(pattern, message),
    v.transform((digits) => BigInt(digits)),
    v.maxValue(UINT256_MAX, message),
  );
}

function uint256Digits(pattern: RegExp, message: string) {
  return v.pipe(v.string(message), v.maxLength(TEXT_CHARS_MAX, message), v.regex(pattern, message));
}
