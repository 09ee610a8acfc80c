import { expect, test } from 'bun:test';
import { toHex } from '../../../lib/base/bytes.ts';
import { createKeys } from '../../../lib/identity/keys.ts';

const secret = Uint8Array.from({ length: 32 }, (_, i) => i);

// A changed label or derivation would void every stored digest, the operator's DID and all attestations: these stay as
// they are.
test('the keys are HKDF-SHA256 of the root secret under their labels', () => {
  const { codePepper, operatorSeed, attestation } = createKeys(secret);
  expect(toHex(codePepper)).toBe('82594fd5037d59a2576667cdefdb1093f084ad120023ca74f8093db4c5e6ff73');
  expect(toHex(operatorSeed)).toBe('b6ef1ac52301b1dec9ed9ca54a51879995478719a1cda1013b98bf92c25607b7');
  expect(attestation.map(toHex)).toEqual(['e26dacfa9af3e0ffd92fe079ebf8f467a27ad816715731e6952e2ca315dd82d9']);
});

test('no two keys are alike, whatever the root secret', () => {
  const keysOf = (root: Uint8Array) => {
    const { codePepper, operatorSeed, nonce, attestation } = createKeys(root);
    return [codePepper, operatorSeed, nonce, ...attestation].map(toHex);
  };
  expect(new Set([...keysOf(secret), ...keysOf(secret.toReversed())]).size).toBe(8);
});

test('given attestation keys replace the derived one, in their order, and change no other', () => {
  const given = [secret.toReversed(), secret];
  const keys = createKeys(secret, given);
  expect(keys.attestation).toEqual(given);
  expect({ ...keys, attestation: [] }).toEqual({ ...createKeys(secret), attestation: [] });
});
