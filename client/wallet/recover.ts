// SEC 1 section 4.1.6: the keys that may have made an ECDSA signature, for P-256.
// All numbers here are public, so nothing has to take constant time.
import { type Hex, word } from './bytes.ts';

/** A public key: its coordinates, 32 bytes each. */
export interface PublicKey {
  readonly x: Hex;
  readonly y: Hex;
}

/** The two keys of which one made the signature (r‖s) of a digest; empty for an impossible signature. */
export function recoverKeys(digest: Uint8Array, signature: Uint8Array): PublicKey[] {
  const [r, s, e] = [numberOf(signature.subarray(0, 32)), numberOf(signature.subarray(32, 64)), numberOf(digest)];
  // An r that wrapped around the order happens once in 2¹²⁸ signatures.
  const square = mod(r ** 3n + A * r + B, P);
  const y = power(square, (P + 1n) / 4n, P);
  if (r === 0n || s === 0n || mod(y * y, P) !== square) return [];
  const inverse = invert(r, N);
  return [y, P - y].flatMap((one) => {
    const key = add(multiply({ x: r, y: one }, mod(s * inverse, N)), multiply(G, mod(-e * inverse, N)));
    return key ? [{ x: `0x${word(key.x)}` as const, y: `0x${word(key.y)}` as const }] : [];
  });
}

/** SP 800-186 section 3.2.1.3. */
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const A = P - 3n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
const G: Point = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
};

interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

/** Undefined is the point at infinity. */
function add(a: Point | undefined, b: Point | undefined): Point | undefined {
  if (!a || !b) return a ?? b;
  if (a.x === b.x && a.y !== b.y) return undefined;
  const [rise, run] = a.x === b.x ? [3n * a.x * a.x + A, 2n * a.y] : [b.y - a.y, b.x - a.x];
  const slope = mod(rise * invert(run, P), P);
  const x = mod(slope * slope - a.x - b.x, P);
  return { x, y: mod(slope * (a.x - x) - a.y, P) };
}

function multiply(point: Point, times: bigint): Point | undefined {
  let sum: Point | undefined;
  let doubled: Point | undefined = point;
  for (let rest = times; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = add(sum, doubled);
    doubled = add(doubled, doubled);
  }
  return sum;
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = mod(base, modulus);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = mod(result * square, modulus);
    square = mod(square * square, modulus);
  }
  return result;
}

/** By Euclid's algorithm; 0 for a multiple of the modulus, which is prime. */
function invert(value: bigint, modulus: bigint): bigint {
  let [rest, next] = [modulus, mod(value, modulus)];
  let [last, factor] = [0n, 1n];
  while (next > 1n) {
    const times = rest / next;
    [rest, next] = [next, rest - times * next];
    [last, factor] = [factor, last - times * factor];
  }
  return next * mod(factor, modulus);
}

function mod(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}
