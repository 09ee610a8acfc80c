import { describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { ATTESTATION_TTL_SECONDS } from '../../../lib/constants.ts';
import { parseIdentifier } from '../../../lib/identity/identifier.ts';
import { type Attestation, openAttestation, signAttestation } from '../../../lib/verification/attestation.ts';
import { always } from '../../support/property.ts';

const key = Uint8Array.from({ length: 32 }, (_, i) => i);
const other = key.toReversed();

const signed = signAttestation([key], {
  identifier: parseIdentifier('email', 'alice@example.com'),
  verifiedAt: Date.UTC(2024, 0, 1),
  ttlSeconds: ATTESTATION_TTL_SECONDS,
  registrar: 'did:web:vault.example.com',
});

/**
 * Claims signed by another implementation, whatever they say: the members in RFC 8785 order, so `JSON.stringify` is
 * their canonical form.
 */
function forge(claims: Partial<Attestation>, by = key): Attestation {
  const { channel, expires_at, identifier, registrar, verified_at } = { ...signed, ...claims };
  const all = { channel, expires_at, identifier, registrar, verified_at };
  const mac = createHmac('sha256', by).update(`vault/attestation/v1\0${JSON.stringify(all)}`);
  return { ...all, signature: `0x${mac.digest('hex')}` };
}

test('the published vector', () => {
  expect(signed).toEqual({
    identifier: 'alice@example.com',
    channel: 'email',
    verified_at: '2024-01-01T00:00:00.000Z',
    expires_at: '2024-01-01T00:05:00.000Z',
    registrar: 'did:web:vault.example.com',
    signature: '0xd7f7be04eef7273839e5db8fe2628ad6f7b6a2437bb86d02015425fa62934deb',
  });
  expect(openAttestation([key], signed)).toEqual(signed);
});

test('what is signed is the RFC 8785 form, whatever characters the members hold', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom(...'"\\/\u2028\u0007\u007fäé€𝄞'), fc.constant('a')),
    maxLength: 12,
  });
  always(fc.tuple(text, text), ([value, registrar]) => {
    const identifier = { channel: 'email', value, key: `email:${value}` } as const;
    const attestation = signAttestation([key], { identifier, registrar, verifiedAt: 0, ttlSeconds: 1 });
    expect(attestation.signature).toBe(forge(attestation).signature);
    expect(openAttestation([key], attestation)).toEqual(attestation);
  });
});

describe('an attestation is refused', () => {
  const members = Object.keys(signed) as (keyof Attestation)[];

  test('after any change of any member', () => {
    const edit = fc.record({
      at: fc.nat(70),
      drop: fc.nat(2),
      insert: fc.string({ unit: 'grapheme-ascii', maxLength: 2 }),
    });
    always(fc.tuple(fc.constantFrom(...members), edit), ([name, { at, drop, insert }]) => {
      const text = signed[name];
      const changed = text.slice(0, at) + insert + text.slice(at + drop);
      if (changed !== text) expect(openAttestation([key], { ...signed, [name]: changed })).toBeUndefined();
    });
  });

  test.each(members)('without its %s, or with one that is no string', (name) => {
    const { [name]: _, ...rest } = signed;
    expect(openAttestation([key], rest)).toBeUndefined();
    for (const value of [null, 7, true, [signed[name]], { toString: () => signed[name] }]) {
      expect(openAttestation([key], { ...signed, [name]: value })).toBeUndefined();
    }
  });

  test.each([[undefined], [null], ['text'], [7], [true], [[]], [{}], [() => signed], [JSON.stringify(signed)]])(
    'when it is %p',
    (value) => {
      expect(openAttestation([key], value)).toBeUndefined();
    },
  );

  test('when a member holds a lone surrogate, though the MAC fits', () => {
    for (const name of ['identifier', 'channel', 'registrar'] as const) {
      expect(openAttestation([key], forge({ [name]: 'a\ud800b' }))).toBeUndefined();
      expect(openAttestation([key], forge({ [name]: 'a\ufffdb' }))).toBeDefined();
    }
  });

  test.each([
    '2024-01-01',
    '2024-01-01T00:00:00Z',
    '2024-01-01T00:00:00.000+00:00',
    '+010000-01-01T00:00:00.000Z',
    '',
    'soon',
  ])('when a time reads %p, though the MAC fits', (time) => {
    expect(openAttestation([key], forge({ verified_at: time }))).toBeUndefined();
    expect(openAttestation([key], forge({ expires_at: time }))).toBeUndefined();
  });

  test.each([
    ['no prefix', signed.signature.slice(2)],
    ['capitals', `0x${signed.signature.slice(2).toUpperCase()}`],
    ['a byte less', signed.signature.slice(0, -2)],
    ['a byte more', `${signed.signature}00`],
    ['white space', `${signed.signature} `],
    ['another encoding', Buffer.from(signed.signature.slice(2), 'hex').toString('base64')],
  ])('when its signature has %s: there is one spelling', (_, signature) => {
    expect(openAttestation([key], { ...signed, signature })).toBeUndefined();
  });
});

