import { describe, expect, test } from 'bun:test';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Draw, manyTimes } from '../../support/draw.ts';
import { openEnclave, REFUSED } from '../../support/enclave.ts';
import { isLong } from '../../support/long.ts';

const DRAWS = isLong ? 10_000 : 1_000;

const { call, put, get } = openEnclave();
const OUT = 4096;
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');
const word = (value: bigint) => value.toString(16).padStart(64, '0');

/** r‖s and the answer; the mark that stood in the window when it was refused. */
function derToRaw(der: string): [number, string] {
  put(OUT, new Uint8Array(64).fill(0xee));
  const answer = call.der_to_raw(put(0, bytes(der)), der.length / 2, OUT);
  return [answer, hex(get(OUT, 64))];
}

function cose(key: string): [number, string] {
  put(OUT, new Uint8Array(64).fill(0xee));
  const answer = call.cose_p256(put(0, bytes(key)), key.length / 2, OUT);
  return [answer, hex(get(OUT, 64))];
}

const REFUSAL: [number, string] = [REFUSED.malformed, 'ee'.repeat(64)];

/** An INTEGER with no more zeros before it than its sign needs. */
function integer(value: bigint): string {
  let digits = value.toString(16);
  if (digits.length % 2) digits = `0${digits}`;
  if (Number.parseInt(digits.slice(0, 2), 16) > 0x7f) digits = `00${digits}`;
  return `02${length(digits)}${digits}`;
}

function sequence(...parts: string[]): string {
  return `30${length(parts.join(''))}${parts.join('')}`;
}

function length(digits: string): string {
  return (digits.length / 2).toString(16).padStart(2, '0');
}

function publicKey(key: KeyObject): [string, string] {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return [Buffer.from(x, 'base64url').toString('hex'), Buffer.from(y, 'base64url').toString('hex')];
}

