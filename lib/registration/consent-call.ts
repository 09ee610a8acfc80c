/** The call by which the second registry (`contracts/DIDRegistry2.sol`) registers for a passkey's account. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import * as AbiParameters from 'ox/AbiParameters';
import { fromBase64, toHex } from '../base/bytes.ts';
import type { AccountCreation } from '../chain/account-creation.ts';
import { type Assertion, coordinatesOf, rawSignatureOf } from '../identity/passkey.ts';
import { NO_HASH } from './challenge.ts';
import type { SignedProof } from './consent.ts';

type Hex = `0x${string}`;

/** The registration that a consent is for; 0x-hex. */
export interface ConsentedRegistration {
  readonly controller: string;
  readonly didHash: string;
  /** Canonical base64url. */
  readonly credentialId: string;
}

/**
 * The call `registerFor(controller, didHash, 0, consent)` with the passkey's proof, 0x-hex; undefined if the proof is
 * in a form that the registry does not read. `creation` is needed while the account has no code.
 */
export function consentCallData(
  { controller, didHash, credentialId }: ConsentedRegistration,
  proof: SignedProof,
  creation: AccountCreation = NO_CREATION,
): string | undefined {
  const assertion = assertionBytes(proof.assertion);
  if (assertion === undefined) return undefined;
  const encoded = AbiParameters.encode(PARAMETERS, [
    controller as Hex,
    didHash as Hex,
    NO_HASH,
    {
      registrarDidHash: proof.registrarDidHash,
      credentialHash: `0x${toHex(keccak_256(fromBase64(credentialId) ?? new Uint8Array()))}`,
      identifierHash: proof.identifierHash,
      expiresAt: BigInt(proof.expiresAt),
      ...coordinatesOf(proof.key),
      factory: creation.factory as Hex,
      initCode: creation.initCode as Hex,
      assertion,
      salt: NO_HASH,
    },
  ]);
  return `${REGISTER_FOR}${encoded.slice(2)}`;
}

/**
 * An assertion as contracts read it: OpenZeppelin's `WebAuthnAuth` without its first word, with s in the lower half.
 * They look for type and challenge at given places, so both must stand in the client data as browsers write them.
 */
function assertionBytes(assertion: Assertion): Hex | undefined {
  const signature = rawSignatureOf(assertion);
  const clientData = fromBase64(assertion.clientDataJSON);
  const authenticatorData = fromBase64(assertion.authenticatorData);
  if (!signature || !clientData || !authenticatorData) return undefined;
  // Each byte costs the registrar gas.
  if (clientData.length > CLIENT_DATA_BYTES_MAX || authenticatorData.length > AUTHENTICATOR_DATA_BYTES_MAX)
    return undefined;
  // One character a byte, so that places are those of bytes.
  const text = Array.from(clientData, (byte) => String.fromCharCode(byte)).join('');
  const [challengeAt, typeAt] = [text.indexOf('"challenge":"'), text.indexOf('"type":"webauthn.get"')];
  if (challengeAt < 0 || typeAt < 0) return undefined;
  const s = BigInt(`0x${toHex(signature.subarray(32))}`);
  const low = s > P256_ORDER / 2n ? P256_ORDER - s : s;
  return AbiParameters.encode(ASSERTION, [
    `0x${toHex(signature.subarray(0, 32))}`,
    `0x${low.toString(16).padStart(64, '0')}`,
    BigInt(challengeAt),
    BigInt(typeAt),
    `0x${toHex(authenticatorData)}`,
    `0x${toHex(clientData)}`,
  ]);
}

/** Selector of `registerFor(address,bytes32,bytes32,(…))`. */
const REGISTER_FOR = '0xf704b071';
const NO_CREATION: AccountCreation = { factory: `0x${'0'.repeat(40)}`, initCode: '0x' };
/** More than browsers and authenticators return, extensions included. */
const CLIENT_DATA_BYTES_MAX = 1024;
const AUTHENTICATOR_DATA_BYTES_MAX = 512;
/** The order of P-256 (SEC 2 section 2.4.2). */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

const ASSERTION = [
  { type: 'bytes32' },
  { type: 'bytes32' },
  { type: 'uint256' },
  { type: 'uint256' },
  { type: 'bytes' },
  { type: 'bytes' },
] as const;

const PARAMETERS = [
  { type: 'address' },
  { type: 'bytes32' },
  { type: 'bytes32' },
  {
    type: 'tuple',
    components: [
      { name: 'registrarDidHash', type: 'bytes32' },
      { name: 'credentialHash', type: 'bytes32' },
      { name: 'identifierHash', type: 'bytes32' },
      { name: 'expiresAt', type: 'uint256' },
      { name: 'x', type: 'uint256' },
      { name: 'y', type: 'uint256' },
      { name: 'factory', type: 'address' },
      { name: 'initCode', type: 'bytes' },
      { name: 'assertion', type: 'bytes' },
      { name: 'salt', type: 'bytes32' },
    ],
  },
] as const;
