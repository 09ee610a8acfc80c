import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { decimal, word, wordWith } from '../../../assets/words/words.ts';
import { englishIn, ISOLATES } from '../../../client/catalogue.ts';

const own = (globalThis as unknown as { vaultWords: { words: object; language: string; around: unknown } }).vaultWords;
const before = { ...own };
const speak = (language: string, words: object = {}, around: unknown = undefined, english: string[] = []) =>
  Object.assign(own, { language, words, around, english });

beforeEach(() => {
  speak('en');
});
afterAll(() => {
  Object.assign(own, before);
});

describe('a word of a page', () => {
  test('is found by its id, its places filled; an id without a word stays', () => {
    speak('de', { 'setup.rename_this': '{name} umbenennen' });
    expect(word('setup.rename_this', { name: 'Tea' })).toBe('Tea umbenennen');
    expect(word('setup.rename')).toBe('setup.rename');
  });

  test('from right to left keeps its values in order; numbers and names that are kept have no marks', () => {
    speak('he', { 'mail.sent': 'הקוד נשלח אל {to}.', days: 'בעוד {count} ימים' }, ISOLATES);
    expect(word('mail.sent', { to: '+49 151 12345678' })).toBe('הקוד נשלח אל \u2068+49 151 12345678\u2069.');
    expect(word('days', { count: 3 })).toBe('בעוד 3 ימים');
    expect(word('mail.sent', { to: '0x12' }, ['', ''])).toBe('הקוד נשלח אל 0x12.');
    expect(wordWith('mail.sent', {}, { to: 'a@b.example' }).join('')).toContain('\u2068a@b.example\u2069');
  });

  test('that another language lacks is marked as English, counts as English does, and is found within others', () => {
    const words = {
      gives: '{app} gets {what}.',
      what: 'this address',
      days: { one: '{count} day', other: '{count} days' },
    };
    speak('he', words, ISOLATES, Object.keys(words));
    expect(word('days', { count: 1_500 })).toBe('\u20661,500 days\u2069');
    expect(englishIn(word('gives', { app: 'localhost:3000', what: word('what' as never) }))).toEqual([
      '',
      '\u2068localhost:3000\u2069 gets \u2068\u2066this address\u2069\u2069.',
      '',
    ]);
    expect(word('gives', { app: 'tea' }, ['', ''])).toBe('tea gets {what}.');
    speak('he', { ...words, gives: '{what} :{app}' }, ISOLATES, ['what']);
    expect(englishIn(word('gives', { app: 'tea', what: word('what' as never) }))).toEqual([
      '\u2068',
      'this address',
      '\u2069 :\u2068tea\u2069',
    ]);
    expect(englishIn('no mark, and \u2069 none opened')).toEqual(['no mark, and \u2069 none opened']);
  });
});

test.each([
  ['de', '1,25'],
  ['en', '1.25'],
  ['fr', '1,25'],
  ['ar-EG', '1.25'],
  ['fa', '1.25'],
])('an amount in %s is %s: its digits stay', (language, text) => {
  speak(language);
  expect(decimal('1.25')).toBe(text);
});

test.each([
  ['de', '12.345.678,000000000000000001'],
  ['en', '12,345,678.000000000000000001'],
  ['en-IN', '1,23,45,678.000000000000000001'],
  ['fr', '12\u202f345\u202f678,000000000000000001'],
  ['es', '12.345.678,000000000000000001'],
])('a large amount in %s is %s: no digit is lost, and its thousands are apart', (language, text) => {
  speak(language);
  expect(decimal('12345678.000000000000000001')).toBe(text);
  expect(decimal('12345678')).toBe(text.replace(/.0+1$/, ''));
});
