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
  // An inverse of a prime's field is a power (Fermat).
  const inverse = power(r, N - 2n, N);
  const [ofR, ofG] = [multiply({ x: r, y, z: 1n }, mod(s * inverse, N)), multiply(G, mod(-e * inverse, N))];
  return [ofR, { ...ofR, y: P - ofR.y }].flatMap((one) => {
    const { x, y, z } = add(one, ofG);
    const scale = power(z, P - 2n, P);
    const of = (value: bigint) => `0x${word(mod(value, P))}` as const;
    return z === 0n ? [] : [{ x: of(x * scale ** 2n), y: of(y * scale ** 3n) }];
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
  z: 1n,
};

/** Jacobian coordinates of (x ∕ z², y ∕ z³), so that only a result takes an inversion; at infinity where z is 0. */
interface Point {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
}

function add(a: Point, b: Point): Point {
  if (a.z === 0n) return b;
  if (b.z === 0n) return a;
  let [left, right, other, z] = [a.x * b.z ** 2n, a.y * b.z ** 3n, b.x * a.z ** 2n, a.z * b.z];
  let [run, rise] = [mod(other - left, P), mod(b.y * a.z ** 3n - right, P)];
  // The same point: the line is the tangent.
  if (run === 0n && rise === 0n)
    [left, right, other, z, run, rise] = [a.x, a.y, a.x, a.z, 2n * a.y, 3n * a.x ** 2n + A * a.z ** 4n];
  const x = mod(rise ** 2n - (left + other) * run ** 2n, P);
  return { x, y: mod(rise * (left * run ** 2n - x) - right * run ** 3n, P), z: mod(z * run, P) };
}

function multiply(point: Point, times: bigint): Point {
  let sum = { ...point, z: 0n };
  let doubled = point;
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

function mod(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}