describe('DER', () => {
  test('300 signatures of node:crypto come out with a low s and verify', () => {
    const { publicKey: key, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const point = bytes(publicKey(key).join(''));
    const seen = new Set<number>();
    for (let i = 0; i < 300; i++) {
      const message = Buffer.from(`message ${i}`);
      const [answer, raw] = derToRaw(sign('sha256', message, privateKey).toString('hex'));
      seen.add(answer);
      expect(p256.verify(bytes(raw), message, Uint8Array.of(4, ...point), { lowS: true })).toBe(true);
      put(0, point);
      put(64, createHash('sha256').update(message).digest());
      expect(call.p256_verify(0, 64, OUT)).toBe(1);
      expect(call.p256_is_low_s(OUT)).toBe(1);
    }
    expect([...seen].sort()).toEqual([0, 1]);
  });

  test(`${DRAWS} draws of r and s, s lowered to the order less s`, () => {
    const scalar = (draw: Draw) => (draw.bits(8 * (1 + draw.below(32))) % (ORDER - 1n)) + 1n;
    manyTimes(DRAWS, (draw) => {
      const [r, s] = [scalar(draw), scalar(draw)];
      const isHigh = s > ORDER / 2n;
      const want = word(r) + word(isHigh ? ORDER - s : s);
      expect(derToRaw(sequence(integer(r), integer(s)))).toEqual([isHigh ? 1 : 0, want]);
    });
  });

  test('the edges of the order', () => {
    const half = ORDER / 2n;
    expect(derToRaw(sequence(integer(1n), integer(half)))).toEqual([0, word(1n) + word(half)]);
    expect(derToRaw(sequence(integer(1n), integer(half + 1n)))).toEqual([1, word(1n) + word(half)]);
    expect(derToRaw(sequence(integer(ORDER - 1n), integer(ORDER - 1n)))).toEqual([1, word(ORDER - 1n) + word(1n)]);
    for (const [r, s] of [
      [0n, 1n],
      [1n, 0n],
      [ORDER, 1n],
      [1n, ORDER],
      [1n, 2n ** 256n - 1n],
      [2n ** 256n - 1n, 1n],
    ] as const) {
      expect(derToRaw(sequence(integer(r), integer(s)))).toEqual(REFUSAL);
    }
  });

  const R = integer(0x1122n);
  test.each([
    ['a zero too many', sequence('0203001122', R)],
    ['a negative number', sequence('0202ff22', R)],
    ['a number of no bytes', sequence('0200', R)],
    ['a number of 33 bytes', sequence(`0221${'11'.repeat(33)}`, R)],
    ['a length in the long form', `3081${sequence(R, R).slice(2)}`],
    ['an inner length in the long form', sequence(`028102${'1122'}`, R)],
    ['a length without end', `3080${R}${R}0000`],
    ['a byte behind', `${sequence(R, R)}00`],
    ['a byte inside behind', sequence(R, R, '00')],
    ['a third number', sequence(R, R, R)],
    ['one number', sequence(R, 'ffff')],
    ['a length beyond the end', sequence(R, '02051122')],
    ['another tag', sequence(R, '03021122')],
    ['another outer tag', `31${sequence(R, R).slice(2)}`],
    ['nothing', ''],
    ['zeros', '00'.repeat(72)],
  ])('%s is refused', (_name, der) => {
    expect(derToRaw(der)).toEqual(REFUSAL);
  });

  test('every cut and every changed byte of a signature is refused or another signature', () => {
    const der = sequence(integer(ORDER - 5n), integer(ORDER / 2n - 9n));
    const [, raw] = derToRaw(der);
    for (let n = 0; n < der.length; n += 2) expect(derToRaw(der.slice(0, n))).toEqual(REFUSAL);
    for (let i = 0; i < der.length / 2; i++) {
      const changed = bytes(der);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(derToRaw(hex(changed))[1]).not.toBe(raw);
    }
  });
});

describe.each([
  ['p256', p256],
  ['secp256k1', secp256k1],
] as const)('malleability on %s', (name, curve) => {
  const order = curve.Point.Fn.ORDER;
  const verify = call[`${name}_verify`];
  const isLow = call[`${name}_is_low_s`];

  test('the other s verifies too, and is told apart', () => {
    manyTimes(50, (draw) => {
      const [secret, digest] = [draw.bytes(32).fill(1, 0, 1), draw.bytes(32)];
      const signature = curve.sign(digest, secret, { prehash: false, lowS: true });
      const s = order - BigInt(`0x${hex(signature.subarray(32))}`);
      put(0, curve.getPublicKey(secret, false).subarray(1));
      put(64, digest);
      put(96, signature);
      expect([verify(0, 64, 96), isLow(96)]).toEqual([1, 1]);
      put(128, bytes(word(s)));
      expect([verify(0, 64, 96), isLow(96)]).toEqual([1, 0]);
    });
  });

  test('the greatest low s is half the order', () => {
    put(0, bytes(word(1n) + word(order / 2n)));
    expect(isLow(0)).toBe(1);
    put(0, bytes(word(1n) + word(order / 2n + 1n)));
    expect(isLow(0)).toBe(0);
  });
});

describe('COSE', () => {
  test('300 keys of node:crypto', () => {
    for (let i = 0; i < 300; i++) {
      const { publicKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const [x, y] = publicKey(key);
      expect(cose(`a5010203262001215820${x}225820${y}`)).toEqual([0, x + y]);
    }
  });

  const [X, Y] = ['11'.repeat(32), '22'.repeat(32)];
  test.each([
    ['another key type', `a5010103262001215820${X}225820${Y}`],
    ['another algorithm', `a5010203272001215820${X}225820${Y}`],
    ['another curve', `a5010203262002215820${X}225820${Y}`],
    ['keys in another order', `a5030201262001215820${X}225820${Y}`],
    ['a key twice', `a5010201022001215820${X}225820${Y}`],
    ['a short coordinate', `a501020326200121581f${X.slice(2)}225820${Y}00`],
    ['y as a sign', `a5010203262001215820${X}22f5`],
    ['a length in a longer form', `a501020326200121590020${X}22590020${Y}`],
    ['a private key', `a6010203262001215820${X}225820${Y}235820${X}`],
    ['a map without end', `bf010203262001215820${X}225820${Y}ff`],
    ['a byte behind', `a5010203262001215820${X}225820${Y}00`],
    ['nothing', ''],
  ])('%s is refused', (_name, key) => {
    expect(cose(key)).toEqual(REFUSAL);
  });
});
