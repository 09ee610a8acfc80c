// The challenges that a passkey signs to prove something to the vault, and the form in which proofs are sent.
import { bytesOf, utf8 } from '../bytes.ts';
import { encode, type Keccak } from './abi.ts';
import { type Hex, toBase64url, toHex } from './bytes.ts';
import type { Assertion } from './passkey.ts';

/** The vault's attestation of a right code: the members that a proof names. */
export interface Attested {
  readonly identifier: string;
  readonly channel: string;
  readonly signature: string;
}

/** An assertion as the API takes it, in base64url. */
export interface ProofParts {
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
  readonly signature: string;
}

/** An assertion as the API takes it. */
export function proofOf({ authenticatorData, clientDataJSON, signature }: Assertion): ProofParts {
  return {
    authenticatorData: toBase64url(authenticatorData),
    clientDataJSON: toBase64url(clientDataJSON),
    signature: toBase64url(signature),
  };
}

/** An address as passkeys sign it: its channel and its normal form, but for what the vault alone knows of numbers. */
export function addressLine(channel: 'email' | 'sms', address: string): string {
  return `${channel}:${channel === 'sms' ? address.replace(/[^+\d]/g, '') : address.toLowerCase()}`;
}

/** The hash of the attested address in a proof. */
export function identifierHash(keccak256: Keccak, { signature, channel, identifier }: Attested): Hex {
  return toHex(keccak256(new Uint8Array([...bytesOf(signature), ...utf8(`${channel}:${identifier}`)])));
}

/** The terms of a registration's proof; hashes and addresses are 0x-hex. */
export interface RegistrationTerms {
  readonly registrar: string;
  readonly chainId: number;
  readonly registry: Hex;
  readonly did: string;
  /** Zero but for handles. */
  readonly aliasHash: Hex;
  readonly smartAccount: Hex;
  readonly credentialId: Uint8Array;
  /** Zero for handles. */
  readonly identifierHash: Hex;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

/** The challenge of a registration's proof (`docs/passkey-proof.md`). */
export function registrationChallenge(keccak256: Keccak, terms: RegistrationTerms): Uint8Array<ArrayBuffer> {
  const { registrar, chainId, registry, did, aliasHash, smartAccount, credentialId, expiresAt } = terms;
  const hash = (bytes: Uint8Array) => toHex(keccak256(bytes));
  const words = encode([
    { bytes: toHex(utf8('vault/register/v2')) },
    hash(utf8(registrar)),
    BigInt(chainId),
    registry,
    hash(utf8(did)),
    aliasHash,
    smartAccount,
    hash(credentialId),
    terms.identifierHash,
    BigInt(expiresAt),
  ]);
  return new Uint8Array(keccak256(bytesOf(`0x${words}`)));
}
