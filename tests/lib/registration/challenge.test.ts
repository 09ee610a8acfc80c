import { expect, test } from 'bun:test';
import { Hash, Hex } from 'ox';
import { parseIdentifier } from '../../../lib/identity/identifier.ts';
import {
  identifierHash,
  NO_HASH,
  type RegistrationConsent,
  registrationChallenge,
} from '../../../lib/registration/challenge.ts';

const agreement: RegistrationConsent = {
  registrarDidHash: `0x${'e5'.repeat(32)}`,
  chainId: 84532,
  registry: '0xd38972ffea26b66f09e2109e650887acd447e7b7',
  didHash: `0x${'d1'.repeat(32)}`,
  aliasHash: '0xde33a594f790944d1951e9c14e0889a38ebe41fc7d52787426fa31071bd1c4bc',
  smartAccount: '0x00000000000000000000000000000000000000aa',
  credentialId: 'AAECAwQFBgcICQoLDA0ODw',
  identifierHash: `0x${'1d'.repeat(32)}`,
  expiresAt: 1_704_067_500,
};
const signature = '0xd7f7be04eef7273839e5db8fe2628ad6f7b6a2437bb86d02015425fa62934deb';

test('the challenge is keccak256 of the ten words and the label, as abi.encode lays them out', () => {
  const words = [
    Hex.fromNumber(10 * 32, { size: 32 }),
    agreement.registrarDidHash,
    Hex.fromNumber(agreement.chainId, { size: 32 }),
    Hex.padLeft(agreement.registry, 32),
    agreement.didHash,
    agreement.aliasHash,
    Hex.padLeft(agreement.smartAccount, 32),
    Hash.keccak256('0x000102030405060708090a0b0c0d0e0f'),
    agreement.identifierHash,
    Hex.fromNumber(agreement.expiresAt, { size: 32 }),
    Hex.fromNumber('vault/register/v2'.length, { size: 32 }),
    Hex.padRight(Hex.fromString('vault/register/v2'), 32),
  ];
  expect(Hex.fromBytes(registrationChallenge(agreement))).toBe(Hash.keccak256(Hex.concat(...words)));
});

test('every member changes the challenge, so that a proof for one registration is none for another', () => {
  const others: Partial<RegistrationConsent>[] = [
    { registrarDidHash: agreement.didHash },
    { chainId: 8453 },
    { registry: agreement.smartAccount },
    { didHash: agreement.aliasHash },
    { aliasHash: agreement.didHash },
    { smartAccount: agreement.registry },
    { credentialId: 'AAECAwQFBgcICQoLDA0OEA' },
    { identifierHash: agreement.didHash },
    { expiresAt: agreement.expiresAt + 1 },
  ];
  const challenges = [{}, ...others].map((other) => Hex.fromBytes(registrationChallenge({ ...agreement, ...other })));
  expect(others.map((other) => Object.keys(other)[0] ?? '').sort()).toEqual(Object.keys(agreement).sort());
  expect(new Set(challenges).size).toBe(others.length + 1);
});

test('an address means the same in either case', () => {
  const mixed = { ...agreement, registry: '0xD38972fFEA26b66f09e2109E650887aCD447E7B7' } as const;
  expect(registrationChallenge(mixed)).toEqual(registrationChallenge(agreement));
});

test('the identifier is tied to its attestation, in normal form; a handle has none', () => {
  const alice = parseIdentifier('email', 'Alice@Example.com');
  const expected = Hash.keccak256(Hex.concat(signature, Hex.fromString('email:alice@example.com')));
  expect(identifierHash(alice, signature)).toBe(expected);
  expect(identifierHash(parseIdentifier('email', 'alice@example.com'), signature)).toBe(expected);
  expect(identifierHash(parseIdentifier('email', 'alice2@example.com'), signature)).not.toBe(expected);
  expect(identifierHash(alice, signature.replace(/.$/, '0'))).not.toBe(expected);
  expect(identifierHash(parseIdentifier('handle', 'alice'), undefined)).toBe(NO_HASH);
  expect(identifierHash(parseIdentifier('handle', 'alice'), signature)).toBe(NO_HASH);
});
