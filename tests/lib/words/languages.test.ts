import { describe, expect, test } from 'bun:test';
import { fillMessage } from '../../../client/catalogue.ts';
import { languageTag } from '../../../lib/base/language.ts';
import { chooseLanguage, directionOf } from '../../../lib/words/languages.ts';

const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt-BR'];

test.each([
  [undefined, null, 'en'],
  [undefined, '', 'en'],
  [undefined, 'de', 'de'],
  [undefined, 'de-AT,en;q=0.9', 'de'],
  [undefined, 'it,fr;q=0.8,de;q=0.9', 'de'],
  [undefined, 'it, fr ; q=0.8', 'fr'],
  [undefined, 'DE-ch-1901', 'de'],
  [undefined, 'pt-BR', 'pt-BR'],
  [undefined, 'pt', 'en'],
  [undefined, 'fr;q=0, de;q=0.1', 'de'],
  [undefined, '*', 'en'],
  [undefined, '*, es;q=0.1', 'es'],
  [undefined, ';;q=,,x', 'en'],
  [undefined, `${'it,'.repeat(2_000)}de`, 'en'],
  ['fr', 'de', 'fr'],
  ['fr-CA', 'de', 'fr'],
  ['it', 'de', 'de'],
  ['it', null, 'en'],
  ['de_DE', null, 'de'],
  ['PT_br', 'de', 'pt-BR'],
])('asked for %p, with Accept-Language %p: %s', (wanted, accept, found) => {
  expect(chooseLanguage(LANGUAGES, { wanted, accept })).toBe(found);
});

test.each([
  ['en', 'ltr'],
  ['de', 'ltr'],
  ['ar', 'rtl'],
  ['he', 'rtl'],
  ['fa-AF', 'rtl'],
  ['ur', 'rtl'],
  ['yi', 'rtl'],
  ['uz', 'ltr'],
  ['uz-Arab', 'rtl'],
  ['ja', 'ltr'],
] as const)('%s is written %s', (language, direction) => {
  expect(directionOf(language)).toBe(direction);
});

test.each([
  ['de', 'de'],
  ['PT-br', 'pt-BR'],
  ['zh-hant-tw', 'zh-Hant-TW'],
  ['', undefined],
  ['d', undefined],
  ['de_AT', undefined],
  ['../de', undefined],
  ['de-x', undefined],
])('%p is the language %p', (text, tag) => {
  expect(languageTag(text)).toBe(tag);
});

describe('a message', () => {
  test('gets its values; a place without one stays', () => {
    expect(fillMessage('{a} and {b}', { a: '{b}' }, 'en')).toBe('{b} and {b}');
  });

  test('writes numbers as its language does, and texts as they are', () => {
    expect(fillMessage('{n} {text}', { n: 1234567.5, text: '042137' }, 'de')).toBe('1.234.567,5 042137');
  });

  test.each([
    ['en', 1, 'one'],
    ['en', 2, 'other'],
    ['fr', 0, 'one'],
    ['fr', 1_000_000, 'many'],
    ['ar', 3, 'few'],
  ])('in %s has for %i the form %s', (language, count, form) => {
    const forms = { zero: 'zero', one: 'one', two: 'two', few: 'few', many: 'many', other: 'other' };
    expect(fillMessage(forms, { count }, language)).toBe(form);
  });

  test('has the form other where it lacks one', () => {
    expect(fillMessage({ other: '{count} days' }, { count: 1 }, 'en')).toBe('1 days');
  });
});
