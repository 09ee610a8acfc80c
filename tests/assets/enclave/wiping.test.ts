import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { openInside } from '../../support/enclave-inside.ts';

const [SECRET, INPUT, OUT] = [0, 64, 128];
const LIMB_BITS = 26n;
const word = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
const number = (data: Uint8Array) => BigInt(`0x0${Buffer.from(data).toString('hex')}`);
const reversed = (data: Uint8Array) => Uint8Array.from(data).reverse();

const secret = Uint8Array.from(createHash('sha256').update('a secret').digest());
const digest = Uint8Array.from(createHash('sha256').update('a message').digest());

/** All of the memory, the window wiped, after a public key and a signature have been made, or refused. */
async function memoryAfter(curve: number, scalar = secret): Promise<{ memory: Buffer; signature: Uint8Array }> {
  const { call, put, get } = await openInside();
  const of = (name: string, ...numbers: number[]) => call[name]?.(...numbers) ?? 0;
  put(SECRET, scalar);
  put(INPUT, digest);
  of('public_key', curve, SECRET, OUT);
  of('sign', curve, SECRET, INPUT, 32, OUT);
  const signature = get(OUT, 64);
  put(0, new Uint8Array(512));
  const words = Uint32Array.from({ length: of('memory_bytes') / 4 }, (_, i) => of('memory_word', 4 * i));
  return { memory: Buffer.from(words.buffer), signature };
}

/** The windows of five bits that the multiplication goes by, signed, a byte each. */
function digits(value: bigint): Uint8Array {
  let rest = value;
  return Uint8Array.from({ length: 52 }, () => {
    const digit = rest & 31n;
    rest = (rest >> 5n) + (digit > 16n ? 1n : 0n);
    return Number(digit > 16n ? digit - 32n : digit);
  });
}

/** The places where eight bytes of the number stand: in either order, as limbs two by two, or as digits. */
function traces(memory: Buffer, value: bigint): number[] {
  const limbs = Int32Array.from({ length: 10 }, (_, i) => Number((value >> (BigInt(i) * LIMB_BITS)) & 0x3ffffffn));
  const forms = [word(value), reversed(word(value)), new Uint8Array(limbs.buffer), digits(value).subarray(0, 48)];
  return forms.flatMap((form) =>
    Array.from({ length: form.length / 8 }, (_, i) => memory.indexOf(form.subarray(8 * i, 8 * i + 8))),
  );
}

const NOWHERE = new Array(19).fill(-1);

test('the search finds bytes and limbs', () => {
  const value = number(secret);
  const limbs = Int32Array.from({ length: 10 }, (_, i) => Number((value >> (BigInt(i) * LIMB_BITS)) & 0x3ffffffn));
  expect(traces(Buffer.concat([digest, secret]), value).slice(0, 4)).toEqual([32, 40, 48, 56]);
  expect(traces(Buffer.from(limbs.buffer), value).slice(8)).toEqual([0, 8, 16, 24, 32, -1, -1, -1, -1, -1, -1]);
  expect(traces(Buffer.from(digits(value)), value).slice(13)).toEqual([0, 8, 16, 24, 32, 40]);
});

test.each([
  [0, 'P-256', p256],
  [1, 'secp256k1', secp256k1],
] as const)('after signing neither scalar nor nonce is left in memory: %d, %s', async (curve, _name, { Point }) => {
  const { Fn, Fp } = Point;
  const { memory, signature } = await memoryAfter(curve);
  const [r, s, d] = [number(signature.subarray(0, 32)), number(signature.subarray(32)), number(secret)];
  // k = (e + r · d) / s, but for the sign.
  const nonce = Fn.mul(Fn.create(number(digest) + r * d), Fn.inv(s));
  const inverses = [nonce, Fn.neg(nonce)].flatMap((k) => [k, Fn.inv(k)]);
  const inside = (value: bigint) => [value, Fn.create(value << 260n), Fp.create(value << 260n)];
  expect(Fn.create(Point.BASE.multiply(nonce).x)).toBe(r);
  for (const value of [d, ...inverses].flatMap(inside)) expect(traces(memory, value)).toEqual(NOWHERE);
});

test.each([0, 1])('a scalar that is refused is not left in memory either: curve %d', async (curve) => {
  const beyond = Uint8Array.of(...new Uint8Array(16).fill(0xff), ...secret.subarray(16));
  const { memory, signature } = await memoryAfter(curve, beyond);
  expect(signature.every((byte) => byte === 0)).toBe(true);
  // Nothing but the low half tells it from other numbers.
  const low = number(secret.subarray(16));
  const [big, little] = [word(low).subarray(16), reversed(word(low).subarray(16))];
  const limbs = Int32Array.from({ length: 4 }, (_, i) => Number((low >> (BigInt(i) * LIMB_BITS)) & 0x3ffffffn));
  const forms = [big, little, new Uint8Array(limbs.buffer)];
  const found = forms.flatMap((form) => [0, 8].map((at) => memory.indexOf(form.subarray(at, at + 8))));
  expect(found).toEqual(new Array(6).fill(-1));
});

test('after signing neither seed nor expanded key nor nonce of Ed25519 is left in memory', async () => {
  const { memory } = await memoryAfter(2);
  const expanded = createHash('sha512').update(secret).digest();
  const clamped = Uint8Array.from(expanded.subarray(0, 32));
  clamped[0] = (clamped[0] ?? 0) & 248;
  clamped[31] = ((clamped[31] ?? 0) & 127) | 64;
  const nonce = createHash('sha512').update(expanded.subarray(32)).update(digest).digest();
  const order = (1n << 252n) + 27742317777372353535851937790883648493n;
  const numbers = [
    secret,
    expanded.subarray(0, 32),
    expanded.subarray(32),
    clamped,
    nonce.subarray(0, 32),
    nonce.subarray(32),
  ];
  for (const data of numbers) expect(traces(memory, number(reversed(data)))).toEqual(NOWHERE);
  expect(traces(memory, number(reversed(nonce)) % order)).toEqual(NOWHERE);
});
