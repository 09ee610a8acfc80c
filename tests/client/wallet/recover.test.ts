import { describe, expect, test } from 'bun:test';
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
});
