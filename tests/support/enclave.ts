import { readFileSync } from 'node:fs';
import { ENCLAVE_FILE } from '../../scripts/enclave.ts';

/** Every call of the enclave, as the header of `assets/enclave/index.ts` tells it. */
export const ENCLAVE_CALLS = [
  ...(['abi_version', 'window_length', 'write', 'read'] as const),
  ...(['sha256', 'sha256_init', 'sha256_update', 'sha256_final'] as const),
  ...(['keccak256', 'keccak256_init', 'keccak256_update', 'keccak256_final'] as const),
  ...(['hmac_sha256', 'hkdf_sha256', 'chacha20poly1305_seal', 'chacha20poly1305_open'] as const),
  ...(['p256_verify', 'secp256k1_verify', 'ed25519_verify', 'p256_is_low_s', 'secp256k1_is_low_s'] as const),
  ...(['cose_p256', 'der_to_raw', 'webauthn_pack'] as const),
  ...(['userop_hash_v07', 'userop_hash_v08', 'userop_hash_v09', 'userop_hash_v07_of', 'userop_hash_v08_of'] as const),
  ...(['alias_hash', 'did_hash'] as const),
  ...(['key_new', 'key_public', 'key_curve', 'key_sign', 'ucan_sign', 'key_seal', 'key_open', 'key_drop'] as const),
  ...(['share_xor_split', 'share_split', 'share_join'] as const),
];

/** The name of a call. */
export type EnclaveCall = (typeof ENCLAVE_CALLS)[number];

/** What the calls answer when they refuse. */
export const REFUSED = {
  malformed: -1,
  length: -2,
  zeros: -3,
  noKey: -4,
  slotsFull: -5,
  curve: -6,
  forged: -7,
  key: -8,
  shares: -9,
  stream: -10,
} as const;

/** A module of its own: its calls, and bytes into and out of the window. Calls that answer nothing give undefined. */
export interface Enclave {
  readonly call: Readonly<Record<EnclaveCall, (...offsets: number[]) => number>>;
  /** Puts bytes and answers the offset. */
  put(offset: number, bytes: Uint8Array): number;
  get(offset: number, n: number): Uint8Array;
}

/** How many bytes the window has. */
export const WINDOW_BYTES = 8192;

let compiled: WebAssembly.Module | undefined;

/** Opens the committed module, its slots empty. */
export function openEnclave(): Enclave {
  compiled ??= new WebAssembly.Module(readFileSync(ENCLAVE_FILE));
  const call = new WebAssembly.Instance(compiled).exports as unknown as Enclave['call'];
  return {
    call,
    put(offset, bytes) {
      const whole = bytes.length & ~3;
      const byte = (i: number) => bytes[i] ?? 0;
      // Bun takes ten times as long to read words by a DataView.
      for (let i = 0; i < whole; i += 4) {
        call.write(offset + i, byte(i) | (byte(i + 1) << 8) | (byte(i + 2) << 16) | (byte(i + 3) << 24));
      }
      if (whole < bytes.length) putEnd(call, offset, bytes);
      return offset;
    },
    get(offset, n) {
      const bytes = new Uint8Array(n);
      const whole = n & ~3;
      for (let i = 0; i < whole; i += 4) {
        const word = call.read(offset + i);
        for (let k = 0; k < 4; k++) bytes[i + k] = word >>> (8 * k);
      }
      for (let i = whole; i < n; i++) bytes[i] = byteAt(call, offset + i);
      return bytes;
    },
  };
}

/** The last one to three bytes, without touching what is behind them. */
function putEnd(call: Enclave['call'], offset: number, bytes: Uint8Array): void {
  for (let i = bytes.length & ~3; i < bytes.length; i++) {
    const at = Math.min(offset + i, WINDOW_BYTES - 4);
    const shift = (offset + i - at) * 8;
    const word = (call.read(at) & ~(0xff << shift)) | ((bytes[i] ?? 0) << shift);
    call.write(at, word);
  }
}

function byteAt(call: Enclave['call'], offset: number): number {
  const at = Math.min(offset, WINDOW_BYTES - 4);
  return (call.read(at) >>> ((offset - at) * 8)) & 0xff;
}
