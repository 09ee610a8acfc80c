import { afterAll, beforeAll, expect, test } from 'bun:test';
import { problemOf, soonOf } from '../../../assets/authorize/problem.ts';
import { PROBLEMS } from '../../../assets/authorize/words.ts';
import english from '../../../assets/words/en/authorize.json' with { type: 'json' };
import { VaultClientError } from '../../../client/vault/error.ts';

// As `loadWords` keeps them.
const { vaultWords } = globalThis as unknown as { vaultWords: { words: object } };
const { words: before } = vaultWords;
beforeAll(() => {
  vaultWords.words = english;
});
afterAll(() => {
  vaultWords.words = before;
});

test.each([
  [undefined, 'Wait a little, then try again.'],
  [40, 'Try again in a minute.'],
  [600, 'Try again in 10 minutes.'],
  [7_200, 'Try again in about 2 hours.'],
  [2_592_000, 'Try again in about 30 days.'],
])('after %p seconds', (seconds, words) => expect(soonOf(seconds)).toBe(words));

test('the reason decides where there are words for it, else the word', () => {
  const idOf = (error: string, reason?: string) => problemOf(new VaultClientError(error, { reason })).id;
  expect(idOf('proof_invalid', 'account')).toBe('proof_invalid.account');
  expect(idOf('proof_invalid', 'origin')).toBe('proof_invalid');
  expect(idOf('passkeys_unavailable')).toBe('passkeys_unavailable');
  expect(idOf('nothing_that_is_known')).toBe('unexpected');
  expect(Object.keys(PROBLEMS)).toContain('ip_limit_reached');
});
