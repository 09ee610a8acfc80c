import { describe, expect, spyOn, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Enclave, EnclaveError, loadEnclave } from '../../client/enclave.ts';
import { createWindow, type Exports } from '../../client/window.ts';

const wasm = readFileSync(join(import.meta.dir, '../../assets/enclave.wasm'));
const SECRET = new Uint8Array(32).map((_, i) => 0xa1 ^ (i * 7));

/** The client, and the module under it, whose window the client keeps to itself. */
async function open(): Promise<{ enclave: Enclave; abi: Exports }> {
  const spy = spyOn(WebAssembly, 'instantiate');
  try {
    const enclave = await loadEnclave(wasm);
    // With a module that is compiled already it gives the instance alone.
    const instance: unknown = await spy.mock.results[0]?.value;
    if (!(instance instanceof WebAssembly.Instance)) throw new Error('The client makes an instance');
    return { enclave, abi: instance.exports as unknown as Exports };
  } finally {
    spy.mockRestore();
  }
}

function bytesOf({ read, window_length }: Exports): Buffer {
  return Buffer.from(Int32Array.from({ length: window_length() / 4 }, (_, i) => read(4 * i)).buffer);
}

/** Whether eight bytes of the secret stand in the window. */
function hasSecret(abi: Exports): boolean {
  const window = bytesOf(abi);
  return [0, 8, 16, 24].some((at) => window.includes(Buffer.from(SECRET.subarray(at, at + 8))));
}

const { enclave, abi } = await open();
const window = createWindow(abi);

test('the search finds a secret', () => {
  expect(window.ask([SECRET], () => 0)).toBe(0);
  expect(hasSecret(abi)).toBe(true);
});

describe('of a call that fails no input stays in the window', () => {
  test.each([
    ['refuses', (): number => -3, 'ZEROS'],
    ['answers what is no error', (): number => -99, 'MALFORMED'],
    [
      'never comes to the module',
      (): number => {
        throw new EnclaveError('NO_KEY');
      },
      'NO_KEY',
    ],
    ['traps', (): number => abi.read(9000), WebAssembly.RuntimeError],
  ] as const)('which %s', (_name, call, message) => {
    expect(() => window.ask([SECRET, SECRET], call)).toThrow(message);
    expect(hasSecret(abi)).toBe(false);
    expect(() => window.take([SECRET], 64, call)).toThrow(message);
    expect(hasSecret(abi)).toBe(false);
  });

  test('to seal with a key that was dropped', () => {
    const key = enclave.createKey();
    key.drop();
    expect(() => key.seal(SECRET)).toThrow('NO_KEY');
    expect(hasSecret(abi)).toBe(false);
  });

  test('to split for counts that make no sense, before which the module wipes nothing', () => {
    const key = enclave.createKey();
    const box = key.seal(SECRET);
    key.drop();
    expect(() => enclave.splitBox(box, 3, 2)).toThrow('LENGTH');
    expect(
      bytesOf(abi)
        .subarray(0, 700)
        .every((byte) => byte === 0),
    ).toBe(true);
  });
});

describe('of a call with a secret neither inputs nor output stay in the window', () => {
  const [nonce, none] = [new Uint8Array(12).fill(1), new Uint8Array()];
  const key = new Uint8Array(32).fill(2);
  test.each([
    ['what is encrypted', () => enclave.encrypt(key, nonce, none, SECRET)],
    ['what is decrypted', () => enclave.decrypt(key, nonce, none, enclave.encrypt(key, nonce, none, SECRET))],
    ['a MAC, which may be a key', () => enclave.hmacSha256(key, none)],
    ['derived keys', () => enclave.hkdfSha256(SECRET, none, none, 64)],
  ] as const)('%s', (_name, run) => {
    const made = Buffer.from(run());
    expect(hasSecret(abi)).toBe(false);
    expect(bytesOf(abi).includes(made.subarray(0, 8))).toBe(false);
  });
});

test('the randomness of keys and of shares is wiped on this side too', () => {
  const spy = spyOn(crypto, 'getRandomValues');
  try {
    const key = enclave.createKey();
    const box = key.seal(SECRET);
    key.drop();
    enclave.splitBoxInTwo(box);
    enclave.splitBox(box, 2, 3);
    const [made, , ...split] = spy.mock.calls.map(([bytes]) => bytes as Uint8Array);
    expect([made, ...split].map((bytes) => bytes?.length)).toEqual([48, 169, 169]);
    for (const bytes of [made, ...split]) expect(bytes?.every((byte) => byte === 0)).toBe(true);
  } finally {
    spy.mockRestore();
  }
});

test.each([-1, 1.5, Number.NaN, 8193, 2 ** 31, 2 ** 32, 2 ** 32 + 8, Number.POSITIVE_INFINITY])(
  'an output of %d bytes is refused, and not taken modulo 2^32',
  (length) => {
    expect(() => enclave.hkdfSha256(SECRET, SECRET, SECRET, length)).toThrow('LENGTH');
  },
);
