import { expect, test } from 'bun:test';
import { EndedError, OtherTermsError } from '../../../assets/pay/pay.ts';
import { problemOf } from '../../../assets/pay/problem.ts';
import { RequestError } from '../../../assets/pay/request.ts';
import { MemoryError } from '../../../assets/wallet/memory.ts';
import { NoRequestError } from '../../../assets/wallet/opener.ts';
import { NoAccountError } from '../../../client/wallet/account.ts';
import { FeeBoundError } from '../../../client/wallet/send.ts';
import { RefusedError, UnreachableError } from '../../../client/wallet/vault.ts';

test.each([
  ['bad_amount', new RequestError('bad_amount')],
  ['no_request', new NoRequestError()],
  ['expired', new EndedError()],
  ['ending', new EndedError('ending')],
  ['other_terms', new OtherTermsError()],
  ['unexpected', new TypeError('a mistake of ours')],
  ['unexpected', 'no error at all'],
] as const)('%s cannot be tried again', (of, error) => {
  expect(problemOf(error)).toEqual({ of, canRetry: false });
});

test.each([
  ['no_memory', new MemoryError('no IndexedDB')],
  ['down', new UnreachableError('/pay/fees')],
  ['no_key', new NoAccountError()],
] as const)('%s can', (of, error) => {
  expect(problemOf(error)).toEqual({ of, canRetry: true });
});

test.each([
  ['fee_bound', new FeeBoundError('Up to 1 ETH'), 'Up to 1 ETH'],
  ['refused', new RefusedError('execution reverted', 'execution_reverted'), 'execution reverted'],
  ['used', new RefusedError('AA25 invalid account nonce', 'entrypoint_rejected', 'AA25'), 'AA25 invalid account nonce'],
] as const)('%s can, and the words of the error stand in the details', (of, error, detail) => {
  expect(problemOf(error)).toEqual({ of, canRetry: true, detail });
});

// The page and what it loads for the screen of accounts have each class of errors twice.
test.each(['MemoryError', 'UnreachableError', 'NoAccountError', 'RefusedError'])(
  '%s of the other file is the same',
  (name) => {
    const error = Object.assign(new Error('words'), { name, aa: '' });
    expect(problemOf(error).canRetry).toBe(true);
  },
);
