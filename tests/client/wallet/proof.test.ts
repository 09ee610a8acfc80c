import { expect, test } from 'bun:test';
import { keccak256 } from '../../../client/keccak.ts';
import { fromBase64url, type Hex, toHex } from '../../../client/wallet/bytes.ts';
import { identifierHash, registrationChallenge } from '../../../client/wallet/proof.ts';
import vectors from '../../../docs/passkey-proof.json';

test.each(vectors.proofs)('the client computes the published challenge of $normalForm', (one) => {
  const [channel = '', ...rest] = one.normalForm.split(':');
  const { hashes } = one;
  if (one.attestationSignature) {
    const attested = { signature: one.attestationSignature, channel, identifier: rest.join(':') };
    expect(identifierHash(keccak256, attested)).toBe(hashes.identifierHash as Hex);
  }
  const challenge = registrationChallenge(keccak256, {
    registrar: vectors.vault.registrar,
    chainId: vectors.vault.chainId,
    registry: vectors.vault.didRegistry as Hex,
    did: one.did,
    aliasHash: hashes.aliasHash as Hex,
    smartAccount: one.smartAccount as Hex,
    credentialId: fromBase64url(one.credentialId),
    identifierHash: hashes.identifierHash as Hex,
    expiresAt: one.proofExpiresAt,
  });
  expect(toHex(challenge)).toBe(one.challenge as Hex);
});
