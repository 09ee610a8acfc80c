import { describe, expect, test } from 'bun:test';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { manyTimes } from '../../support/draw.ts';
import {
  bytes,
  CURVES,
  type Curve,
  enclave,
  hex,
  inside,
  number,
  OUT,
  publicKey,
  sha256,
  sign,
  verifies,
  word,
} from '../../support/enclave-ecdsa.ts';
import { isLong } from '../../support/long.ts';

const { put } = enclave;

const KEYS = isLong ? 10_000 : 200;

const SIGNED: readonly (readonly [curve: Curve, secret: string, message: string, signature: string])[] = [
  // RFC 6979 A.2.5; the first has a high s there, which is taken off the order here.
  [
    CURVES[0],
    'c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721',
    'sample',
    `efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716${word(p256.Point.Fn.ORDER - 0xf7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8n)}`,
  ],
  [
    CURVES[0],
    'c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721',
    'test',
    'f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083',
  ],
  // The vectors that wallets share for RFC 6979 on secp256k1.
  [
    CURVES[1],
    word(1n),
    'Satoshi Nakamoto',
    '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d82442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
  ],
  [
    CURVES[1],
    word(1n),
    'All those moments will be lost in time, like tears in rain. Time to die...',
    '8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21',
  ],
  [
    CURVES[1],
    word(secp256k1.Point.Fn.ORDER - 1n),
    'Satoshi Nakamoto',
    'fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d06b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5',
  ],
  [
    CURVES[1],
    'f8b8af8ce3c7cca5e300d33939540c10d45ce001b8f252bfbc57ba0342904181',
    'Alan Turing',
    '7063ae83e7f62bbb171798131b4a0564b956930092b33b07b395615d9ec7e15c58dfcc1e00a35e1572f366ffe34ba0fc47db1e7189759b9fb233c5b05ab388ea',
  ],
];

test.each(SIGNED.map(([curve, ...rest]) => [curve.name, ...rest, curve] as const))(
  'published: %s, %s signs %s',
  (_name, secret, message, signature, curve) => {
    expect(sign(curve, secret, sha256(message))[1]).toBe(signature);
    expect(verifies(curve, publicKey(curve, secret) ?? '', sha256(message), signature)).toBe(true);
  },
);

test('the public key of RFC 6979 A.2.5', () => {
  expect(publicKey(CURVES[0], SIGNED[0]?.[1] ?? '')).toBe(
    '60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299',
  );
});

