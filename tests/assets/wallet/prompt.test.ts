import { afterAll, beforeAll, expect, test } from 'bun:test';
import { unusedWords } from '../../../assets/account/problem.ts';
import { promptWord } from '../../../assets/wallet/prompt.ts';
import english from '../../../assets/words/en/account.json' with { type: 'json' };
import { refusedBy } from '../../../client/vault/passkeys.ts';
import { askPasskey, createPasskey, PasskeyError } from '../../../client/wallet/passkey.ts';

// As `loadWords` keeps them.
const { vaultWords } = globalThis as unknown as { vaultWords: { words: object } };
const { words: before } = vaultWords;
const navigatorBefore = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
beforeAll(() => {
  vaultWords.words = english;
});
afterAll(() => {
  vaultWords.words = before;
  if (navigatorBefore) Object.defineProperty(globalThis, 'navigator', navigatorBefore);
});

/** The error of a prompt in a browser that fails so. */
async function failing(error: Error, isNew: boolean): Promise<PasskeyError> {
  const fail = async () => {
    throw error;
  };
  const value = { credentials: { create: fail, get: fail } };
  Object.defineProperty(globalThis, 'navigator', { value, configurable: true });
  const asked = isNew
    ? createPasskey('vault.example.com', { name: 'Ada' })
    : askPasskey('vault.example.com', new Uint8Array(32));
  const failed = await asked.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(failed instanceof PasskeyError)) throw new Error('no PasskeyError');
  return failed;
}

test.each([
  ['NotAllowedError', 'No passkey was used, and nothing has changed.'],
  ['TimeoutError', 'No passkey was used, and nothing has changed.'],
  ['AbortError', 'Another request took the place of this one. Try again.'],
  ['OperationError', 'Your browser asks for a passkey already, perhaps in another tab. Finish that first.'],
  ['SecurityError', 'This browser does not let this page use its passkeys.'],
  ['InvalidStateError', 'That device has a passkey for this account already. Choose another device.'],
  ['NotSupportedError', 'That device makes no passkey of the kind that is needed here. Choose another one.'],
  ['ConstraintError', /^That device cannot check that it is you\./],
  ['NotReadableError', 'The device or password manager failed. Try again, or choose another one.'],
  ['UnknownError', 'The device or password manager failed. Try again, or choose another one.'],
  ['toString', 'The device or password manager failed. Try again, or choose another one.'],
])('a prompt that fails by %s has its own words', async (name, words) => {
  for (const isNew of [true, false]) {
    const said = unusedWords(await failing(new DOMException('', name), isNew));
    if (typeof words === 'string') expect(said).toBe(words);
    else expect(said).toMatch(words);
  }
});

test('an answer that cannot be read is that of a device that makes no such passkey', async () => {
  expect(promptWord(await failing(new TypeError('no key on P-256'), true))).toBe('prompt.unfit');
});

test('the client’s error says the same: its cause is the prompt’s', async () => {
  const refuse = refusedBy(undefined, 'vault.example.com');
  const failed = await failing(new DOMException('', 'ConstraintError'), true);
  const caught = await Promise.reject(failed)
    .catch(refuse)
    .catch((error: unknown) => error);
  expect(promptWord(caught)).toBe('prompt.locked');
  expect(promptWord(new Error('another fault'))).toBeUndefined();
});
