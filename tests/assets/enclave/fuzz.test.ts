import { describe, expect, test } from 'bun:test';
import { type Draw, manyTimes } from '../../support/draw.ts';
import {
  ENCLAVE_CALLS,
  type Enclave,
  type EnclaveCall,
  openEnclave,
  REFUSED,
  WINDOW_BYTES,
} from '../../support/enclave.ts';
import { drawArguments, reachOf, type Stretch } from '../../support/enclave-arguments.ts';
import { makeSeeds } from '../../support/enclave-seeds.ts';
import { isLong } from '../../support/long.ts';

const RUNS = isLong ? 400 : 100;
const SEEDS = makeSeeds();

/** A module with a key of every curve in its first slots, and both streams started. */
function open(): Enclave {
  const enclave = openEnclave();
  const { call, put } = enclave;
  for (const [curve, n] of [
    [0, 48],
    [1, 48],
    [2, 32],
  ] as const) {
    call.key_new(curve, put(0, new Uint8Array(n).fill(curve + 1)), n);
  }
  call.sha256_init();
  call.keccak256_init();
  return enclave;
}

/** Two modules in step: the same calls, and the same bytes only where a call may read. */
type Pair = readonly [Enclave, Enclave];

const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');
/** Counts that make no sense may give a stretch less than no bytes: nothing is read there. */
const inside = ([offset, n]: Stretch) => n >= 0 && offset + n <= WINDOW_BYTES;
const cover = (window: Uint8Array, stretches: readonly Stretch[]) => {
  for (const [offset, n] of stretches) window.fill(0, offset, offset + n);
  return window;
};

/** The answer, or what it traps with. */
function attempt({ call }: Enclave, name: EnclaveCall, values: readonly number[]): number | string {
  try {
    return call[name](...values) ?? 0;
  } catch (error) {
    return error instanceof WebAssembly.RuntimeError ? 'trap' : `${error}`;
  }
}

/** Fills the second window otherwise than the first but for what a call may read; what they hold then. */
function fill(draw: Draw, [one, other]: Pair, reads: readonly Stretch[]): [Uint8Array, Uint8Array] {
  const first = one.get(0, WINDOW_BYTES);
  const second = draw.bytes(WINDOW_BYTES);
  for (const [offset, n] of reads.filter(inside)) second.set(first.subarray(offset, offset + n), offset);
  other.put(0, second);
  return [first, second];
}

/** What a call answers, with everything checked that holds of any call. */
function step(draw: Draw, pair: Pair, name: EnclaveCall): number | string {
  const [one, other] = pair;
  one.put(0, draw.below(10) ? draw.bytes(WINDOW_BYTES) : new Uint8Array(WINDOW_BYTES));
  const values = drawArguments(draw, name, [one], SEEDS);
  const { reads, wipes, writes } = reachOf(name, values);
  const before = fill(draw, pair, reads);
  const result = attempt(one, name, values);
  expect(attempt(other, name, values)).toBe(result);
  if (typeof result === 'string') expect(result).toBe('trap');
  const touched = typeof result === 'string' ? [] : [...wipes.filter(inside), ...writes(result)];
  const after = [one.get(0, WINDOW_BYTES), other.get(0, WINDOW_BYTES)] as const;
  for (const [offset, n] of touched) {
    expect(hex(after[0].subarray(offset, offset + n))).toBe(hex(after[1].subarray(offset, offset + n)));
  }
  for (const i of [0, 1] as const) {
    expect(Buffer.compare(cover(after[i].slice(), touched), cover(before[i].slice(), touched))).toBe(0);
  }
  // Counts that make no sense do not say how long the entropy is.
  const isWiped = typeof result === 'number' && !(name === 'share_split' && result === REFUSED.length);
  if (isWiped) expect(wipes.filter(([offset, n]) => !after[0].subarray(offset, offset + n).every(isZero))).toEqual([]);
  return result;
}

describe(`${RUNS} draws of arguments`, () => {
  test.each(ENCLAVE_CALLS)('%s answers or traps, reads and writes nothing but what its arguments say', (name) => {
    const pair: Pair = [open(), open()];
    const answers = new Set<string>();
    manyTimes(RUNS, (draw) => {
      const result = step(draw, pair, name);
      answers.add(typeof result === 'string' ? result : result < 0 ? 'error' : 'value');
      if (typeof result === 'number' && name !== 'read') {
        expect(Number.isInteger(result)).toBe(true);
        expect(result).toBeGreaterThanOrEqual(REFUSED.stream);
        expect(result).toBeLessThanOrEqual(WINDOW_BYTES);
      }
      for (const { call } of pair) for (let slot = 3; slot < 16; slot++) call.key_drop(slot);
    });
    if (SEEDS[name]) expect([...answers]).toContain('value');
  });
});

function isZero(byte: number): boolean {
  return byte === 0;
}
