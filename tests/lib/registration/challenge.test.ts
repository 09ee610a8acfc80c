import { expect, test } from 'bun:test';
import { Hash, Hex } from 'ox';
import { verifyAssertion } from '../../../lib/identity/passkey.ts';
import { type RegistrationConsent, registrationChallenge } from '../../../lib/registration/challenge.ts';
import { createPasskey } from '../../support/passkey.ts';

const agreement: RegistrationConsent = {
  chainId: 84532,
  registry: '0xd38972ffea26b66f09e2109e650887acd447e7b7',
  didHash: `0x${'d1'.repeat(32)}`,
  aliasHash: '0xde33a594f790944d1951e9c14e0889a38ebe41fc7d52787426fa31071bd1c4bc',
  smartAccount: '0x00000000000000000000000000000000000000aa',
  credentialId: 'AAECAwQFBgcICQoLDA0ODw',
};

test('the challenge is keccak256 of the seven words and the label, as abi.encode lays them out', () => {
  const words = [
    Hex.fromNumber(7 * 32, { size: 32 }),
    Hex.fromNumber(agreement.chainId, { size: 32 }),
    Hex.padLeft(agreement.registry, 32),
    agreement.didHash,
    agreement.aliasHash,
    Hex.padLeft(agreement.smartAccount, 32),
    Hash.keccak256('0x000102030405060708090a0b0c0d0e0f'),
    Hex.fromNumber('vault/register/v1'.length, { size: 32 }),
    Hex.padRight(Hex.fromString('vault/register/v1'), 32),
  ];
  const challenge = Hex.fromBytes(registrationChallenge(agreement));
  expect(challenge).toBe(Hash.keccak256(Hex.concat(...words)));
  expect(challenge).toBe('0x5b6b859ab8dd04a09f36d14071927dead1999aeed107cc629afb52f83b93386d');
});

test('every member changes the challenge, so that a proof for one registration is none for another', () => {
  const others: Partial<RegistrationConsent>[] = [
    { chainId: 8453 },
    { registry: agreement.smartAccount },
    { didHash: agreement.aliasHash },
    { aliasHash: agreement.didHash },
    { smartAccount: agreement.registry },
    { credentialId: 'AAECAwQFBgcICQoLDA0OEA' },
  ];
  const challenges = [{}, ...others].map((other) => Hex.fromBytes(registrationChallenge({ ...agreement, ...other })));
  expect(new Set(challenges).size).toBe(7);
});

test('an address means the same in either case', () => {
  const mixed = { ...agreement, registry: '0xD38972fFEA26b66f09e2109E650887aCD447E7B7' } as const;
  expect(registrationChallenge(mixed)).toEqual(registrationChallenge(agreement));
});

test('a passkey that signs it proves this registration and no other', async () => {
  const passkey = createPasskey();
  const proof = passkey.assert(registrationChallenge(agreement));
  const other = registrationChallenge({ ...agreement, credentialId: 'AAECAwQFBgcICQoLDA0OEA' });
  expect(await verifyAssertion(proof, registrationChallenge(agreement), passkey.key)).toBe(true);
  expect(await verifyAssertion(proof, other, passkey.key)).toBe(false);
});
