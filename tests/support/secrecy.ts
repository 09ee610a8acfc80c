import { expect } from 'bun:test';
import { inspect } from 'node:util';
import type { VaultError } from '../../lib/base/error.ts';
import { describeError } from '../../lib/base/log.ts';

/**
 * Fails when the log's description of an error, or anything else that hangs on it (stack, causes, own members),
 * contains one of the texts.
 */
export function expectTellsNothing(error: unknown, ...texts: readonly string[]): void {
  expect(error).toBeInstanceOf(Error);
  expectHoldsNone([describeError(error), error], ...texts);
}

/**
 * Fails when a value, its hidden members included, contains one of the texts in any case. The digits of a code or a
 * number may stand in an id, a challenge or a digest by chance: they are not looked for in long hex.
 */
export function expectHoldsNone(value: unknown, ...texts: readonly string[]): void {
  const options = { depth: null, showHidden: true, maxArrayLength: null, maxStringLength: null };
  const all = `${JSON.stringify(value)}\n${inspect(value, options)}`.toLowerCase();
  const withoutHex = all.replace(/[0-9a-f]{32,}/g, '…');
  for (const text of texts) expect(/^\d{6,15}$/.test(text) ? withoutHex : all).not.toContain(text.toLowerCase());
}

/** What a call throws, held as a `VaultError`; undefined when it throws nothing. */
export function failureOf(call: Promise<unknown>): Promise<VaultError> {
  return call.then(
    () => undefined as never,
    (error) => error,
  );
}
