import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Enclave, loadEnclave } from '../../client/enclave.ts';
import type { Exports } from '../../client/window.ts';

/** One primitive in calls a second, three ways. */
export interface Finding {
  readonly name: string;
  /** The module's function, over bytes that stand in its window. */
  readonly module: number;
  /** The client's call: bytes in, bytes out. */
  readonly client: number;
  readonly noble: number;
}

type Run = () => unknown;
type Case = readonly [name: string, module: Run, client: Run, noble: Run];

/** Measures every primitive, the three ways in turn in each round: the median of the rounds. */
export async function measure(wasm: Uint8Array<ArrayBuffer>, rounds: number, roundMs: number): Promise<Finding[]> {
  const abi = (await WebAssembly.instantiate(wasm, {})).instance.exports as unknown as Exports;
  const enclave = await loadEnclave(wasm);
  const cases = [...hashes(abi, enclave), ...ecdsa(abi, enclave), ...eddsa(abi, enclave)];
  return cases.map(([name, ...runs]) => {
    const rates = runs.map((): number[] => []);
    // Engines compile hot functions anew in the background: what is measured is what they come to.
    for (const run of runs) rate(run, WARM_UP_MS);
    for (let round = 0; round < rounds; round++) runs.forEach((run, i) => void rates[i]?.push(rate(run, roundMs)));
    const [module = 0, client = 0, noble = 0] = rates.map(median);
    return { name, module, client, noble };
  });
}

const OUT = 8000;
const WARM_UP_MS = 400;
const text = (length: number) => new Uint8Array(length).map((_, i) => i * 31 + 1);

function hashes(abi: Exports, enclave: Enclave): Case[] {
  const [key, nonce, none, kilobyte] = [text(32), text(12), text(0), text(1024)];
  const ofLength = (n: number): Case[] => {
    const bytes = text(n);
    return [
      [`sha256 ${n} B`, () => abi.sha256(0, n, OUT), () => enclave.sha256(bytes), () => sha256(bytes)],
      [`keccak256 ${n} B`, () => abi.keccak256(0, n, OUT), () => enclave.keccak256(bytes), () => keccak_256(bytes)],
    ];
  };
  return [
    ...ofLength(32),
    ...ofLength(1024),
    [
      'hmac-sha256 1 KB',
      () => abi.hmac_sha256(2048, 32, 0, 1024, OUT),
      () => enclave.hmacSha256(key, kilobyte),
      () => hmac(sha256, key, kilobyte),
    ],
    [
      'hkdf-sha256 64 B',
      () => abi.hkdf_sha256(2048, 32, 0, 32, 32, 12, OUT, 64),
      () => enclave.hkdfSha256(key, key, nonce, 64),
      () => hkdf(sha256, key, key, nonce, 64),
    ],
    [
      'chacha20poly1305 1 KB',
      () => abi.chacha20poly1305_seal(2048, 2080, 0, 0, 0, 1024, 4096),
      () => enclave.encrypt(key, nonce, none, kilobyte),
      () => chacha20poly1305(key, nonce).encrypt(kilobyte),
    ],
  ];
}

function ecdsa(abi: Exports, enclave: Enclave): Case[] {
  const curves = [
    { curve: 'P-256', number: 0, noble: p256, verify: abi.p256_verify, at: 6000 },
    { curve: 'secp256k1', number: 1, noble: secp256k1, verify: abi.secp256k1_verify, at: 6200 },
  ] as const;
  return curves.flatMap(({ curve, number, noble, verify, at }): Case[] => {
    const [privateKey, digest, options] = [text(32), text(32), { prehash: false }];
    const held = enclave.createKey(curve);
    const signature = held.sign(digest);
    const point = Uint8Array.of(4, ...held.publicKey);
    put(abi, at, held.publicKey);
    put(abi, at + 64, digest);
    put(abi, at + 96, signature);
    const slot = newKey(abi, number, 48);
    return [
      [
        `${curve} sign`,
        () => abi.key_sign(slot, at + 64, 32, OUT),
        () => held.sign(digest),
        () => noble.sign(digest, privateKey, options),
      ],
      [
        `${curve} verify`,
        () => must(verify(at, at + 64, at + 96)),
        () => must(enclave.verify(curve, held.publicKey, digest, signature)),
        () => must(noble.verify(signature, digest, point, options)),
      ],
      [
        `${curve} new key`,
        () => abi.key_drop(newKey(abi, number, 48)),
        () => enclave.createKey(curve).drop(),
        () => noble.keygen(),
      ],
    ];
  });
}

function eddsa(abi: Exports, enclave: Enclave): Case[] {
  const [seed, message] = [text(32), text(256)];
  const held = enclave.createKey('Ed25519');
  const signature = held.sign(message);
  put(abi, 6400, held.publicKey);
  put(abi, 6432, signature);
  put(abi, 6496, message);
  const slot = newKey(abi, 2, 32);
  return [
    [
      'Ed25519 sign',
      () => abi.key_sign(slot, 6496, 256, OUT),
      () => held.sign(message),
      () => ed25519.sign(message, seed),
    ],
    [
      'Ed25519 verify',
      () => must(abi.ed25519_verify(6400, 6496, 256, 6432)),
      () => must(enclave.verify('Ed25519', held.publicKey, message, signature)),
      () => must(ed25519.verify(signature, message, held.publicKey)),
    ],
    [
      'Ed25519 new key',
      () => abi.key_drop(newKey(abi, 2, 32)),
      () => enclave.createKey('Ed25519').drop(),
      () => ed25519.keygen(),
    ],
  ];
}

/** Entropy is wiped by the call, so each key needs it written anew. */
function newKey(abi: Exports, curve: number, length: number): number {
  put(abi, 7000, crypto.getRandomValues(new Uint8Array(length)));
  return abi.key_new(curve, 7000, length);
}

function put(abi: Exports, offset: number, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let i = 0; i < bytes.length; i += 4) abi.write(offset + i, view.getUint32(i, true));
}

/** A verification that says no would be fast, and mean nothing. */
function must(valid: unknown): void {
  if (!valid) throw new Error('a valid signature was refused');
}

function rate(run: Run, ms: number): number {
  const startedAt = performance.now();
  let calls = 0;
  let elapsed = 0;
  while (elapsed < ms) {
    for (let i = 0; i < 20; i++) run();
    calls += 20;
    elapsed = performance.now() - startedAt;
  }
  return (calls / elapsed) * 1000;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}
