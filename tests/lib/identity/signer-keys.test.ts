import { describe, expect, test } from 'bun:test';
import { Hex, Signature } from 'ox';
import { recoverKeys } from '../../../client/wallet/recover.ts';
import { toBase64url } from '../../../lib/base/bytes.ts';
import { verifyAssertion } from '../../../lib/identity/passkey.ts';
import { signerKeys } from '../../../lib/identity/signer-keys.ts';
import { createPasskey } from '../../support/passkey.ts';

const challenge = Uint8Array.from({ length: 32 }, (_, i) => i);
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** A signature's twin, by which the same key signed the same. */
const mirror = ({ r, s }: Signature.Signature) =>
  Signature.toDerBytes({ r, s: Hex.fromNumber(ORDER - BigInt(s), { size: 32 }) });

describe('the keys of an assertion', () => {
  test('are two, of which one is the signer’s, and both verify', async () => {
    for (let i = 0; i < 8; i++) {
      const { key, assert } = createPasskey();
      const assertion = assert(challenge);
      const keys = signerKeys(assertion);
      expect(keys.length).toBe(2);
      expect(keys).toContain(Hex.concat(Hex.fromBytes(key.x), Hex.fromBytes(key.y)));
      for (const one of keys) {
        const [x, y] = [Hex.toBytes(Hex.slice(one as Hex.Hex, 0, 32)), Hex.toBytes(Hex.slice(one as Hex.Hex, 32))];
        expect(await verifyAssertion(assertion, challenge, { x, y })).toBe(true);
      }
    }
  });

  test('are those that the client finds, and the same for the twin of the signature', async () => {
    const { assert } = createPasskey();
    const assertion = assert(challenge);
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
    const sha256 = async (...parts: Uint8Array[]) =>
      new Uint8Array(await crypto.subtle.digest('SHA-256', Buffer.concat(parts)));
    const digest = await sha256(bytes(assertion.authenticatorData), await sha256(bytes(assertion.clientDataJSON)));
    const { r, s } = Signature.fromDerBytes(bytes(assertion.signature));
    const byClient = recoverKeys(digest, Hex.toBytes(Hex.concat(Hex.padLeft(r, 32), Hex.padLeft(s, 32))));
    expect(new Set(signerKeys(assertion))).toEqual(new Set(byClient.map(({ x, y }) => x + y.slice(2))));
    const twin = { ...assertion, signature: toBase64url(mirror({ r, s, yParity: 0 })) };
    expect(new Set(signerKeys(twin))).toEqual(new Set(signerKeys(assertion)));
  });

  test.each([
    ['no DER', 'AAAA'],
    ['zero', toBase64url(Uint8Array.of(0x30, 6, 2, 1, 0, 2, 1, 0))],
    ['above the order', toBase64url(Uint8Array.of(0x30, 38, 2, 33, 0, ...Array(32).fill(255), 2, 1, 1))],
  ])('are none for a signature that no key can have made: %s', (_, signature) => {
    expect(signerKeys({ ...createPasskey().assert(challenge), signature })).toEqual([]);
  });
});
