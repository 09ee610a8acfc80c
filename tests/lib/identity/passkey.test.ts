import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { Hex, P256, type Signature } from 'ox';
import { fromBase64, toBase64url } from '../../../lib/base/bytes.ts';
import { type Assertion, assertionOf, parseCredentialId, verifyAssertion } from '../../../lib/identity/passkey.ts';
import { type Ceremony, createPasskey } from '../../support/passkey.ts';
import { always } from '../../support/property.ts';
import { SEED } from '../../support/seed.ts';

const challenge = Uint8Array.from({ length: 32 }, (_, i) => i);
const passkey = createPasskey();
const good = passkey.assert(challenge);

const verify = (assertion: Assertion, key = passkey.key) => verifyAssertion(assertion, challenge, key);
const judge = (ceremony: Ceremony) => verify(passkey.assert(challenge, ceremony));
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));

describe('an assertion is good', () => {
  test('when the key signed the challenge with a user present, verified or not', async () => {
    expect(await verify(good)).toBe(true);
    expect(await judge({ flags: 0x01 })).toBe(true);
    expect(await judge({ flags: 0x1d })).toBe(true);
  });

  test('from any origin, with members and extension data of later levels of the standard', async () => {
    expect(await judge({ origin: 'android:apk-key-hash:abc' })).toBe(true);
    expect(await judge({ clientData: { topOrigin: 'https://other.example', later: [1] } })).toBe(true);
    const extended = new Uint8Array([...bytesOf(good.authenticatorData), 0xa0]);
    expect(await judge({ authenticatorData: extended, flags: 0x85 })).toBe(true);
  });

  test('with a high s as with a low one, since authenticators make both', async () => {
    const mirror = ({ r, s }: Signature.Signature) => der(BigInt(r), ORDER - BigInt(s));
    expect(await judge({ encode: mirror })).toBe(true);
  });

  test('with integers that are shorter than 32 bytes', async () => {
    for (let nonce = 0; ; nonce++) {
      const assertion = passkey.assert(challenge, { clientData: { nonce } });
      if (bytesOf(assertion.signature).length >= 70) continue;
      expect(await verify(assertion)).toBe(true);
      return;
    }
  });
});

describe('an assertion is bad', () => {
  test.each<[string, Ceremony]>([
    ['another type of ceremony', { clientData: { type: 'webauthn.create' } }],
    ['a payment', { clientData: { type: 'payment.get' } }],
    ['another challenge', { clientData: { challenge: base64url(challenge.with(0, 1)) } }],
    ['the beginning of the challenge', { clientData: { challenge: base64url(challenge.subarray(0, 31)) } }],
    ['a padded challenge', { clientData: { challenge: `${base64url(challenge)}=` } }],
    ['a challenge that is no string', { clientData: { challenge: [base64url(challenge)] } }],
    ['an empty challenge', { clientData: { challenge: '' } }],
    ['no user present', { flags: 0x04 }],
    ['no flags at all', { flags: 0x00 }],
    ['authenticator data cut short', { authenticatorData: bytesOf(good.authenticatorData).subarray(0, 36) }],
    ['client data that is null', { clientDataJSON: json(null) }],
    ['client data that is text', { clientDataJSON: json('webauthn.get') }],
    ['client data that is no JSON', { clientDataJSON: new TextEncoder().encode('{') }],
    ['client data that is no UTF-8', { clientDataJSON: new Uint8Array([...bytesOf(good.clientDataJSON), 0xff]) }],
  ])('with %s', async (_, ceremony) => {
    expect(await judge(ceremony)).toBe(false);
  });

  test('under another key, a point off the curve, or none', async () => {
    expect(await verify(good, createPasskey().key)).toBe(false);
    expect(await verify(good, { x: passkey.key.y, y: passkey.key.x })).toBe(false);
    expect(await verify(good, { x: new Uint8Array(32), y: new Uint8Array(32) })).toBe(false);
    expect(await verify(good, { x: passkey.key.x, y: new Uint8Array(31) })).toBe(false);
  });

  test('for another challenge than the one it names', async () => {
    expect(await verifyAssertion(good, challenge.with(31, 0), passkey.key)).toBe(false);
    expect(await verifyAssertion(good, new Uint8Array(), passkey.key)).toBe(false);
  });

  test('after any one bit of it changed', async () => {
    for (const name of ['authenticatorData', 'clientDataJSON', 'signature'] as const) {
      const bytes = bytesOf(good[name]);
      for (let bit = 0; bit < 8 * bytes.length; bit += 3) {
        const changed = bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)));
        expect(await verify({ ...good, [name]: base64url(changed) })).toBe(false);
      }
    }
  });

  test('when it is made of any bytes at all, and judging it never throws', async () => {
    const member = fc.uint8Array({ minLength: 1, maxLength: 80 }).map(base64url);
    const assertion = fc.record({ authenticatorData: member, clientDataJSON: member, signature: member });
    await fc.assert(
      fc.asyncProperty(assertion, async (made) => !(await verify(made))),
      { seed: SEED },
    );
    await fc.assert(
      fc.asyncProperty(member, async (signature) => !(await verify({ ...good, signature }))),
      { seed: SEED },
    );
  });
});

