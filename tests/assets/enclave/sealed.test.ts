import { describe, expect, test } from 'bun:test';
import { hkdfSync } from 'node:crypto';
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { openEnclave, REFUSED } from '../../support/enclave.ts';

const { call, put, get } = openEnclave();
const [SECRET, ENTROPY, BOX, OUT] = [0, 128, 1024, 4096];
const [P256, SECP256K1, ED25519] = [0, 1, 2];
const CURVES = [P256, SECP256K1, ED25519] as const;
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');
const secret = new Uint8Array(32).map((_, i) => i + 1);
const entropy = new Uint8Array(44).map((_, i) => 200 - i);
const boxBytes = (curve: number) => (curve === ED25519 ? 129 : 161);

function make(curve: number, fill = 7): number {
  const n = curve === ED25519 ? 32 : 48;
  return call.key_new(curve, put(ENTROPY, new Uint8Array(n).fill(fill)), n);
}

function seal(slot: number, from = secret): Uint8Array | number {
  const n = call.key_seal(slot, put(SECRET, from), from.length, put(ENTROPY, entropy), BOX);
  return n < 0 ? n : get(BOX, n);
}

function open(box: Uint8Array, from = secret): number {
  return call.key_open(put(BOX, box), box.length, put(SECRET, from), from.length);
}

function sealed(curve: number): { box: Uint8Array; key: string } {
  const slot = make(curve);
  const key = hex(get(OUT, call.key_public(slot, OUT)));
  const box = seal(slot) as Uint8Array;
  call.key_drop(slot);
  return { box, key };
}

describe.each(CURVES)('a box of curve %d', (curve) => {
  test('holds the key, and opens with its secret alone', () => {
    const { box, key } = sealed(curve);
    expect(box.length).toBe(boxBytes(curve));
    const slot = open(box);
    expect(slot).toBeGreaterThanOrEqual(0);
    expect([call.key_curve(slot), hex(get(OUT, call.key_public(slot, OUT)))]).toEqual([curve, key]);
    call.key_drop(slot);
    expect(
      open(
        box,
        secret.map((byte) => byte ^ 1),
      ),
    ).toBe(REFUSED.forged);
    expect(open(box, secret.subarray(0, 31))).toBe(REFUSED.forged);
  });

  test('is not opened with any bit changed', () => {
    const { box } = sealed(curve);
    for (let bit = 0; bit < box.length * 8; bit++) {
      const changed = box.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect([REFUSED.malformed, REFUSED.forged] as number[]).toContain(open(changed));
    }
    expect(call.key_curve(0)).toBe(REFUSED.noKey);
  });

  test('is not opened cut or with bytes behind', () => {
    const { box } = sealed(curve);
    for (let n = 0; n < box.length; n++) expect(open(box.subarray(0, n))).toBe(REFUSED.malformed);
    expect(open(Uint8Array.of(...box, 0))).toBe(REFUSED.malformed);
  });
});

/** A box made here: what the header of `assets/enclave/index.ts` says, with node:crypto and @noble/ciphers. */
function sealHere(curve: number, privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const [salt, nonce] = [entropy.subarray(0, 32), entropy.subarray(32)];
  const head = Uint8Array.of(0x56, 0x4b, 0x42, 1, curve, ...publicKey, ...salt, ...nonce);
  const key = new Uint8Array(hkdfSync('sha256', secret, salt, 'vault/enclave/sealed/v1', 32));
  return Uint8Array.of(...head, ...chacha20poly1305(key, nonce, head).encrypt(privateKey));
}

test('the format is the documented one: boxes made elsewhere open, and ours are the same', () => {
  const seed = new Uint8Array(32).fill(7);
  const box = sealHere(ED25519, seed, ed25519.getPublicKey(seed));
  expect(hex(box)).toBe(hex(sealed(ED25519).box));
  const slot = open(box);
  expect(slot).toBeGreaterThanOrEqual(0);
  call.key_drop(slot);
});

test('a key that is none, or another than the public one beside it, is not imported', () => {
  const one = new Uint8Array(32).fill(7);
  const point = p256.getPublicKey(one, false).subarray(1);
  expect(call.key_drop(open(sealHere(P256, one, point)))).toBe(0);
  const wrong = [
    sealHere(P256, new Uint8Array(32), point),
    sealHere(P256, new Uint8Array(32).fill(0xff), point),
    sealHere(P256, new Uint8Array(32).fill(8), point),
    sealHere(SECP256K1, one, point),
    sealHere(ED25519, one, point.subarray(0, 32)),
  ];
  for (const box of wrong) expect(open(box)).toBe(REFUSED.key);
  expect(call.key_curve(0)).toBe(REFUSED.noKey);
});

test('secret and entropy are wiped, whether it works or not', () => {
  const slot = make(P256);
  const box = seal(slot) as Uint8Array;
  const wiped = () => [hex(get(SECRET, 32)), hex(get(ENTROPY, 44))];
  const zeros = ['00'.repeat(32), '00'.repeat(44)];
  expect(wiped()).toEqual(zeros);
  call.key_drop(slot);
  expect(seal(slot)).toBe(REFUSED.noKey);
  expect(wiped()).toEqual(zeros);
  open(box.map((byte, i) => (i === 150 ? byte ^ 1 : byte)));
  expect(hex(get(SECRET, 32))).toBe('00'.repeat(32));
  call.key_drop(open(box));
  expect(hex(get(SECRET, 32))).toBe('00'.repeat(32));
});

test('a secret is 16 to 128 bytes that somebody wrote, and so is the entropy', () => {
  const slot = make(P256);
  const box = seal(slot) as Uint8Array;
  for (const n of [0, 15, 129]) {
    expect(seal(slot, new Uint8Array(n).fill(1))).toBe(REFUSED.length);
    expect(open(box, new Uint8Array(n).fill(1))).toBe(REFUSED.length);
  }
  expect([seal(slot, new Uint8Array(32)), open(box, new Uint8Array(32))]).toEqual([REFUSED.zeros, REFUSED.zeros]);
  put(SECRET, secret);
  put(ENTROPY, new Uint8Array(44));
  expect(call.key_seal(slot, SECRET, 32, ENTROPY, BOX)).toBe(REFUSED.zeros);
  for (const n of [16, 128]) {
    const other = seal(slot, new Uint8Array(n).fill(1)) as Uint8Array;
    expect(call.key_drop(open(other, new Uint8Array(n).fill(1)))).toBe(0);
  }
  call.key_drop(slot);
});

test('a box finds no room when every slot is taken, and the key in it stays sealed', () => {
  const { box } = sealed(P256);
  for (let i = 0; i < 16; i++) make(ED25519, i + 1);
  expect(open(box)).toBe(REFUSED.slotsFull);
  for (let i = 0; i < 16; i++) call.key_drop(i);
});
