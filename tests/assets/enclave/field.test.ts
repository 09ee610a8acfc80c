import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Draw, manyTimes } from '../../support/draw.ts';
import { openInside } from '../../support/enclave-inside.ts';
import { isLong } from '../../support/long.ts';

const DRAWS = isLong ? 3_000 : 500;

const inside = await openInside();
const [A, B, C, D, OUT] = [0, 64, 128, 192, 256];
/** The six moduli, and the reduction by which each is computed: 0 is Montgomery's by any modulus. */
const MODULI = [
  ['the prime of P-256', p256.Point.Fp.ORDER, 1],
  ['the prime of P-256, as any modulus', p256.Point.Fp.ORDER, 0],
  ['the order of P-256', p256.Point.Fn.ORDER, 0],
  ['the prime of secp256k1', secp256k1.Point.Fp.ORDER, 2],
  ['the order of secp256k1', secp256k1.Point.Fn.ORDER, 0],
  ['2^255 - 19', ed25519.Point.Fp.ORDER, 3],
  ['the order of Ed25519', ed25519.Point.Fn.ORDER, 0],
] as const;

const ALL_ONES = (1n << 256n) - 1n;
const bytes = (value: bigint) => Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex'));
const number = (data: Uint8Array) => BigInt(`0x${Buffer.from(data).toString('hex')}`);
const call = (name: string, ...numbers: number[]) => inside.call[name]?.(...numbers);
const modulo = (value: bigint, m: bigint) => ((value % m) + m) % m;

function run(name: string, a: bigint, b: bigint): bigint {
  inside.put(A, bytes(a));
  inside.put(B, bytes(b));
  call(name, ...(name === 'inverse' ? [A, OUT] : [A, B, OUT]));
  return number(inside.get(OUT, 32));
}

function power(base: bigint, exponent: bigint, m: bigint): bigint {
  let result = 1n;
  for (let e = exponent, square = base % m; e > 0n; e >>= 1n, square = (square * square) % m) {
    if (e & 1n) result = (result * square) % m;
  }
  return result;
}

/** Numbers at the ends of the range, where carries run through, and all others. */
function drawNumber(draw: Draw, m: bigint): bigint {
  const edges = [0n, 1n, 2n, m - 1n, m - 2n, m, m + 1n, ALL_ONES, 1n << 255n, (1n << 208n) - 1n, ALL_ONES << 52n];
  const kind = draw.below(4);
  if (kind === 0) return (edges[draw.below(edges.length)] ?? 0n) & ALL_ONES;
  return draw.bits(kind === 1 ? 1 + draw.below(256) : 256);
}

describe.each(MODULI)('modulo %s', (_name, m, reduction) => {
  const start = () => call('modulus', inside.put(A, bytes(m)), reduction);

  test('sums, differences and products are those of whole numbers', () => {
    start();
    manyTimes(DRAWS, (draw) => {
      const [a, b] = [drawNumber(draw, m), drawNumber(draw, m)];
      expect([a, b, run('times', a, b)]).toEqual([a, b, modulo(a * b, m)]);
      expect([a, b, run('plus', a, b)]).toEqual([a, b, modulo(a + b, m)]);
      expect([a, b, run('minus', a, b)]).toEqual([a, b, modulo(a - b, m)]);
    });
  });

  test('inverses are those of Fermat, and 0 is its own', () => {
    start();
    for (const edge of [0n, 1n, 2n, m - 1n, ALL_ONES]) expect(run('inverse', edge, 0n)).toBe(power(edge, m - 2n, m));
    manyTimes(200, (draw) => {
      const a = drawNumber(draw, m);
      expect([a, run('inverse', a, 0n)]).toEqual([a, power(a, m - 2n, m)]);
    });
  });

  test('no column overflows with limbs at the bound that the point formulas keep', () => {
    start();
    // Montgomery's reduction by any modulus is for scalars, whose limbs are small.
    const bound = reduction === 0 ? 2 : 9;
    const divided = reduction < 2 ? power(1n << 260n, m - 2n, m) : 1n;
    manyTimes(DRAWS, (draw) => {
      const [a, b, c, d] = [A, B, C, D].map((at) => putLimbs(at, drawLimbs(draw, bound))) as Four;
      for (const [name, value, places] of [
        ['raw', a * b, [A, B]],
        ['raw_square', a * a, [A]],
        ['raw_plus', a * b + c * d, [A, B, C, D]],
        ['raw_minus', a * b - c * d, [A, B, C, D]],
      ] as const) {
        call(name, ...places, OUT);
        const limbs = getLimbs(OUT);
        expect([name, modulo(valueOfLimbs(limbs), m)]).toEqual([name, modulo(value * divided, m)]);
        expect(limbs.every((limb) => Math.abs(limb) < 1.1 * 2 ** 26)).toBe(true);
      }
    });
  });
});

type Four = [bigint, bigint, bigint, bigint];

/** Ten limbs within the bound, often all at its end. */
function drawLimbs(draw: Draw, bound: number): number[] {
  const most = bound * 2 ** 26;
  const kind = draw.below(4);
  const limbs = Array.from({ length: 10 }, () => draw.below(2 * most + 1) - most);
  if (kind === 0) return limbs.map(() => most);
  if (kind === 1) return limbs.map(() => -most);
  if (kind === 2) return limbs.map((limb) => (limb < 0 ? -most : most));
  return limbs;
}

function putLimbs(at: number, limbs: readonly number[]): bigint {
  // The topmost limb has 22 bits of a number of 256.
  const placed = limbs.map((limb, i) => (i === 9 ? Math.trunc(limb / 16) : limb));
  inside.put(at, new Uint8Array(Int32Array.from(placed).buffer));
  return valueOfLimbs(placed);
}

function getLimbs(at: number): number[] {
  return [...new Int32Array(inside.get(at, 40).slice().buffer)];
}

function valueOfLimbs(limbs: readonly number[]): bigint {
  return limbs.reduce((sum, limb, i) => sum + (BigInt(limb) << BigInt(26 * i)), 0n);
}

test('SHA-512 (FIPS 180-4) is that of node:crypto for every length to 300, in one piece or two', () => {
  let length = 0;
  manyTimes(301, (draw) => {
    const message = draw.bytes(length++);
    inside.put(0, message);
    call('sha512', 0, message.length, draw.below(message.length + 1), 1024);
    expect(Buffer.from(inside.get(1024, 64)).toString('hex')).toBe(createHash('sha512').update(message).digest('hex'));
  });
});
