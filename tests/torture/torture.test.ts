import { expect, test } from 'bun:test';
import { buildBinary } from '../support/binary.ts';
import { SEED } from '../support/seed.ts';
import { torture } from './torture.ts';

// The short form of `bun run torture`: two processes on one file, and what needs no rights on the machine.

test('what was acknowledged holds while processes are killed, ended and stopped', async () => {
  const binary = await buildBinary();
  try {
    const only = ['kill -9', 'SIGTERM', 'SIGSTOP and SIGCONT'];
    const result = await torture({ world: 'two', seed: SEED, ms: 4_000, binary: binary.path, only });
    expect({ seed: SEED, violations: result.violations }).toEqual({ seed: SEED, violations: [] });
    expect(Object.keys(result.faults).toSorted()).toEqual(only.toSorted());
    expect(Object.values(result.faults).every((count) => count > 0)).toBe(true);
    expect(Object.values(result.acknowledged).every((count) => count > 0)).toBe(true);
  } finally {
    binary.remove();
  }
});
