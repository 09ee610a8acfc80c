import { describe, expect, test } from 'bun:test';
import type { OperatorFiles } from '../../../lib/base/operator-files.ts';
import { readMailWords } from '../../../lib/words/mail-words.ts';
import { createWords } from '../../../lib/words/words.ts';

/** The operator's files by path. */
function folder(files: Readonly<Record<string, unknown>>): OperatorFiles {
  const text = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content));
  const found = new Map(
    Object.entries(files).map(([path, content]) => [path, new TextEncoder().encode(text(content))]),
  );
  return {
    read: (path) => found.get(path),
    list: (path) => {
      const inside = [...found.keys()].filter((name) => name.startsWith(`${path}/`));
      return [...new Set(inside.map((name) => name.slice(path.length + 1).split('/')[0] ?? ''))];
    },
  };
}

const open = (files: Readonly<Record<string, unknown>>, defaultLanguage = 'en') =>
  createWords({ wordsDir: '/words', defaultLanguage }, folder(files));

describe('WORDS_DIR', () => {
  test('adds a language; what it lacks is English', async () => {
    const words = open({ '/words/ar/mail.json': { 'code.enter': 'أدخله خلال {lifetime}.' }, '/words/README': 'x' });
    expect(words.languagesOf('mail')).toEqual(['en', 'de', 'fr', 'es', 'ar']);
    const found = await words.of('mail', 'ar', readMailWords);
    expect(found['code.enter']).toBe('أدخله خلال {lifetime}.');
    expect(found['code.subject']).toBe((await readMailWords('en'))['code.subject'] as string);
    expect(words.choose('mail', undefined, 'ar-EG')).toBe('ar');
    const ids = Object.keys(await readMailWords('en'));
    expect(await words.inEnglish('mail', 'ar', readMailWords)).toEqual(ids.filter((id) => id !== 'code.enter'));
    expect(await words.coverage('mail', readMailWords)).toEqual([{ language: 'ar', has: 1, all: ids.length }]);
  });

  test('a language is chosen only for what it has words of', () => {
    const words = open({ '/words/ar/mail.json': { support: '{support}' }, '/words/de-AT/pass.json': { a: 'b' } });
    expect(words.choose('pay', undefined, 'ar, fr;q=0.8')).toBe('fr');
    expect(words.choose('mail', undefined, 'ar, fr;q=0.8')).toBe('ar');
    expect(words.choose('pay', 'de-AT', null)).toBe('de');
    expect(words.choose('pass', 'de-AT', null)).toBe('de-AT');
  });

  test('what a variety of a language lacks is in that language', async () => {
    const words = open({ '/words/de-AT/mail.json': { support: 'Servus! {support}' } });
    const found = await words.of('mail', 'de-AT', readMailWords);
    expect(found['support']).toBe('Servus! {support}');
    expect(found['code.subject']).toBe((await readMailWords('de'))['code.subject'] as string);
  });

  test('as DEFAULT_LANGUAGE is English where it has no words', () => {
    const words = open({ '/words/ar/mail.json': { support: '{support}' } }, 'ar');
    expect([words.choose('mail', undefined, null), words.choose('pay', undefined, null)]).toEqual(['ar', 'en']);
  });

  test.each([
    [{ 'sms.code': 'Ihr Code ist da.' }, 'sms.code', 'code'],
    [{ 'sms.short': 'Ihr Code' }, 'sms.short', 'code'],
    [{ 'sms.pass': 'Öffnen Sie den Link für {brand}.' }, 'sms.pass', 'pass'],
    [{ 'sms.code': { one: 'Ihr Code', other: '{code}' } }, 'sms.code', 'code'],
  ])('%j is refused: the message would go out without what it is for', (mail, id, place) => {
    expect(() => open({ '/words/de/mail.json': mail })).toThrow(
      `WORDS_DIR has a text message without {${place}}, de/mail.json: ${id}`,
    );
  });

  test('changes words of the vault', async () => {
    const words = open({ '/words/de/mail.json': { support: 'Hilfe: {support}' } });
    expect((await words.of('mail', 'de', readMailWords))['support']).toBe('Hilfe: {support}');
    expect((await words.of('mail', 'de', readMailWords))['code.subject']).toContain('Ihr Code');
    const lacking = ['en', 'en-GB', 'de', 'de-AT'].map((one) => words.inEnglish('mail', one, readMailWords));
    expect((await Promise.all(lacking)).flat()).toEqual([]);
  });

  test('a word with a place that the original lacks is left out, as it would show it', async () => {
    const words = open({ '/words/de/mail.json': { support: 'Hilfe: {phone}', 'sms.lost': '{brand}' } });
    const german = await words.of('mail', 'de', readMailWords);
    expect([german['support'], german['sms.lost']]).toEqual([
      'Fragen? Schreiben Sie an {support}.',
      'Ein anderes Konto hat diese Nummer übernommen.',
    ]);
  });

  test.each([
    [{}, 'WORDS_DIR is a folder that does not exist, or is empty'],
    [{ '/words/de/mail.json': '[]' }, 'WORDS_DIR has a file, de/mail.json, that is not a JSON object'],
    [
      { '/words/de/mail.json': '{' },
      'WORDS_DIR has a file, de/mail.json, that is not JSON: look for a comma or a quotation mark',
    ],
    [
      { '/words/de/mail.json': { support: 1 } },
      'WORDS_DIR has a word that is neither plain text nor plural forms with other, de/mail.json: support',
    ],
    [
      { '/words/de/mail.json': { support: { other: '' } } },
      'WORDS_DIR has a word that is neither plain text nor plural forms with other, de/mail.json: support',
    ],
    ...['Ihr Code\r\nBcc: x@example.com', 'Ihr\tCode', 'Ihr\u0085Code'].map(
      (text): [Record<string, unknown>, string] => [
        { '/words/de/mail.json': { 'code.subject': text } },
        'WORDS_DIR has a word that is neither plain text nor plural forms with other, de/mail.json: code.subject',
      ],
    ),
    [
      { '/words/de/mail.json': { support: { one: 'x' } } },
      'WORDS_DIR has a word that is neither plain text nor plural forms with other, de/mail.json: support',
    ],
  ])('%j is refused', (files, problem) => {
    expect(() => open(files)).toThrow(problem);
  });

  test('needs a host that reads files', () => {
    expect(() => createWords({ wordsDir: '/words', defaultLanguage: 'en' }, undefined)).toThrow(
      'WORDS_DIR needs a host that reads files',
    );
  });
});

test('DEFAULT_LANGUAGE comes first, and must be there', () => {
  expect(createWords({ wordsDir: undefined, defaultLanguage: 'fr' }, undefined).choose('pay', undefined, null)).toBe(
    'fr',
  );
  expect(() => createWords({ wordsDir: undefined, defaultLanguage: 'it' }, undefined)).toThrow(
    'DEFAULT_LANGUAGE must be one of en, de, fr, es',
  );
});
