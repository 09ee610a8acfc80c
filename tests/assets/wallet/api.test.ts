import { describe, expect, test } from 'bun:test';
import { isHad } from '../../../assets/wallet/api.ts';
import { RefusedError } from '../../../client/wallet/vault.ts';

describe('a refusal says that the bundler has the operation', () => {
  test.each([
    ['Already known', true],
    ['already known', true],
    ['AA25 invalid account nonce: User operation already present in mempool', true],
    ['user operation already in the mempool', true],
    ['AA10 sender already constructed', false],
    ['AA33 reverted: nonce already used', false],
    ['paymaster unknown: policy not found', false],
    ['unknown error', false],
    ['duplicate paymaster data', false],
  ])('%s', (message, expected) => {
    expect(isHad(new RefusedError(message, 'unknown'))).toBe(expected);
  });
});
