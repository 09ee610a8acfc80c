import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Draw, manyTimes } from '../../support/draw.ts';
import { openEnclave, REFUSED } from '../../support/enclave.ts';
import { isLong } from '../../support/long.ts';

const KEYS = isLong ? 200 : 30;
const ENTROPY = 0;
const OUT = 4096;
const [P256, SECP256K1, ED25519] = [0, 1, 2];
const CURVES = [P256, SECP256K1, ED25519] as const;
const WEIERSTRASS = [p256, secp256k1];
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const entropyBytes = (curve: number) => (curve === ED25519 ? 32 : 48);

/** The private key that entropy has to become: FIPS 186-5 appendix A.2.1, or the seed itself. */
function privateKey(curve: number, entropy: Uint8Array): Uint8Array {
  const group = WEIERSTRASS[curve];
  if (!group) return entropy;
  const scalar = (BigInt(`0x${hex(entropy)}`) % (group.Point.Fn.ORDER - 1n)) + 1n;
  return bytes(scalar.toString(16).padStart(64, '0'));
}

/** The public key as @noble/curves derives it. */
function publicKey(curve: number, secret: Uint8Array): string {
  const group = WEIERSTRASS[curve];
  return group ? hex(group.getPublicKey(secret, false).subarray(1)) : hex(ed25519.getPublicKey(secret));
}

function open() {
  const enclave = openEnclave();
  const { call, put, get } = enclave;
  return {
    ...enclave,
    make(curve: number, entropy: Uint8Array): number {
      return call.key_new(curve, put(ENTROPY, entropy), entropy.length);
    },
    publicKey(slot: number): string {
      return hex(get(OUT, call.key_public(slot, OUT)));
    },
    sign(name: 'key_sign' | 'ucan_sign', slot: number, input: Uint8Array): [number, Uint8Array] {
      return [call[name](slot, put(0, input), input.length, OUT), get(OUT, 64)];
    },
  };
}

/** Whether @noble/curves takes the signature of a digest, or with Ed25519 of a message; high s not. */
function verifies(curve: number, key: string, input: Uint8Array, signature: Uint8Array): boolean {
  const group = WEIERSTRASS[curve];
  if (!group) return ed25519.verify(signature, input, bytes(key));
  return group.verify(signature, input, bytes(`04${key}`), { prehash: false, lowS: true });
}

describe('a new key', () => {
  test('is made of its entropy as FIPS 186-5 A.2.1 and RFC 8032 say, and the entropy wiped', () => {
    const enclave = open();
    manyTimes(KEYS, (draw) => {
      for (const curve of CURVES) {
        const entropy = draw.bytes(entropyBytes(curve));
        const slot = enclave.make(curve, entropy);
        expect(slot).toBe(0);
        expect(hex(enclave.get(ENTROPY, entropy.length))).toBe('00'.repeat(entropy.length));
        expect(enclave.call.key_curve(slot)).toBe(curve);
        expect(enclave.publicKey(slot)).toBe(publicKey(curve, privateKey(curve, entropy)));
        expect(enclave.call.key_drop(slot)).toBe(0);
      }
    });
  });

  test('is right at the edges of the reduction', () => {
    const enclave = open();
    for (const curve of [P256, SECP256K1] as const) {
      const order = WEIERSTRASS[curve]?.Point.Fn.ORDER ?? 0n;
      const edges = [
        1n,
        order - 2n,
        order - 1n,
        order,
        2n * (order - 1n),
        2n ** 256n - 1n,
        2n ** 256n,
        2n ** 384n - 1n,
      ];
      for (const edge of [...edges, ((2n ** 384n - 1n) / (order - 1n)) * (order - 1n)]) {
        const entropy = bytes(edge.toString(16).padStart(96, '0'));
        const slot = enclave.make(curve, entropy);
        expect([edge, enclave.publicKey(slot)]).toEqual([edge, publicKey(curve, privateKey(curve, entropy))]);
        enclave.call.key_drop(slot);
      }
    }
  });

  test('needs entropy that somebody wrote, of the right length, and a curve', () => {
    const { make, get, call } = open();
    const entropy = new Uint8Array(48).fill(1);
    expect(make(P256, new Uint8Array(48))).toBe(REFUSED.zeros);
    expect(make(P256, entropy)).toBe(0);
    expect(call.key_new(P256, ENTROPY, 48)).toBe(REFUSED.zeros);
    for (const n of [1, 32, 47]) expect(make(P256, entropy.subarray(0, n))).toBe(REFUSED.length);
    expect(make(ED25519, entropy)).toBe(REFUSED.length);
    expect(make(3, entropy)).toBe(REFUSED.curve);
    expect(make(2 ** 32 - 1, entropy)).toBe(REFUSED.curve);
    expect(hex(get(ENTROPY, 48))).toBe('00'.repeat(48));
  });
});

