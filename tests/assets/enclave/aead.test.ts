import { describe, expect, test } from 'bun:test';
import { chacha20, chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { type Draw, manyTimes } from '../../support/draw.ts';
import { openEnclave, REFUSED } from '../../support/enclave.ts';

const { call, put, get } = openEnclave();
const [KEY, NONCE, AAD, INPUT, OUT] = [0, 32, 64, 2048, 5000];
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');

function seal(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, plain: Uint8Array): Uint8Array {
  put(AAD, aad);
  put(INPUT, plain);
  const n = call.chacha20poly1305_seal(put(KEY, key), put(NONCE, nonce), AAD, aad.length, INPUT, plain.length, OUT);
  return get(OUT, n);
}

/** What it opened, or why not. */
function open(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, box: Uint8Array): Uint8Array | number {
  put(AAD, aad);
  put(INPUT, box);
  const n = call.chacha20poly1305_open(put(KEY, key), put(NONCE, nonce), AAD, aad.length, INPUT, box.length, OUT);
  return n < 0 ? n : get(OUT, n);
}

/** RFC 8439 section 2.8.2. */
const RFC = {
  key: bytes('808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f'),
  nonce: bytes('070000004041424344454647'),
  aad: bytes('50515253c0c1c2c3c4c5c6c7'),
  plain: new TextEncoder().encode(
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
  ),
  box: bytes(
    'd31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116' +
      '1ae10b594f09e26a7e902ecbd0600691',
  ),
};

test('seals and opens the example of RFC 8439 section 2.8.2, and wipes the key', () => {
  expect(hex(seal(RFC.key, RFC.nonce, RFC.aad, RFC.plain))).toBe(hex(RFC.box));
  expect(hex(get(KEY, 32))).toBe('00'.repeat(32));
  expect(open(RFC.key, RFC.nonce, RFC.aad, RFC.box)).toEqual(RFC.plain);
  expect(hex(get(KEY, 32))).toBe('00'.repeat(32));
});

test('opens the example of RFC 8439 appendix A.5', () => {
  const key = bytes('1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0');
  const box = bytes(
    '64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb24c6cfc18755d43eea09ee94e382d26b0bdb7b73c321b0100d4f03b7f355894cf332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1ff37c8559797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4b9166c767b804d46a59b5216cde7a4e99040c5a40433225ee282a1b0a06c523eaf4534d7f83fa1155b0047718cbc546a0d072b04b3564eea1b422273f548271a0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a6727627097a1049e617d91d361094fa68f0ff77987130305beaba2eda04df997b714d6c6f2c29a6ad5cb4022b02709b' +
      'eead9d67890cbb22392336fea1851f38',
  );
  const text = open(key, bytes('000000000102030405060708'), bytes('f33388860000000000004e91'), box);
  expect(new TextDecoder().decode(text as Uint8Array)).toStartWith(
    'Internet-Drafts are draft documents valid for a maximum of six months',
  );
});

test('10,000 draws as @noble/ciphers, and back', () => {
  manyTimes(10_000, (draw) => {
    const [key, nonce, aad, plain] = [draw.bytes(32), draw.bytes(12), draw.upTo(64), draw.upTo(300)];
    const box = seal(key, nonce, aad, plain);
    expect(hex(box)).toBe(hex(chacha20poly1305(key, nonce, aad).encrypt(plain)));
    expect(open(key, nonce, aad, box)).toEqual(plain);
  });
});

describe('Poly1305 where its reduction matters: a ciphertext of one block is made for the sum before the tag', () => {
  const P = 2n ** 130n - 5n;
  const little = (data: Uint8Array) => BigInt(`0x${hex(Uint8Array.from(data).reverse())}`);
  const block = (value: bigint) => bytes(value.toString(16).padStart(32, '0')).reverse();
  const inverse = (value: bigint) => power(value, P - 2n);
  const power = (base: bigint, exponent: bigint): bigint =>
    exponent === 0n ? 1n : (power((base * base) % P, exponent / 2n) * (exponent & 1n ? base : 1n)) % P;

  /**
   * Box and nonce such that (((c + 2^128) r + lengths + 2^128) r) mod P is the sum; for three of four nonces there is
   * no such c.
   */
  function forSum(draw: Draw, sum: bigint): { nonce: Uint8Array; box: Uint8Array } {
    for (;;) {
      const nonce = draw.bytes(12);
      const once = chacha20(RFC.key, nonce, new Uint8Array(32));
      const r = little(once.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
      const before = sum * inverse(r) - (16n << 64n) - 2n ** 128n;
      const c = (((before * inverse(r) - 2n ** 128n) % P) + P) % P;
      const tag = (sum + little(once.subarray(16))) % 2n ** 128n;
      if (c < 2n ** 128n) return { nonce, box: Uint8Array.of(...block(c), ...block(tag)) };
    }
  }

  test.each([
    ['the least sums, which stand as the prime and more', (draw: Draw) => BigInt(draw.below(5))],
    ['the greatest sums', (draw: Draw) => P - 1n - BigInt(draw.below(5))],
    [
      'a second limb that ran over',
      (draw: Draw) => (draw.bits(77) << 52n) | (BigInt(draw.below(4)) << 26n) | draw.bits(26),
    ],
    [
      'a second limb that ran over, and the third with it',
      (draw: Draw) => (((draw.bits(26) << 26n) << 52n) | (BigInt(draw.below(4)) << 26n) | draw.bits(26)) % P,
    ],
  ])('%s', (_name, sum) => {
    manyTimes(30, (draw) => {
      const { nonce, box } = forSum(draw, sum(draw));
      const plain = chacha20poly1305(RFC.key, nonce).decrypt(box);
      expect(open(RFC.key, nonce, new Uint8Array(), box)).toEqual(plain);
    });
  });
});

test('one changed bit anywhere is not opened, and nothing is written', () => {
  manyTimes(1000, (draw) => {
    const parts = { key: draw.bytes(32), nonce: draw.bytes(12), aad: draw.bytes(20), plain: draw.upTo(100) };
    const changed = { ...parts, box: seal(parts.key, parts.nonce, parts.aad, parts.plain) };
    const names = ['key', 'nonce', 'aad', 'box'] as const;
    const target = changed[names[draw.below(4)] ?? 'key'];
    const at = draw.below(target.length);
    target[at] = (target[at] ?? 0) ^ (1 << draw.below(8));
    put(OUT, new Uint8Array(100).fill(0xee));
    expect(open(changed.key, changed.nonce, changed.aad, changed.box)).toBe(REFUSED.forged);
    expect(hex(get(OUT, 100))).toBe('ee'.repeat(100));
  });
});

test('a text shorter than a tag is refused', () => {
  expect(open(RFC.key, RFC.nonce, RFC.aad, RFC.box.subarray(0, 15))).toBe(REFUSED.length);
  expect(hex(get(KEY, 32))).toBe('00'.repeat(32));
});

test('seals and opens in place, and with an output over any other input but the key', () => {
  manyTimes(1000, (draw) => {
    const [key, nonce, aad, plain] = [draw.bytes(32), draw.bytes(12), draw.bytes(40), draw.bytes(1 + draw.below(200))];
    const want = hex(seal(key, nonce, aad, plain));
    const out = 32 + draw.below(3000);
    put(KEY, key);
    put(NONCE, nonce);
    put(AAD, aad);
    put(INPUT, plain);
    const n = call.chacha20poly1305_seal(KEY, NONCE, AAD, aad.length, INPUT, plain.length, out);
    expect(hex(get(out, n))).toBe(want);
  });
});

test('the longest text that the window holds', () => {
  const plain = new Uint8Array(8192 - 44 - 16).map((_, i) => i * 7);
  const [key, nonce] = [RFC.key, RFC.nonce];
  put(0, key);
  put(32, nonce);
  put(44, plain);
  expect(call.chacha20poly1305_seal(0, 32, 0, 0, 44, plain.length, 44)).toBe(plain.length + 16);
  expect(hex(get(44, plain.length + 16))).toBe(hex(chacha20poly1305(key, nonce).encrypt(plain)));
});