describe('keys', () => {
  test('the first signs, and all open: an attestation of the previous key lives through a rotation', () => {
    const old = forge({}, other);
    expect(openAttestation([key, other], old)).toEqual(old);
    expect(openAttestation([other, key], signed)).toEqual(signed);
    expect(openAttestation([key], old)).toBeUndefined();
    const identifier = parseIdentifier('email', 'alice@example.com');
    const claims = { identifier, verifiedAt: Date.UTC(2024, 0, 1), ttlSeconds: 300, registrar: signed.registrar };
    expect(signAttestation([key, other], claims)).toEqual(signed);
    expect(signAttestation([other, key], claims)).toEqual(old);
  });

  test.each(['registration', 'recovery'] as const)('that of a code for %s opens as that alone', (purpose) => {
    const identifier = parseIdentifier('email', 'alice@example.com');
    const attestation = signAttestation([key], { ...signed, identifier, verifiedAt: 0, ttlSeconds: 1, purpose });
    const { signature, ...claims } = attestation;
    const label = purpose === 'registration' ? 'vault/attestation/v1' : `vault/attestation/${purpose}/v1`;
    const mac = createHmac('sha256', key).update(`${label}\0${JSON.stringify(claims, Object.keys(claims).sort())}`);
    expect(signature).toBe(`0x${mac.digest('hex')}`);
    for (const asked of ['registration', 'recovery'] as const)
      expect(openAttestation([key], attestation, asked)).toEqual(asked === purpose ? attestation : undefined);
  });

  test('the label keeps other MACs under the same key from passing for attestations', () => {
    const { signature: _, ...claims } = signed;
    for (const label of ['', 'vault/attestation/v2\0', 'vault/attestation/v1']) {
      const mac = createHmac('sha256', key).update(label + JSON.stringify(claims, Object.keys(claims).sort()));
      expect(openAttestation([key], { ...claims, signature: `0x${mac.digest('hex')}` })).toBeUndefined();
    }
  });
});

test('unknown members are ignored, and their order is no matter', () => {
  const reversed = Object.fromEntries(Object.entries(signed).toReversed());
  expect(openAttestation([key], { ...reversed, admin: true, nested: { deep: [] } })).toMatchObject(signed);
});

test('expiry, registrar and owner are judged by the caller, who knows the time and whose it should be', () => {
  const foreign = forge({
    expires_at: '1970-01-01T00:00:00.000Z',
    registrar: 'did:web:elsewhere.example',
    identifier: 'bob',
  });
  expect(openAttestation([key], foreign)).toEqual(foreign);
});

test.each([1, ATTESTATION_TTL_SECONDS, 86_400])('it expires exactly %i s after the check', (ttlSeconds) => {
  const verifiedAt = Date.UTC(2025, 5, 1, 12, 0, 0, 123);
  const identifier = parseIdentifier('sms', '+14155550100');
  const { verified_at, expires_at } = signAttestation([key], {
    identifier,
    verifiedAt,
    ttlSeconds,
    registrar: 'did:a:b',
  });
  expect(verified_at).toBe('2025-06-01T12:00:00.123Z');
  expect(Date.parse(expires_at) - Date.parse(verified_at)).toBe(ttlSeconds * 1000);
});