describe('a signature in DER (X.690 section 8.3)', () => {
  const split = (encode: (r: number[], s: number[]) => number[]): Ceremony => ({
    encode: ({ r, s }) => Uint8Array.from(encode(integer(BigInt(r)), integer(BigInt(s)))),
  });

  test('is read when it has the one and only form', async () => {
    expect(await judge(split((r, s) => tlv(0x30, [...tlv(0x02, r), ...tlv(0x02, s)])))).toBe(true);
  });

  test.each<[string, Ceremony]>([
    ['r and s without their encoding', { encode: ({ r, s }) => Hex.toBytes(Hex.concat(r, s)) }],
    ['a length in the long form', split((r, s) => [0x30, 0x81, r.length + s.length + 4, ...pair(r, s)])],
    ['an indefinite length', split((r, s) => [0x30, 0x80, ...pair(r, s), 0, 0])],
    ['a length too short', split((r, s) => [0x30, r.length + s.length + 3, ...pair(r, s)])],
    ['a length too long', split((r, s) => [0x30, r.length + s.length + 5, ...pair(r, s)])],
    ['a byte behind it', split((r, s) => [...tlv(0x30, pair(r, s)), 0])],
    ['a byte behind its integers', split((r, s) => tlv(0x30, [...pair(r, s), 0]))],
    ['a third integer', split((r, s) => tlv(0x30, [...pair(r, s), ...tlv(0x02, [1])]))],
    ['one integer only', split((r) => tlv(0x30, tlv(0x02, r)))],
    ['no integers', split(() => [0x30, 0])],
    ['a set in place of the sequence', split((r, s) => tlv(0x31, pair(r, s)))],
    ['a bit string in place of r', split((r, s) => tlv(0x30, [...tlv(0x03, r), ...tlv(0x02, s)]))],
    ['a bit string in place of s', split((r, s) => tlv(0x30, [...tlv(0x02, r), ...tlv(0x03, s)]))],
    ['a zero too many before r', split((r, s) => tlv(0x30, pair([0, ...r], s)))],
    ['a zero too many before s', split((r, s) => tlv(0x30, pair(r, [0, ...s])))],
    ['an r without bytes', split((_, s) => tlv(0x30, pair([], s)))],
    ['an s without bytes', split((r) => tlv(0x30, pair(r, [])))],
    ['an r of zero', split((_, s) => tlv(0x30, pair([0], s)))],
    ['an s of zero', split((r) => tlv(0x30, pair(r, [0])))],
    ['a negative r', split((r, s) => tlv(0x30, pair([0x80 | (r.at(-32) ?? 0), ...r.slice(-31)], s)))],
    ['an r one order up', { encode: ({ r, s }) => der(BigInt(r) + ORDER, BigInt(s)) }],
    ['an s one order up', { encode: ({ r, s }) => der(BigInt(r), BigInt(s) + ORDER) }],
    ['integers of more than 32 bytes', split((r, s) => tlv(0x30, pair([1, ...Array(32).fill(0)], [...s, ...r])))],
  ])('is refused with %s', async (_, ceremony) => {
    expect(await judge(ceremony)).toBe(false);
  });
});

