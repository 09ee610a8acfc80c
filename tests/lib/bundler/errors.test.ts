import { describe, expect, test } from 'bun:test';
import { readRpcError } from '../../../lib/bundler/errors.ts';

describe('error.data.kind', () => {
  test.each([
    [-32500, 'entrypoint_rejected'],
    [-32501, 'paymaster_rejected'],
    [-32502, 'opcode_violation'],
    [-32503, 'out_of_time_range'],
    [-32504, 'throttled'],
    [-32505, 'stake_too_low'],
    [-32507, 'signature_invalid'],
    [-32508, 'paymaster_balance'],
    [-32521, 'execution_reverted'],
    [-32601, 'method_not_found'],
    [-32602, 'invalid_params'],
    [-32603, 'upstream'],
    [-32506, 'upstream'],
    [-32000, 'upstream'],
    [3, 'upstream'],
  ])('of %i is %s, code and message unchanged', (code, kind) => {
    expect(readRpcError({ code, message: 'words' })).toEqual({ code, message: 'words', data: { kind } });
  });
});

test("the EntryPoint's own code is read from the message", () => {
  const message = "UserOperation reverted during simulation with reason: AA21 didn't pay prefund";
  expect(readRpcError({ code: -32500, message }).data).toEqual({ kind: 'entrypoint_rejected', aa: 'AA21' });
  expect(readRpcError({ code: -32500, message: 'FailedOp(0,"AA95 out of gas")' }).data.aa).toBe('AA95');
  for (const words of ['AA2', 'AAA21', '0xAA2111', 'aa21']) {
    expect(readRpcError({ code: -32500, message: words }).data).toEqual({ kind: 'entrypoint_rejected' });
  }
});

test("the upstream's data stands beside the kind, and never in its place", () => {
  const of = (data: unknown) => readRpcError({ code: -32501, message: '', data }).data;
  expect(of({ paymaster: '0x1', kind: 'other', nested: { a: [1] } })).toEqual({
    paymaster: '0x1',
    kind: 'paymaster_rejected',
    nested: { a: [1] },
  });
  expect(of('0x08c379a0')).toEqual({ data: '0x08c379a0', kind: 'paymaster_rejected' });
  expect(of([1])).toEqual({ data: [1], kind: 'paymaster_rejected' });
  expect(of(null)).toEqual({ kind: 'paymaster_rejected' });
  const polluting = of(JSON.parse('{"__proto__":{"kind":"x","polluted":true}}'));
  expect([polluting.kind, ({} as { polluted?: boolean }).polluted]).toEqual(['paymaster_rejected', undefined]);
});

test('an error without a code is an internal one; without words, with endless ones or broken ones it is still an error', () => {
  expect(readRpcError({ message: 'method disabled' })).toEqual({
    code: -32603,
    message: 'method disabled',
    data: { kind: 'upstream' },
  });
  expect(readRpcError({ code: '-32500' }).code).toBe(-32603);
  expect(readRpcError({ code: 1.5, message: 7 })).toEqual({ code: -32603, message: '', data: { kind: 'upstream' } });
  expect(readRpcError({ code: 1, message: 'x'.repeat(1e6) }).message).toHaveLength(1024);
  expect(readRpcError({ code: 1, message: `${'x'.repeat(1023)}😀` }).message.isWellFormed()).toBe(true);
});
