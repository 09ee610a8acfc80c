// Ed25519 signatures at the edges of its rules: keys and nonces with a part of small order, encodings that are not
// canonical, S past the order. Each comes with what the one rule of enclave and server (docs/enclave.md) says.
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import type { Draw } from './draw.ts';

const { Point } = ed25519;
const { Fn, Fp, BASE } = Point;
type Point = typeof BASE;

/** A signature, and whether it counts. */
export interface Ed25519Case {
  readonly name: string;
  readonly key: Uint8Array<ArrayBuffer>;
  readonly message: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
  readonly isValid: boolean;
}

/** One case of each kind, drawn. */
export function edwardsCases(draw: Draw): Ed25519Case[] {
  const [a, r, message] = [scalar(draw), scalar(draw), bytesOf(draw.upTo(100))];
  const pick = () => SMALL[draw.below(8)] ?? Point.ZERO;
  const honest = signed(BASE.multiply(a).toBytes(), a, BASE.multiply(r).toBytes(), r, message);
  const cases: Readonly<Record<string, Pick<Ed25519Case, 'key' | 'signature'>>> = {
    honest,
    'a bit changed': { key: honest.key, signature: flipped(honest.signature, draw.below(512)) },
    'a key of mixed order': signed(BASE.multiply(a).add(pick()).toBytes(), a, BASE.multiply(r).toBytes(), r, message),
    'key and nonce of mixed order': signed(
      BASE.multiply(a).add(pick()).toBytes(),
      a,
      BASE.multiply(r).add(pick()).toBytes(),
      r,
      message,
    ),
    'a nonce of small order': signed(honest.key, a, pick().toBytes(), 0n, message),
    'a nonce of small order under a key of mixed order': signed(
      BASE.multiply(a).add(pick()).toBytes(),
      a,
      pick().toBytes(),
      0n,
      message,
    ),
    'a key of small order': signed(pick().toBytes(), 0n, pick().toBytes(), 0n, message),
    'a key of small order with a nonce of the whole order': signed(
      pick().toBytes(),
      0n,
      BASE.multiply(r).toBytes(),
      r,
      message,
    ),
    'S past the order': { key: honest.key, signature: withS(honest.signature, (s) => s + Fn.ORDER) },
    'S with its highest bits': { key: honest.key, signature: withS(honest.signature, (s) => s + (7n << 253n)) },
    'a nonce that is not canonical': signed(honest.key, a, odd(draw), 0n, message),
    'a key that is not canonical': signed(odd(draw), 0n, BASE.multiply(r).toBytes(), r, message),
    'a nonce that is no point': signed(honest.key, a, little(2n), 0n, message),
  };
  return Object.entries(cases).map(([name, { key, signature }]) => ({
    name,
    key,
    message,
    signature,
    isValid: isValid(key, message, signature),
  }));
}

/** The rule of Web Cryptography Level 2, by @noble/curves' points: [S]B = R + [k]A itself, not eight times it. */
function isValid(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const [encoded, s] = [signature.subarray(0, 32), fromLittle(signature.subarray(32))];
  const [pointA, pointR] = [decode(key), decode(encoded)];
  if (s >= Fn.ORDER || !pointA || !pointR || pointA.isSmallOrder() || pointR.isSmallOrder()) return false;
  const k = challenge(encoded, key, message);
  return BASE.multiplyUnsafe(s).equals(pointR.add(pointA.multiplyUnsafe(k)));
}

/** R ‖ S with S = r + k · a, by which the equation holds but for parts of small order. */
function signed(
  key: Uint8Array,
  a: bigint,
  encoded: Uint8Array,
  r: bigint,
  message: Uint8Array,
): Pick<Ed25519Case, 'key' | 'signature'> {
  const s = Fn.create(r + challenge(encoded, key, message) * a);
  return { key: bytesOf(key), signature: bytesOf(Buffer.concat([encoded, little(s)])) };
}

function challenge(encoded: Uint8Array, key: Uint8Array, message: Uint8Array): bigint {
  return Fn.create(fromLittle(sha512(Buffer.concat([encoded, key, message]))));
}

/** The point of a canonical encoding (RFC 8032, section 5.1.3). */
function decode(encoded: Uint8Array): Point | undefined {
  try {
    return Point.fromBytes(encoded);
  } catch {
    return undefined;
  }
}

/** An encoding that is no canonical one: y not below the prime, or a sign where x is 0. */
function odd(draw: Draw): Uint8Array {
  const sign = 1n << 255n;
  const values = [Fp.ORDER, Fp.ORDER + 1n, Fp.ORDER | sign, (Fp.ORDER + 1n) | sign, 1n | sign, (Fp.ORDER - 1n) | sign];
  return little(values[draw.below(12)] ?? (Fp.ORDER + BigInt(draw.below(19))) | (draw.below(2) ? sign : 0n));
}

function withS(signature: Uint8Array, change: (s: bigint) => bigint): Uint8Array<ArrayBuffer> {
  return bytesOf(Buffer.concat([signature.subarray(0, 32), little(change(fromLittle(signature.subarray(32))))]));
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array<ArrayBuffer> {
  const changed = bytesOf(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

function scalar(draw: Draw): bigint {
  return 1n + (draw.bits(256) % (Fn.ORDER - 1n));
}

function little(value: bigint): Uint8Array {
  return Buffer.from((value & ((1n << 256n) - 1n)).toString(16).padStart(64, '0'), 'hex').reverse();
}

function fromLittle(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function bytesOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes);
}

/** The eight points of order 8 or less: the multiples of one that the group order leaves. */
const SMALL: readonly Point[] = (() => {
  for (let y = 2n; ; y++) {
    const point = decode(little(y));
    // The group order less one, and once more: noble takes no scalar of the order itself.
    const left = point?.multiplyUnsafe(Fn.ORDER - 1n).add(point);
    const eight = Array.from({ length: 8 }, (_, i) => (i && left ? left.multiplyUnsafe(BigInt(i)) : Point.ZERO));
    if (new Set(eight.map((one) => one.toHex())).size === 8) return eight;
  }
})();
