import { createHash } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { openEnclave } from './enclave.ts';
import { openInside } from './enclave-inside.ts';

/** The sources, with scalars as they are. */
export const inside = await openInside();
/** The committed module. */
export const enclave = openEnclave();
const { call, put } = enclave;
const [SECRET, INPUT] = [0, 64];
/** Where the sources write. */
export const OUT = 128;
/** The two curves: the committed module verifies, its sources sign. */
export const CURVES = [
  { name: 'P-256', at: 0, group: p256, verify: call.p256_verify, isLowS: call.p256_is_low_s },
  {
    name: 'secp256k1',
    at: 1,
    group: secp256k1,
    verify: call.secp256k1_verify,
    isLowS: call.secp256k1_is_low_s,
  },
] as const;
/** One of them. */
export type Curve = (typeof CURVES)[number];

/** Bytes, digits and numbers of 32 bytes, each as another. */
export const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
export const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');
export const word = (value: bigint) => value.toString(16).padStart(64, '0');
/** The digest that ECDSA signs in these tests. */
export const sha256 = (data: Uint8Array | string) => Uint8Array.from(createHash('sha256').update(data).digest());
export const number = (data: Uint8Array) => BigInt(`0x${hex(data)}`);

/** x‖y of a scalar, or undefined where it is refused. */
export function publicKey({ at }: Curve, secret: string): string | undefined {
  inside.put(SECRET, bytes(secret));
  return inside.call['public_key']?.(at, SECRET, OUT) ? hex(inside.get(OUT, 64)) : undefined;
}

/** The parity and r‖s of the sources' signature. */
export function sign({ at }: Curve, secret: string, digest: Uint8Array): [number | undefined, string] {
  inside.put(SECRET, bytes(secret));
  inside.put(INPUT, digest);
  return [inside.call['sign']?.(at, SECRET, INPUT, 32, OUT), hex(inside.get(OUT, 64))];
}

/** Whether the committed module takes r‖s for the digest. */
export function verifies({ verify }: Curve, key: string, digest: Uint8Array, signature: string): boolean {
  put(0, bytes(key));
  put(64, digest);
  return verify(0, 64, put(128, bytes(signature))) === 1;
}
