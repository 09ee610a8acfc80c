import { describe, expect, test } from 'bun:test';
import { BUILT_IN } from '../../../lib/words/languages.ts';
import { readMailWords } from '../../../lib/words/mail-words.ts';
import { faultsOf } from '../../support/catalogues.ts';
import { usedIds } from '../../support/letterheads.ts';

const english = await readMailWords('en');

describe.each(BUILT_IN)('the words of mails and text messages in %s', (language) => {
  test('are complete: every id, the same places, nothing besides', async () => {
    expect(faultsOf(await readMailWords(language), english, language)).toEqual([]);
  });
});

test('every id is used, and every id that is used is there', async () => {
  expect([...(await usedIds())].sort()).toEqual(Object.keys(english).sort());
});

test('what is incomplete is found', () => {
  const count = { one: '{count} day', other: '{count} days' };
  const whole = { a: 'A {name}', b: count };
  expect(faultsOf({ a: 'A {name}', b: { one: '{count} Tag', other: '{count} Tage' } }, whole, 'de')).toEqual([]);
  expect(faultsOf({ a: 'A', b: count, c: 'C' }, whole, 'de')).toEqual([
    'has c, which English has not',
    'has other places in a',
  ]);
  expect(faultsOf({ a: ' {name}', b: { other: '{count}' } }, whole, 'de')).toEqual([
    'has blanks in a',
    'has other plural forms in b',
  ]);
  // French counts millions in a form of their own.
  expect(faultsOf({ a: '{name}', b: count }, whole, 'fr')).toEqual(['has other plural forms in b']);
  expect(faultsOf({ b: count }, whole, 'de')).toEqual(['has no a']);
});