describe.each(CURVES)('$name', (curve) => {
  const { group } = curve;
  const { Fn, Fp, BASE } = group.Point;
  const [n, p] = [Fn.ORDER, Fp.ORDER];
  type Point = typeof BASE;
  const xy = (point: Point) => word(point.x) + word(point.y);
  const times = (k: bigint) => BASE.multiply(k);
  const raw = (r: bigint, s: bigint) => word(r) + word(s);

  test('scalars of 1 to the order less one have public keys as in @noble/curves, and no others', () => {
    for (const scalar of [0n, n, n + 1n, (1n << 256n) - 1n]) {
      inside.put(OUT, new Uint8Array(64).fill(7));
      expect([scalar, publicKey(curve, word(scalar))]).toEqual([scalar, undefined]);
      expect([scalar, ...sign(curve, word(scalar), sha256(''))]).toEqual([scalar, -1, '07'.repeat(64)]);
    }
    const powers = Array.from({ length: 256 }, (_, i) => 1n << BigInt(i));
    const windows = [15n, 16n, 17n, 31n].map((digit) => BigInt(`0x${digit.toString(16).repeat(64).slice(0, 63)}`));
    const alike = [0x10n, 0x0fn, 0x1fn].map((digit) =>
      powers.filter((_, i) => i % 5 === 0 && i < 250).reduce((sum, at) => sum + digit * at, 0n),
    );
    for (const scalar of [1n, 2n, 3n, n - 1n, n - 2n, n >> 1n, (n >> 1n) + 1n, ...powers, ...windows, ...alike]) {
      const valid = scalar % n || 1n;
      expect([valid, publicKey(curve, word(valid))]).toEqual([valid, xy(times(valid))]);
    }
  });

  test(`${KEYS} keys and digests: signatures as @noble/curves makes them, parity as it recovers; verified here, and not with a bit changed`, () => {
    manyTimes(KEYS, (draw) => {
      const secret = group.utils.randomSecretKey(draw.bytes(48));
      const digest = draw.below(50) ? draw.bytes(32) : new Uint8Array(32).fill(draw.below(2) * 255);
      const expected = group.sign(digest, secret, { prehash: false, lowS: true, format: 'recovered' });
      const [parity, signature] = sign(curve, hex(secret), digest);
      expect([hex(digest), signature]).toEqual([hex(digest), hex(expected.subarray(1))]);
      expect(parity).toBe((expected[0] ?? 2) & 1);
      const key = publicKey(curve, hex(secret)) ?? '';
      expect(verifies(curve, key, digest, signature)).toBe(true);
      // With the other s it stays valid, with any other bit changed it does not.
      const changed = bytes(signature);
      const place = draw.below(64);
      changed[place] = (changed[place] ?? 0) ^ (1 << draw.below(8));
      expect(verifies(curve, key, digest, hex(changed))).toBe(false);
      const [r, s] = [number(bytes(signature.slice(0, 64))), number(bytes(signature.slice(64)))];
      expect(verifies(curve, key, digest, raw(r, n - s))).toBe(true);
      expect([curve.isLowS(put(0, bytes(signature))), curve.isLowS(put(0, bytes(raw(r, n - s))))]).toEqual([1, 0]);
      if (draw.below(20) === 0) expect(hex(group.getPublicKey(secret, false)).slice(2)).toBe(key);
    });
  });

  test('r and s of 0, the order and more are refused, and s above half the order is not low', () => {
    const digest = sha256('edges');
    const key = xy(times(7n));
    const [, signature] = sign(curve, word(7n), digest);
    const [r, s] = [number(bytes(signature.slice(0, 64))), number(bytes(signature.slice(64)))];
    for (const wrong of [0n, n, n + 1n, (1n << 256n) - 1n]) {
      expect([wrong, verifies(curve, key, digest, raw(wrong, s))]).toEqual([wrong, false]);
      expect([wrong, verifies(curve, key, digest, raw(r, wrong))]).toEqual([wrong, false]);
    }
    const low = [0n, 1n, n >> 1n, (n >> 1n) + 1n, n - 1n, n, n + 1n].map((value) =>
      curve.isLowS(put(0, bytes(raw(r, value)))),
    );
    expect(low).toEqual([0, 1, 1, 0, 0, 0, 0]);
  });

  /**
   * A valid signature for a public key whose scalar nobody knows: R = u1 · G + u2 · Q, r = x(R), s = r / u2, e = u1 ·
   * s.
   */
  function forge(key: Point, u1: bigint, u2: bigint): [Uint8Array, bigint, bigint] {
    const r = Fn.create(times(u1).add(key.multiply(u2)).x);
    const s = Fn.mul(r, Fn.inv(u2));
    return [bytes(word(Fn.mul(u1, s))), r, s];
  }

  /** The points whose x is the first from `x` on that has a point. */
  function pointFrom(x: bigint): Point {
    for (let at = x; ; at++) {
      try {
        return group.Point.fromHex(`02${word(at)}`);
      } catch {}
    }
  }

  test('a coordinate that is not below the prime is refused, though it stands for a point', () => {
    const key = pointFrom(1n);
    const [digest, r, s] = forge(key, 12345n, 67890n);
    expect(verifies(curve, xy(key), digest, raw(r, s))).toBe(true);
    expect(verifies(curve, word(key.x + p) + word(key.y), digest, raw(r, s))).toBe(false);
    expect(verifies(curve, word(key.x) + 'f'.repeat(64), digest, raw(r, s))).toBe(false);
  });

  test('what is not on the curve is refused', () => {
    const [, signature] = sign(curve, word(7n), sha256(''));
    manyTimes(500, (draw) => {
      const key = bytes(xy(times(7n)));
      const place = draw.below(64);
      key[place] = (key[place] ?? 0) ^ (1 << draw.below(8));
      expect(verifies(curve, hex(key), sha256(''), signature)).toBe(false);
    });
    for (const key of [raw(0n, 0n), raw(0n, 1n), raw(p - 1n, p - 1n)]) {
      expect([key, verifies(curve, key, sha256(''), signature)]).toEqual([key, false]);
    }
  });

  test('an x of R between the order and the prime counts as x less the order', () => {
    // On secp256k1 there is a point at x = n, whose r would be 0.
    const wanted = pointFrom(n + 1n);
    expect(wanted.x).toBeLessThan(p);
    // R = 5 · G + 3 · Q
    const key = wanted.subtract(times(5n)).multiply(Fn.inv(3n));
    const [digest, r, s] = forge(key, 5n, 3n);
    expect(r).toBe(wanted.x - n);
    expect(verifies(curve, xy(key), digest, raw(r, s))).toBe(true);
    expect(verifies(curve, xy(key), digest, raw(r + 1n, s))).toBe(false);
  });

  test('an R at infinity is refused, and equal or opposite summands are added rightly', () => {
    const [r, s, e] = [1234n, 5678n, 91011n];
    // u1 · G + u2 · Q vanishes for Q = -(e / r) · G.
    const key = times(Fn.mul(e, Fn.inv(r))).negate();
    expect(verifies(curve, xy(key), bytes(word(e)), raw(r, s))).toBe(false);
    for (const scalar of [1n, 2n, n - 2n, n >> 1n]) {
      for (const [u1, u2] of [
        [1n, 1n],
        [2n, 1n],
        [7n, 7n],
        [n - 3n, 5n],
        [16n, 32n],
      ] as const) {
        if (Fn.create(u1 + u2 * scalar) === 0n) continue;
        const [digest, r2, s2] = forge(times(scalar), u1, u2);
        expect([scalar, u1, u2, verifies(curve, xy(times(scalar)), digest, raw(r2, s2))]).toEqual([
          scalar,
          u1,
          u2,
          true,
        ]);
      }
    }
  });
});
