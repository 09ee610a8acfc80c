import { describe, expect, test } from 'bun:test';
import { createPublicKey, verify as verifyNatively } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { manyTimes } from '../../support/draw.ts';
import { openEnclave } from '../../support/enclave.ts';
import { openInside } from '../../support/enclave-inside.ts';
import { isLong } from '../../support/long.ts';

const SEEDS = isLong ? 10_000 : 200;

const inside = await openInside();
const { call, put } = openEnclave();
const { Point } = ed25519;
const { Fn, Fp, BASE } = Point;
const [SEED, OUT, MESSAGE] = [0, 64, 128];
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');
const little = (value: bigint) => bytes(value.toString(16).padStart(64, '0')).reverse();
const fromLittle = (data: Uint8Array) => BigInt(`0x${hex(data.slice().reverse())}`);
const join = (...parts: readonly Uint8Array[]) => Uint8Array.from(Buffer.concat(parts));

function publicKey(seed: Uint8Array): Uint8Array {
  inside.put(SEED, seed);
  inside.call['public_key']?.(2, SEED, OUT);
  return inside.get(OUT, 32);
}

function sign(seed: Uint8Array, message: Uint8Array): Uint8Array {
  inside.put(SEED, seed);
  inside.put(MESSAGE, message);
  inside.call['sign']?.(2, SEED, MESSAGE, message.length, OUT);
  return inside.get(OUT, 64);
}

function verifies(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  put(0, key);
  put(64, signature);
  return call.ed25519_verify(0, put(128, message), message.length, 64) === 1;
}

const strictly = (key: Uint8Array, message: Uint8Array, signature: Uint8Array) =>
  ed25519.verify(signature, message, key, { zip215: false });

// RFC 8032, section 7.1, tests 1 to 3.
test.each([
  [
    '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
])('RFC 8032: %s', (seed, key, message, signature) => {
  expect(hex(publicKey(bytes(seed)))).toBe(key);
  expect(hex(sign(bytes(seed), bytes(message)))).toBe(signature);
  expect(verifies(bytes(key), bytes(message), bytes(signature))).toBe(true);
});

test(`${SEEDS} seeds and messages: signatures as @noble/curves makes them; verified here, and not with a bit changed`, () => {
  manyTimes(SEEDS, (draw) => {
    const [seed, message] = [draw.bytes(32), draw.upTo(300)];
    const signature = sign(seed, message);
    expect(hex(signature)).toBe(hex(ed25519.sign(message, seed)));
    const key = publicKey(seed);
    expect(verifies(key, message, signature)).toBe(true);
    const whole = join(key, signature);
    const place = draw.below(96);
    whole[place] = (whole[place] ?? 0) ^ (1 << draw.below(8));
    expect(verifies(whole.subarray(0, 32), message, whole.subarray(32))).toBe(false);
    if (draw.below(20) === 0) expect(hex(key)).toBe(hex(ed25519.getPublicKey(seed)));
  });
});

test('signatures verify in node:crypto, and what does not there does not here', () => {
  manyTimes(SEEDS, (draw) => {
    const [seed, message] = [draw.bytes(32), draw.upTo(300)];
    const [key, signature] = [publicKey(seed), sign(seed, message)];
    if (draw.below(2)) signature[draw.below(64)] = draw.below(256);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') };
    const natively = verifyNatively(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
    expect(verifies(key, message, signature)).toBe(natively);
  });
});

describe('the strict rules', () => {
  const message = bytes('01020304');
  const seed = new Uint8Array(32).fill(9);
  const key = publicKey(seed);
  const signature = sign(seed, message);

  test('S that is not below the order is refused', () => {
    const s = fromLittle(signature.subarray(32));
    for (const wrong of [s + Fn.ORDER, Fn.ORDER, (1n << 256n) - 1n]) {
      const changed = join(signature.subarray(0, 32), little(wrong));
      expect([verifies(key, message, changed), strictly(key, message, changed)]).toEqual([false, false]);
    }
  });

  test('with a summand of small order in A and in R the equation itself must hold, not eight times it', () => {
    const { scalar } = ed25519.utils.getExtendedPublicKey(seed);
    const torsion = smallOrder();
    expect(new Set(torsion.map((point) => point.toHex())).size).toBe(8);
    for (const inKey of torsion) {
      for (const inNonce of torsion) {
        const [a, r] = [BASE.multiply(scalar).add(inKey).toBytes(), BASE.multiply(77n).add(inNonce).toBytes()];
        const k = Fn.create(fromLittle(sha512(join(r, a, message))));
        const made = join(r, little(Fn.create(77n + k * scalar)));
        const holds = inNonce.add(inKey.multiplyUnsafe(k)).is0();
        expect([verifies(a, message, made), strictly(a, message, made)]).toEqual([holds, true]);
      }
    }
  });

  test('a public key of small order is refused, and such an R too', () => {
    for (const small of smallOrder()) {
      const r = small.toBytes();
      // With A of small order, S = 0 and any R of small order the equation holds for every message.
      const forged = join(r, little(0n));
      for (const other of smallOrder()) {
        expect([verifies(other.toBytes(), message, forged), strictly(other.toBytes(), message, forged)]).toEqual([
          false,
          false,
        ]);
      }
      const { scalar } = ed25519.utils.getExtendedPublicKey(seed);
      const k = Fn.create(fromLittle(sha512(join(r, key, message))));
      const made = join(r, little(Fn.create(k * scalar)));
      expect([verifies(key, message, made), strictly(key, message, made)]).toEqual([false, true]);
    }
  });

  test('encodings are refused: y not below the prime, x = 0 with a sign, no x', () => {
    const sign = 1n << 255n;
    const values = [0n, 1n, 2n, 3n, 4n, 5n, Fp.ORDER - 1n, Fp.ORDER, Fp.ORDER + 1n, Fp.ORDER + 3n, (1n << 255n) - 1n];
    let refused = 0;
    for (const value of [...values, ...values.map((one) => one | sign)]) {
      const encoded = little(value);
      const known = points(encoded);
      // R is the encoding, and S what would make the equation hold if R were the neutral point.
      const k = Fn.create(fromLittle(sha512(join(encoded, key, message))));
      const { scalar } = ed25519.utils.getExtendedPublicKey(seed);
      const made = join(encoded, little(Fn.create(k * scalar)));
      if (!known) refused++;
      expect([value, verifies(key, message, made)]).toEqual([value, false]);
      expect([value, verifies(encoded, message, signature)]).toEqual([value, false]);
    }
    expect(refused).toBeGreaterThan(8);
  });
});

/** Whether the bytes are a canonical point. */
function points(encoded: Uint8Array): boolean {
  try {
    Point.fromBytes(encoded);
    return true;
  } catch {
    return false;
  }
}

/** The eight points of order 8 or less: the multiples of one that the group order leaves. */
function smallOrder(): (typeof BASE)[] {
  for (let y = 2n; ; y++) {
    if (!points(little(y))) continue;
    const point = Point.fromBytes(little(y));
    // The group order less one, and once more: noble takes no scalar of the order itself.
    const left = point.multiplyUnsafe(Fn.ORDER - 1n).add(point);
    const eight = Array.from({ length: 8 }, (_, i) => (i ? left.multiplyUnsafe(BigInt(i)) : Point.ZERO));
    if (new Set(eight.map((one) => one.toHex())).size === 8) return eight;
  }
}