describe('slots', () => {
  test('are sixteen; one that was dropped is taken again', () => {
    const { make, call, publicKey: keyOf } = open();
    const entropy = (i: number) => new Uint8Array(48).fill(i + 1);
    expect(Array.from({ length: 18 }, (_, i) => make(P256, entropy(i)))).toEqual([
      ...Array.from({ length: 16 }, (_, i) => i),
      REFUSED.slotsFull,
      REFUSED.slotsFull,
    ]);
    const before = keyOf(6);
    expect([call.key_drop(5), call.key_drop(5)]).toEqual([0, REFUSED.noKey]);
    expect(make(SECP256K1, entropy(99))).toBe(5);
    expect([call.key_curve(5), keyOf(6)]).toEqual([SECP256K1, before]);
  });

  test.each([0, 15, 16, 17, 255, 2 ** 31, 2 ** 32 - 1])(
    'an empty or impossible slot %d answers NO_KEY everywhere',
    (slot) => {
      const { call, put, get } = open();
      put(OUT, new Uint8Array(200).fill(0xee));
      put(0, new Uint8Array(100).fill(1));
      expect([
        call.key_public(slot, OUT),
        call.key_curve(slot),
        call.key_sign(slot, 0, 32, OUT),
        call.ucan_sign(slot, 0, 32, OUT),
        call.key_seal(slot, 0, 32, 32, OUT),
        call.key_drop(slot),
      ]).toEqual(new Array(6).fill(REFUSED.noKey));
      expect(hex(get(OUT, 200))).toBe('ee'.repeat(200));
      expect(hex(get(0, 76))).toBe('00'.repeat(76));
    },
  );

  test('one module knows nothing of the keys of another', () => {
    const [one, other] = [open(), open()];
    expect(one.make(P256, new Uint8Array(48).fill(1))).toBe(0);
    expect(other.call.key_curve(0)).toBe(REFUSED.noKey);
  });
});

describe('signing', () => {
  const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest();

  test.each(CURVES)('on curve %d is taken by @noble/curves, low s only, and tells the parity', (curve) => {
    const enclave = open();
    manyTimes(KEYS, (draw: Draw) => {
      const slot = enclave.make(curve, draw.bytes(entropyBytes(curve)));
      const key = enclave.publicKey(slot);
      const input = curve === ED25519 ? draw.upTo(200) : draw.bytes(32);
      const [parity, signature] = enclave.sign('key_sign', slot, input);
      expect(verifies(curve, key, input, signature)).toBe(true);
      const group = WEIERSTRASS[curve];
      if (group) {
        const recovered = group.Signature.fromBytes(signature).addRecoveryBit(parity).recoverPublicKey(input);
        expect(hex(recovered.toBytes(false))).toBe(`04${key}`);
      } else expect(parity).toBe(0);
      expect(enclave.sign('key_sign', slot, input)).toEqual([parity, signature]);
      enclave.call.key_drop(slot);
    });
  });

  test.each(CURVES)('a UCAN on curve %d signs the payload, with ECDSA its SHA-256', (curve) => {
    const enclave = open();
    manyTimes(KEYS, (draw: Draw) => {
      const slot = enclave.make(curve, draw.bytes(entropyBytes(curve)));
      const payload = draw.upTo(1000);
      const [answer, signature] = enclave.sign('ucan_sign', slot, payload);
      expect(answer).toBeGreaterThanOrEqual(0);
      const signed = curve === ED25519 ? payload : sha256(payload);
      expect(verifies(curve, enclave.publicKey(slot), signed, signature)).toBe(true);
      expect(enclave.sign('key_sign', slot, signed)).toEqual([answer, signature]);
      enclave.call.key_drop(slot);
    });
  });

  test.each(CURVES)('on curve %d may overwrite what is signed', (curve) => {
    const enclave = open();
    const slot = enclave.make(curve, new Uint8Array(entropyBytes(curve)).fill(5));
    const input = new Uint8Array(32).map((_, i) => i);
    const want = enclave.sign('key_sign', slot, input);
    for (const out of [68, 90, 100, 110, 131]) {
      const answer = enclave.call.key_sign(slot, enclave.put(100, input), 32, out);
      expect([answer, enclave.get(out, 64)]).toEqual(want);
    }
  });

  test('ECDSA signs digests of 32 bytes and nothing else', () => {
    const { make, sign } = open();
    const slot = make(P256, new Uint8Array(48).fill(1));
    for (const n of [0, 1, 31, 33, 64]) expect(sign('key_sign', slot, new Uint8Array(n))[0]).toBe(REFUSED.length);
  });
});
