/** The version of the module's interface that this client speaks. */
export const ABI_VERSION = 2;

/**
 * The module's exports (`assets/enclave/index.ts`). They take offsets into its window and lengths, and return a number
 * or nothing.
 */
export const FUNCTIONS = [
  ...(['abi_version', 'window_length', 'write', 'read'] as const),
  ...(['sha256', 'sha256_init', 'sha256_update', 'sha256_final'] as const),
  ...(['keccak256', 'keccak256_init', 'keccak256_update', 'keccak256_final'] as const),
  ...(['hmac_sha256', 'hkdf_sha256', 'chacha20poly1305_seal', 'chacha20poly1305_open'] as const),
  ...(['p256_verify', 'secp256k1_verify', 'ed25519_verify', 'p256_is_low_s', 'secp256k1_is_low_s'] as const),
  ...(['cose_p256', 'der_to_raw', 'webauthn_pack', 'userop_hash_v07_of', 'userop_hash_v08_of'] as const),
  ...(['alias_hash', 'did_hash', 'key_new', 'key_public', 'key_curve', 'key_sign', 'ucan_sign'] as const),
  ...(['key_seal', 'key_open', 'key_drop', 'share_xor_split', 'share_split', 'share_join'] as const),
] as const;

/** The module's functions. */
export type Exports = { readonly [name in (typeof FUNCTIONS)[number]]: (...args: number[]) => number };

type Bytes = Uint8Array<ArrayBuffer>;

/** Is given where each input stands, and last where the output goes; answers below zero are errors. */
type Call = (...at: number[]) => number;

const REASONS = [
  ...(['MALFORMED', 'LENGTH', 'ZEROS', 'NO_KEY', 'SLOTS_FULL'] as const),
  ...(['CURVE', 'FORGED', 'KEY', 'SHARES', 'STREAM'] as const),
] as const;

/** A call that the enclave refused; `docs/enclave.md` explains the reasons. */
export class EnclaveError extends Error {
  override readonly name = 'EnclaveError';
  readonly reason: (typeof REASONS)[number];
  /** For `joinBox`: the indexes, from 0, of the shares that do not belong to the others. */
  readonly shares: readonly number[];

  constructor(reason: (typeof REASONS)[number], shares: readonly number[] = []) {
    super(`the enclave refused: ${reason}${shares.length > 0 ? ` (shares ${shares.join(', ')})` : ''}`);
    this.reason = reason;
    this.shares = shares;
  }
}

/**
 * Bytes in and out of the enclave. Every call writes its inputs from the start, so that none relies on earlier ones. A
 * call that throws leaves none there.
 */
export interface Window {
  /** The number that the call returns. */
  ask(inputs: readonly Uint8Array[], call: Call): number;
  /** The number that the call returns, and `length` bytes of output. */
  both(inputs: readonly Uint8Array[], length: number, call: Call): readonly [answer: number, bytes: Bytes];
  /** `length` bytes of output. */
  fill(inputs: readonly Uint8Array[], length: number, call: Call): Bytes;
  /**
   * The output, whose length the call answers, at most `room` bytes; inputs and output are then wiped from the window.
   */
  take(inputs: readonly Uint8Array[], room: number, call: Call): Bytes;
  /** A hash of any length of input. */
  hash(name: 'sha256' | 'keccak256', bytes: Uint8Array): Bytes;
}

/** The window of a loaded module; its calls throw `EnclaveError`. */
export function createWindow(abi: Exports): Window {
  const { write, read } = abi;
  const length = abi.window_length();
  const wipe = (n: number) => {
    for (let i = 0; i < n; i += 4) write(i, 0);
  };
  const run = (inputs: readonly Uint8Array[], room: number, call: Call): readonly [answer: number, out: number] => {
    const at: number[] = [];
    let out = 0;
    for (const input of inputs) {
      at.push(out);
      out += roundUp(input.length);
    }
    // Whole words fit wherever the bytes do: the window is so many words long.
    if (!Number.isInteger(room) || room < 0 || out + room > length) throw new EnclaveError('LENGTH');
    at.push(out);
    let answer = -1;
    try {
      for (let i = 0; i < inputs.length; i++) put(write, at[i] ?? 0, inputs[i] ?? NONE);
      answer = call(...at);
    } finally {
      // The module wipes secrets when it answers, but for counts that make no sense, and not when the call never
      // reaches it.
      if (answer < 0) wipe(out);
    }
    if (answer < 0) throw new EnclaveError(REASONS[-1 - answer] ?? 'MALFORMED');
    return [answer, out];
  };
  const both: Window['both'] = (inputs, room, call) => {
    const [answer, out] = run(inputs, room, call);
    return [answer, get(read, out, room)];
  };
  const fill: Window['fill'] = (inputs, room, call) => both(inputs, room, call)[1];
  return {
    both,
    ask: (inputs, call) => run(inputs, 0, call)[0],
    fill,
    take(inputs, room, call) {
      const [answer, out] = run(inputs, room, call);
      const bytes = get(read, out, answer);
      wipe(out + answer);
      return bytes;
    },
    hash(name, bytes) {
      if (bytes.length + 32 <= length - 4) return fill([bytes], 32, (p, out) => abi[name](p, bytes.length, out));
      abi[`${name}_init`]();
      for (let i = 0; i < bytes.length; i += length) {
        const part = bytes.subarray(i, i + length);
        run([part], 0, (p) => abi[`${name}_update`](p, part.length));
      }
      return fill([], 32, (out) => abi[`${name}_final`](out));
    },
  };
}

const NONE = new Uint8Array();

/** Inputs stand at whole words: the window is written a word at a time. */
function roundUp(n: number): number {
  return Math.ceil(n / 4) * 4;
}

function put(write: Exports['write'], offset: number, bytes: Uint8Array): void {
  const byte = (i: number) => bytes[i] ?? 0;
  for (let i = 0; i < bytes.length; i += 4) {
    write(offset + i, byte(i) | (byte(i + 1) << 8) | (byte(i + 2) << 16) | (byte(i + 3) << 24));
  }
}

function get(read: Exports['read'], offset: number, length: number): Bytes {
  const words = new Uint8Array(roundUp(length));
  for (let i = 0; i < length; i += 4) {
    const word = read(offset + i);
    words[i] = word;
    words[i + 1] = word >>> 8;
    words[i + 2] = word >>> 16;
    words[i + 3] = word >>> 24;
  }
  return length === words.length ? words : words.slice(0, length);
}
