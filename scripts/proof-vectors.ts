// bun scripts/proof-vectors.ts: writes docs/passkey-proof.json, the test vectors of the passkey proof, with fixed keys;
// a test fails when they are stale.
import { join } from 'node:path';
import { Hash, Hex } from 'ox';
import { aliasHash, didHash } from '../lib/identity/did.ts';
import { type Channel, parseIdentifier } from '../lib/identity/identifier.ts';
import { identifierHash, NO_HASH, registrationChallenge } from '../lib/registration/challenge.ts';
import { createPasskey } from './dev-stack/passkey.ts';

/** The file, from the root of the sources. */
export const VECTORS_FILE = 'docs/passkey-proof.json';

/** The vault that the proofs are for; its settings but for the first are the defaults. */
const VAULT = {
  BASE_URL: 'https://vault.example.com',
  registrar: 'did:web:vault.example.com',
  chainId: 84532,
  didRegistry: '0xd38972ffea26b66f09e2109e650887acd447e7b7',
  rpId: 'vault.example.com',
} as const;

/** A public test key: 1, 2, … 32. */
const PRIVATE_KEY = Hex.fromBytes(Uint8Array.from({ length: 32 }, (_, i) => i + 1));
/** From the attestation in completions section 5. */
const ATTESTATION_SIGNATURE = '0xd7f7be04eef7273839e5db8fe2628ad6f7b6a2437bb86d02015425fa62934deb';
const SMART_ACCOUNT = '0x79acb4fa1e2d3c4b5a69788796a5b4c3d2e13ccf';

/** All vectors, in the order of the file. */
export function vectors() {
  const passkey = createPasskey({ origin: VAULT.BASE_URL, rpId: VAULT.rpId }, PRIVATE_KEY);
  const [x, y] = [Hex.fromBytes(passkey.key.x), Hex.fromBytes(passkey.key.y)];
  const cases = [
    { channel: 'email', identifier: 'Alice@Example.com', attestationSignature: ATTESTATION_SIGNATURE },
    { channel: 'sms', identifier: '+1 415 555 2671', attestationSignature: ATTESTATION_SIGNATURE },
    { channel: 'handle', identifier: 'Alice', attestationSignature: null },
  ] as const;
  const proofs = cases.map((one) => {
    const { key: normalForm, ...consent } = consentOf(one);
    const proof = passkey.assert(Hex.toBytes(consent.challenge));
    return { ...one, normalForm, ...REQUEST, ...consent, proof };
  });
  return { vault: VAULT, key: { privateKey: PRIVATE_KEY, x, y }, proofs };
}

/** The common members of all requests. */
const REQUEST = {
  did: `did:pkh:eip155:${VAULT.chainId}:${SMART_ACCOUNT}`,
  smartAccount: SMART_ACCOUNT,
  credentialId: 'AAECAwQFBgcICQoLDA0ODw',
  proofExpiresAt: 1_704_067_500,
} as const;

function consentOf(one: { channel: Channel; identifier: string; attestationSignature: string | null }) {
  const identifier = parseIdentifier(one.channel, one.identifier);
  const hashes = {
    registrarDidHash: didHash(VAULT.registrar),
    didHash: didHash(REQUEST.did),
    aliasHash: one.channel === 'handle' ? aliasHash(identifier.value) : NO_HASH,
    credentialIdHash: Hash.keccak256('0x000102030405060708090a0b0c0d0e0f'),
    identifierHash: identifierHash(identifier, one.attestationSignature ?? undefined),
  };
  const challenge = registrationChallenge({
    ...hashes,
    chainId: VAULT.chainId,
    registry: VAULT.didRegistry,
    smartAccount: REQUEST.smartAccount,
    credentialId: REQUEST.credentialId,
    expiresAt: REQUEST.proofExpiresAt,
  });
  return { key: identifier.key, hashes, challenge: Hex.fromBytes(challenge) };
}

/** The text of the file. */
export function vectorsText(): string {
  return `${JSON.stringify(vectors(), null, 2)}\n`;
}

if (import.meta.main) await Bun.write(join(import.meta.dir, '..', VECTORS_FILE), vectorsText());
