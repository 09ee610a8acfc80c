import type { Draw } from './draw.ts';
import { type Enclave, type EnclaveCall, WINDOW_BYTES } from './enclave.ts';

/** A stretch of the window: offset and length. */
export type Stretch = readonly [number, number];

/** What one call may read, what it wipes, and what it writes once it has answered `result`. */
export interface Reach {
  readonly reads: readonly Stretch[];
  readonly wipes: readonly Stretch[];
  writes(result: number): readonly Stretch[];
}

/**
 * The arguments of every call. `in`, `secret` and `out` are offsets: with a number they say the length, with none the
 * next argument is it; `secret` is read and wiped; `out:result` is as long as the answer.
 */
const ARGUMENTS: Readonly<Record<EnclaveCall, string>> = {
  abi_version: '',
  window_length: '',
  write: 'out:4 word',
  read: 'in:4',
  sha256: 'in length out:32',
  sha256_init: '',
  sha256_update: 'in length',
  sha256_final: 'out:32',
  keccak256: 'in length out:32',
  keccak256_init: '',
  keccak256_update: 'in length',
  keccak256_final: 'out:32',
  hmac_sha256: 'secret length in length out:32',
  hkdf_sha256: 'secret length in length in length out length',
  chacha20poly1305_seal: 'secret:32 in:12 in length in length out:result',
  chacha20poly1305_open: 'secret:32 in:12 in length in length out:result',
  p256_verify: 'in:64 in:32 in:64',
  secp256k1_verify: 'in:64 in:32 in:64',
  ed25519_verify: 'in:32 in length in:64',
  p256_is_low_s: 'in:64',
  secp256k1_is_low_s: 'in:64',
  cose_p256: 'in length out:64',
  der_to_raw: 'in length out:64',
  webauthn_pack: 'in length in length in:64 out:result',
  userop_hash_v07: 'in:200 in length in length in length out:32',
  userop_hash_v08: 'in:200 in length in length in length out:32',
  userop_hash_v09: 'in:200 in length in length in length out:32',
  userop_hash_v07_of: 'in:200 in:96 out:32',
  userop_hash_v08_of: 'in:200 in:96 out:32',
  alias_hash: 'in length out:32',
  did_hash: 'in length out:32',
  key_new: 'curve secret length',
  key_public: 'slot out:result',
  key_curve: 'slot',
  key_sign: 'slot in length out:64',
  ucan_sign: 'slot in length out:64',
  key_seal: 'slot secret length secret:44 out:result',
  key_open: 'in length secret length',
  key_drop: 'slot',
  share_xor_split: 'in length secret:split out:2',
  share_split: 'in length count count secret:split out:count',
  share_join: 'in:count count length out:result',
};

/** Bytes that belong into a call's arguments, by their place. */
export type Seeds = Partial<Record<EnclaveCall, Readonly<Record<number, Uint8Array | number>>>>;

/**
 * Draws the arguments of a call, of any sense or none; or puts the seeds into the window and lets the rest be drawn.
 */
export function drawArguments(draw: Draw, name: EnclaveCall, enclaves: readonly Enclave[], seeds: Seeds): number[] {
  const kinds = kindsOf(name);
  const drawn = kinds.map((kind) => drawArgument(draw, kind));
  const given = seeds[name];
  if (!given || draw.below(3) === 0) return drawn;
  let next = draw.below(64);
  for (const [place, seed] of Object.entries(given)) {
    const i = Number(place);
    if (typeof seed === 'number') drawn[i] = seed;
    else {
      const bytes = draw.below(4) === 0 ? damaged(draw, seed) : seed;
      for (const { put } of enclaves) put(next, bytes);
      drawn[i] = next;
      if (kinds[i + 1] === 'length') drawn[i + 1] = bytes.length;
      next += bytes.length + draw.below(8);
    }
  }
  const outputs = kinds.flatMap((kind, i) => (kind.startsWith('out') ? [i] : []));
  for (const i of outputs) if (draw.below(2)) drawn[i] = next;
  return drawn;
}

/** What the arguments let a call reach; ranges outside the window are in it, since such a call traps. */
export function reachOf(name: EnclaveCall, values: readonly number[]): Reach {
  const kinds = kindsOf(name);
  const at = (i: number) => values[i] ?? 0;
  const lengthOf = (kind: string, i: number): number => {
    const [, size] = kind.split(':');
    if (size === 'split') return 8 + (name === 'share_split' ? (at(2) - 1) * at(1) : at(1));
    if (size === 'count') return at(1) * at(2);
    return size === undefined ? at(i + 1) : Number(size);
  };
  const stretches = (start: string) =>
    kinds.flatMap((kind, i): Stretch[] => (kind.startsWith(start) ? [[at(i), lengthOf(kind, i)]] : []));
  const outLength = (kind: string, i: number, result: number): number => {
    if (kind === 'out:result') return result;
    if (kind === 'out:2') return 2 * result;
    return kind === 'out:count' ? at(3) * result : lengthOf(kind, i);
  };
  return {
    reads: [...stretches('in'), ...stretches('secret')],
    wipes: stretches('secret'),
    writes: (result) =>
      result < 0
        ? []
        : kinds.flatMap((kind, i) => (kind.startsWith('out') ? [[at(i), outLength(kind, i, result)]] : [])),
  };
}

function kindsOf(name: EnclaveCall): string[] {
  return ARGUMENTS[name].split(' ').filter((kind) => kind !== '');
}

function drawArgument(draw: Draw, kind: string): number {
  if (kind === 'word') return draw.below(2 ** 32);
  if (kind === 'length') return drawLength(draw);
  if (kind === 'curve') return draw.below(5) ? draw.below(3) : draw.below(2 ** 32);
  if (kind === 'slot' || kind === 'count') return draw.below(5) ? draw.below(18) : draw.below(2 ** 32);
  return drawOffset(draw);
}

function drawLength(draw: Draw): number {
  const usual = [0, 16, 32, 48, 64, 77, 129, 161, 185];
  const drawn = [draw.below(300), usual[draw.below(usual.length)], draw.below(WINDOW_BYTES + 2), draw.below(2 ** 32)];
  return drawn[[0, 0, 0, 1, 1, 1, 2, 3][draw.below(8)] ?? 0] ?? 0;
}

function drawOffset(draw: Draw): number {
  const drawn = [
    draw.below(WINDOW_BYTES),
    WINDOW_BYTES - draw.below(100),
    draw.below(2 ** 32),
    2 ** 32 - 1 - draw.below(100),
  ];
  return drawn[[0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3][draw.below(11)] ?? 0] ?? 0;
}

function damaged(draw: Draw, bytes: Uint8Array): Uint8Array {
  // A copy: `slice` of a Buffer is a view, and the damage would stay in the seed.
  const changed = Uint8Array.from(draw.below(2) ? bytes : bytes.subarray(0, draw.below(bytes.length + 1)));
  const at = draw.below(Math.max(1, bytes.length));
  if (at < changed.length) changed[at] = draw.below(256);
  return changed;
}
