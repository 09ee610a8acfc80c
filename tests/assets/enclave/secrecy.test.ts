import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { manyTimes } from '../../support/draw.ts';
import { ENCLAVE_CALLS, openEnclave, WINDOW_BYTES } from '../../support/enclave.ts';
import { drawArguments } from '../../support/enclave-arguments.ts';
import { makeSeeds } from '../../support/enclave-seeds.ts';

const RUNS = 100;
/**
 * So many bytes of a secret in a row are never there by chance; from every fourth byte on, so that eleven are found
 * wherever.
 */
const PIECE_BYTES = 8;
const PIECE_STEP = 4;
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');

const ENTROPY = [0x31, 0x32, 0x33].map((fill, curve) =>
  new Uint8Array(curve === 2 ? 32 : 48).map((_, i) => (fill * (i + 3) * 7 + i) & 0xff),
);

/**
 * What is made of the entropy and must not be seen: scalars (FIPS 186-5 A.2.1), the seed and both halves of its hash
 * (RFC 8032), each also backwards, as limbs lie in memory.
 */
function secrets(): Buffer[] {
  const scalar = (entropy: Uint8Array, order: bigint) =>
    Buffer.from(((BigInt(`0x${hex(entropy)}`) % (order - 1n)) + 1n).toString(16).padStart(64, '0'), 'hex');
  const [first = new Uint8Array(), second = new Uint8Array(), seed = new Uint8Array()] = ENTROPY;
  const expanded = createHash('sha512').update(seed).digest();
  const kept = [scalar(first, p256.Point.Fn.ORDER), scalar(second, secp256k1.Point.Fn.ORDER), Buffer.from(seed)];
  const all = [...kept, expanded.subarray(0, 32), expanded.subarray(32)];
  return all.flatMap((secret) => [secret, Buffer.from(secret).reverse()]);
}

const PIECES = secrets().flatMap((secret) =>
  Array.from({ length: (secret.length - PIECE_BYTES) / PIECE_STEP + 1 }, (_, i) =>
    secret.subarray(i * PIECE_STEP, i * PIECE_STEP + PIECE_BYTES).toString('latin1'),
  ),
);

function open() {
  const enclave = openEnclave();
  const { call, put } = enclave;
  ENTROPY.forEach((entropy, curve) => {
    expect(call.key_new(curve, put(0, entropy), entropy.length)).toBe(curve);
  });
  return enclave;
}

/** Whether the window holds a piece of a secret. */
function leaks(window: Uint8Array): boolean {
  const text = Buffer.from(window).toString('latin1');
  return PIECES.some((piece) => text.includes(piece));
}

test('the search finds a secret', () => {
  const enclave = openEnclave();
  enclave.put(100, secrets()[3]?.subarray(5, 16) ?? new Uint8Array());
  expect(leaks(enclave.get(0, WINDOW_BYTES))).toBe(true);
});

test('after its making no private key is in the window, whatever is called', () => {
  const enclave = open();
  expect(leaks(enclave.get(0, WINDOW_BYTES))).toBe(false);
  const calls = ENCLAVE_CALLS.filter((name) => name !== 'key_drop');
  const seeds = makeSeeds();
  let signed = 0;
  manyTimes(RUNS, (draw) => {
    for (const name of calls) {
      const values = drawArguments(draw, name, [enclave], seeds);
      if (name.startsWith('key_') && name !== 'key_new' && name !== 'key_open') values[0] = draw.below(3);
      if (name === 'key_sign' && values[0] !== 2) values[2] = 32;
      try {
        if (enclave.call[name](...values) >= 0 && name === 'key_sign') signed += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(WebAssembly.RuntimeError);
      }
      expect([name, values, leaks(enclave.get(0, WINDOW_BYTES))]).toEqual([name, values, false]);
    }
    for (let slot = 3; slot < 16; slot++) enclave.call.key_drop(slot);
  });
  expect(signed).toBeGreaterThan(RUNS / 4);
  expect([0, 1, 2].map((slot) => enclave.call.key_curve(slot))).toEqual([0, 1, 2]);
});
