import { describe, expect, test } from 'bun:test';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { join } from 'node:path';
import { concat, encodeAbiParameters, keccak256, parseAbiParameters, toHex, zeroHash } from 'viem';
import { parseIdentifier } from '../../lib/identity/identifier.ts';
import {
  expectedOf,
  type OpenedProof,
  openProof,
  proofText,
  storedProof,
  verifyProof,
} from '../../lib/registration/proof.ts';
import { VECTORS_FILE, type vectors, vectorsText } from '../../scripts/proof-vectors.ts';

type Vectors = ReturnType<typeof vectors>;

const text = await Bun.file(join(import.meta.dir, '../..', VECTORS_FILE)).text();
const { vault, key, proofs } = JSON.parse(text) as Vectors;
const base64 = (part: string) => Uint8Array.from(Buffer.from(part, 'base64url'));

test('docs/passkey-proof.json is what `bun scripts/proof-vectors.ts` writes', () => {
  expect(text).toBe(vectorsText());
  expect(proofs.map(({ channel }) => channel)).toEqual(['email', 'sms', 'handle']);
});

// Computed with viem and node:crypto alone, from the words of docs/passkey-proof.md.
describe.each(proofs)('the vector of $channel', (one) => {
  test('hashes as other software hashes', () => {
    const { channel, normalForm, attestationSignature, hashes } = one;
    const value = normalForm.slice(channel.length + 1);
    expect(hashes).toEqual({
      registrarDidHash: keccak256(toHex(vault.registrar)),
      didHash: keccak256(toHex(one.did)),
      aliasHash: channel === 'handle' ? keccak256(toHex(toHex(value).slice(2))) : zeroHash,
      credentialIdHash: keccak256(toHex(base64(one.credentialId))),
      identifierHash:
        attestationSignature === null ? zeroHash : keccak256(concat([attestationSignature, toHex(normalForm)])),
    });
  });

  test('has the challenge that abi.encode of other software gives', () => {
    const types = parseAbiParameters(
      'string, bytes32, uint256, address, bytes32, bytes32, address, bytes32, bytes32, uint256',
    );
    const { registrarDidHash, didHash, aliasHash, credentialIdHash, identifierHash } = one.hashes;
    const encoded = encodeAbiParameters(types, [
      'vault/register/v2',
      registrarDidHash,
      BigInt(vault.chainId),
      vault.didRegistry,
      didHash,
      aliasHash,
      one.smartAccount,
      credentialIdHash as `0x${string}`,
      identifierHash,
      BigInt(one.proofExpiresAt),
    ]);
    expect(one.challenge).toBe(keccak256(encoded));
    const client = JSON.parse(String(Buffer.from(base64(one.proof.clientDataJSON))));
    expect(client.challenge).toBe(Buffer.from(one.challenge.slice(2), 'hex').toString('base64url'));
    expect([client.type, client.origin]).toEqual(['webauthn.get', vault.BASE_URL]);
  });

  test('is signed by its key, under its RP ID, by a verified user', () => {
    const coordinate = (hex: string) => Buffer.from(hex.slice(2), 'hex').toString('base64url');
    const jwk = { kty: 'EC', crv: 'P-256', x: coordinate(key.x), y: coordinate(key.y) };
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' });
    const authenticatorData = base64(one.proof.authenticatorData);
    const hash = (bytes: string | Uint8Array) => Uint8Array.from(createHash('sha256').update(bytes).digest());
    const signed = Buffer.concat([authenticatorData, hash(base64(one.proof.clientDataJSON))]);
    expect(verify('sha256', signed, publicKey, base64(one.proof.signature))).toBe(true);
    expect(authenticatorData.subarray(0, 32)).toEqual(hash(vault.rpId));
    expect(authenticatorData[32]).toBe(0x05);
  });

  test('is accepted by a vault of these settings, at its POST and after it was stored', async () => {
    const config = {
      baseUrl: vault.BASE_URL,
      relatedOrigins: [],
      appOrigins: [],
      rpIds: [vault.rpId],
      registrarDid: vault.registrar,
      chainId: vault.chainId,
      didRegistryAddress: vault.didRegistry,
    };
    const { did, credentialId, smartAccount, attestationSignature, proof, proofExpiresAt } = one;
    const subject = { identifier: parseIdentifier(one.channel, one.identifier), did, credentialId };
    const request = { ...subject, smartAccount, attestationSignature: attestationSignature ?? undefined };
    const given = { assertion: proof, expiresAt: proofExpiresAt };
    const opened = openProof({ config }, request, given, (proofExpiresAt - 600) * 1000);
    const stored = storedProof(proofText(opened)) as OpenedProof;
    const own = { x: Buffer.from(key.x.slice(2), 'hex'), y: Buffer.from(key.y.slice(2), 'hex') };
    expect(await verifyProof(stored, expectedOf({ config }, subject, smartAccount), own)).toBeUndefined();
  });
});
