import * as Base58 from 'ox/Base58';
import { concat } from '../base/bytes.ts';
import { malformed } from './fault.ts';

/** The key types that UCAN 1.0 requires. */
export type Algorithm = keyof typeof ALGORITHMS;

/**
 * By key type: the multicodec prefix of its did:key, the length of the key (compressed points), and the varsig v1
 * header of signatures over DAG-CBOR.
 */
export const ALGORITHMS = {
  Ed25519: {
    code: Uint8Array.of(0xed, 0x01),
    keyBytes: 32,
    varsig: Uint8Array.of(0x34, 0x01, 0xed, 0x01, 0xed, 0x01, 0x13, 0x71),
  },
  'P-256': {
    code: Uint8Array.of(0x80, 0x24),
    keyBytes: 33,
    varsig: Uint8Array.of(0x34, 0x01, 0xec, 0x01, 0x80, 0x24, 0x12, 0x71),
  },
  secp256k1: {
    code: Uint8Array.of(0xe7, 0x01),
    keyBytes: 33,
    varsig: Uint8Array.of(0x34, 0x01, 0xec, 0x01, 0xe7, 0x01, 0x12, 0x71),
  },
} as const;

/** A public key; a P-256 or secp256k1 key is a compressed point. */
export interface PublicKey {
  readonly algorithm: Algorithm;
  readonly bytes: Uint8Array;
}

/** The did:key of a public key. */
export function toDidKey({ algorithm, bytes }: PublicKey): string {
  return `${PREFIX}${Base58.fromBytes(concat(ALGORITHMS[algorithm].code, bytes))}`;
}

/**
 * Reads a did:key without a fragment, in its canonical text only. Whether the bytes are a point is checked when the key
 * is used. Throws `UcanError`.
 */
export function fromDidKey(did: string): PublicKey {
  const bytes = did.startsWith(PREFIX) && did.length <= DID_KEY_CHARS_MAX ? fromBase58(did.slice(PREFIX.length)) : NONE;
  for (const [name, { code, keyBytes }] of Object.entries(ALGORITHMS)) {
    const isIt = bytes.length === code.length + keyBytes && bytes[0] === code[0] && bytes[1] === code[1];
    if (isIt) return { algorithm: name as Algorithm, bytes: bytes.slice(code.length) };
  }
  throw malformed('not the did:key of an Ed25519, P-256 or secp256k1 key');
}

const PREFIX = 'did:key:z';
const NONE = new Uint8Array();
/** A key of 35 bytes has 48 characters in base58. */
const DID_KEY_CHARS_MAX = PREFIX.length + 48;

/** Decodes base58btc; empty unless the text is the canonical form of its bytes. */
export function fromBase58(text: string): Uint8Array {
  if (!/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return NONE;
  const bytes = Base58.toBytes(text);
  return Base58.fromBytes(bytes) === text ? bytes : NONE;
}