describe('the proof of a request', () => {
  test('is an assertion of three members, others are dropped', () => {
    expect(assertionOf({ ...good, userHandle: 'AA' })).toEqual(good);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'AAAA'],
    ['a list', [good]],
    ['a member missing', { ...good, signature: undefined }],
    ['an empty member', { ...good, signature: '' }],
    ['a member that is no string', { ...good, signature: [good.signature] }],
    ['a member that is not base64', { ...good, clientDataJSON: '{}' }],
    ['a member with bits behind its last byte', { ...good, signature: 'AB' }],
    ['a member that is too long', { ...good, authenticatorData: 'A'.repeat(4100) }],
  ])('is 400 Invalid proof for %s', (_, value) => {
    expect(() => assertionOf(value)).toThrow('Invalid proof');
  });
});

const ORDER = P256.noble.Point.Fn.ORDER;

function der(r: bigint, s: bigint): Uint8Array {
  return Uint8Array.from(tlv(0x30, pair(integer(r), integer(s))));
}

function pair(r: number[], s: number[]): number[] {
  return [...tlv(0x02, r), ...tlv(0x02, s)];
}

function tlv(tag: number, content: number[]): number[] {
  return [tag, content.length, ...content];
}

/** The content of a positive INTEGER: as short as it can be, with a zero where the first bit is set. */
function integer(value: bigint): number[] {
  const hex = value.toString(16);
  const bytes = [...Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')];
  return (bytes[0] ?? 0) & 0x80 ? [0, ...bytes] : bytes;
}

/** The canonical form, or the refusal's words. */
function canonical(text: string): string {
  try {
    return parseCredentialId(text);
  } catch (error) {
    expect(error).toMatchObject({ code: 'bad_request' });
    return (error as Error).message;
  }
}

/** The rule by decoding alone, without the shortcut that browsers' own form takes. */
function decoded(text: string): string {
  const bytes = fromBase64(text);
  return bytes && bytes.length >= 16 && bytes.length <= 1023 ? toBase64url(bytes) : 'Invalid credentialId';
}

const filled = (length: number) => new Uint8Array(length).fill(0xfb);

describe('a credential id', () => {
  test.each([
    [15, false],
    [16, true],
    [17, true],
    [18, true],
    [1021, true],
    [1022, true],
    [1023, true],
    [1024, false],
  ])('of %i bytes is accepted: %p, in every spelling', (length, expected) => {
    const buffer = Buffer.from(filled(length));
    const url = buffer.toString('base64url');
    const standard = buffer.toString('base64');
    const padded = url.padEnd(standard.length, '=');
    for (const text of [url, standard, padded, standard.replace(/=+$/, '')]) {
      expect(canonical(text)).toBe(expected ? url : 'Invalid credentialId');
    }
  });

  const REFUSED = ['', 'AAAAAAAAAAAAAAAAAAAAAB', 'AAAAAAAAAAAAAAAAAAAAAAAA!', 'AAAAAAAAAAAAAAAAAAAAAA=']
    .concat([
      'AAAAAAAAAAAAAAAAAAAAAA===',
      'AAAAAAAAAAA AAAAAAAAAAAA',
      'AAAAAAAAAAAAAAAAAAAAAA\n',
      'AAAAAAAAAAAAAAAAAAAAAAAAA',
    ])
    .map((text) => [text]);
  test.each(REFUSED)('%p is 400 Invalid credentialId', (text) => {
    expect(canonical(text)).toBe('Invalid credentialId');
  });

  test("browsers' own form, told without decoding, is the one that decoding gives", () => {
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const body = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 18, maxLength: 30 });
    const end = fc.string({ unit: fc.constantFrom(...alphabet, ...'AQgw+/=. \u0000é'), maxLength: 3 });
    always(
      fc.tuple(body, end).map((parts) => parts.join('')),
      (text) => expect(canonical(text)).toBe(decoded(text)),
      2_000,
    );
  });

  test('every last character is judged as decoding judges it, after one, two and three bytes', () => {
    for (let code = 0; code < 256; code++) {
      for (const body of ['A'.repeat(21), 'A'.repeat(22), 'A'.repeat(23), 'A'.repeat(24)]) {
        const text = body + String.fromCharCode(code);
        expect([text, canonical(text)]).toEqual([text, decoded(text)]);
      }
    }
  });
});
