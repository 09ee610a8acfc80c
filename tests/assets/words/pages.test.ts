import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalogue } from '../../../client/catalogue.ts';
import { BUILT_IN } from '../../../lib/words/languages.ts';
import { SERVED_PAGES } from '../../../lib/words/words.ts';
import { faultsOf } from '../../support/catalogues.ts';
import { type PageSources, scriptsIn, textsOfHtml, textsOfScript } from '../../support/page-texts.ts';

const WORDS = join(import.meta.dir, '../../../assets/words');

/** Where the words of each page are. */
const PAGES: Readonly<Record<string, PageSources>> = {
  pass: {
    html: ['pass/index.html', 'pass/ready.html', 'pass/ended.html'],
    scripts: ['pass/pass.ts'],
  },
  register: {
    html: ['register/index.html'],
    scripts: scriptsIn('register'),
  },
};

/** Sentences in scripts that no person reads. */
const NOT_SHOWN: readonly RegExp[] = [/^(?:Code expired|No code was sent|Too many attempts|Invalid identifier)$/];

const catalogueOf = (language: string, page: string): Catalogue =>
  JSON.parse(readFileSync(join(WORDS, language, `${page}.json`), 'utf8'));

test('the pages with words are those that are served', () => {
  expect(Object.keys(PAGES)).toEqual([...SERVED_PAGES]);
  const files = readdirSync(WORDS).filter((name) => !name.endsWith('.ts'));
  expect(files.sort()).toEqual([...BUILT_IN].sort());
  const wrong = files.flatMap((language) =>
    readdirSync(join(WORDS, language)).filter((name) => !existsSync(join(WORDS, 'en', name))),
  );
  expect(wrong).toEqual([]);
});

describe.each(Object.entries(PAGES))('the words of /%s', (page, { html, scripts }) => {
  const found = scripts.map(textsOfScript);
  const written = [...html.flatMap(textsOfHtml), ...found.flatMap(({ words }) => words)];
  const sentences = found.flatMap((one) => one.sentences).filter((text) => !NOT_SHOWN.some((one) => one.test(text)));
  const ids = [...new Set([...written, ...sentences])].filter((text) => /\p{L}/u.test(text));
  if (process.env['LIST_WORDS'] === page) console.log(`WORDS ${page} ${JSON.stringify(ids)}`);
  const english: Catalogue = { ...Object.fromEntries(ids.map((id) => [id, id])), ...catalogueOf('en', page) };

  test('are all in English: what the English catalogue has, the page has', () => {
    expect(Object.keys(catalogueOf('en', page)).filter((id) => !ids.includes(id))).toEqual([]);
    expect(faultsOf(english, english, 'en')).toEqual([]);
  });

  test.each(BUILT_IN.filter((language) => language !== 'en'))('are complete in %s', (language) => {
    expect(faultsOf(catalogueOf(language, page), english, language)).toEqual([]);
  });
});
