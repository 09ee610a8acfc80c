import { describe, expect, test } from 'bun:test';
import { p256 } from '@noble/curves/nist.js';
import { Hash, Hex, P256 } from 'ox';
import { recoverKeys } from '../../../client/wallet/recover.ts';

const sign = (privateKey: Hex.Hex, digest: Uint8Array) => {
  const { r, s } = P256.sign({ payload: digest, privateKey });
  return Hex.toBytes(Hex.concat(r, s));
};

describe('recoverKeys', () => {
  test('the key that signed is one of two, as ox made it', () => {
    for (let i = 0; i < 20; i++) {
      const { privateKey, publicKey } = P256.createKeyPair();
      const digest = Hash.sha256(new Uint8Array([i]), { as: 'Bytes' });
      const keys = recoverKeys(digest, sign(privateKey, digest));
      expect(keys).toHaveLength(2);
      expect(keys).toContainEqual({ x: publicKey.x, y: publicKey.y });
    }
  });

  test('of another digest it is none of them', () => {
    const { privateKey, publicKey } = P256.createKeyPair();
    const [one, other] = [1, 2].map((byte) => Hash.sha256(new Uint8Array([byte]), { as: 'Bytes' }));
    const keys = recoverKeys(other ?? new Uint8Array(), sign(privateKey, one ?? new Uint8Array()));
    expect(keys).not.toContainEqual({ x: publicKey.x, y: publicKey.y });
  });

  test.each([
    ['zeros', new Uint8Array(64)],
    ['an r that is on no point', Hex.toBytes(`0x${'0'.repeat(63)}1${'0'.repeat(63)}1`)],
  ])('%s have no key', (_, signature) => {
    expect(recoverKeys(new Uint8Array(32).fill(1), signature)).toEqual([]);
  });

  test('the sum of a point and itself, or of a point and its negative, is no fault', () => {
    const [G, N] = [p256.Point.BASE, p256.Point.Fn.ORDER];
    // The signature’s point is G, and the digest −1: the halves of the sum are alike, or cancel out.
    const signature = Hex.toBytes(Hex.concat(Hex.fromNumber(G.x, { size: 32 }), Hex.fromNumber(1n, { size: 32 })));
    const { x, y } = G.multiply((2n * p256.Point.Fn.inv(G.x)) % N).toAffine();
    const keys = recoverKeys(Hex.toBytes(Hex.fromNumber(N - 1n)), signature);
    expect(keys).toEqual([{ x: Hex.fromNumber(x, { size: 32 }), y: Hex.fromNumber(y, { size: 32 }) }]);
  });
});
