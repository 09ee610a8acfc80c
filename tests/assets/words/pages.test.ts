import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PendingSign, Problem } from '../../../assets/pay/words.ts';
import { PROBLEMS as SIGN_UP_PROBLEMS } from '../../../assets/register/words.ts';
import signUpWords from '../../../assets/words/en/register.json' with { type: 'json' };
import type { Catalogue } from '../../../client/catalogue.ts';
import { BUILT_IN } from '../../../lib/words/languages.ts';
import { SERVED_PAGES } from '../../../lib/words/words.ts';
import { faultsOf } from '../../support/catalogues.ts';
import { type PageSources, scriptsIn, textsOfHtml, textsOfScript } from '../../support/page-texts.ts';

const WORDS = join(import.meta.dir, '../../../assets/words');

/** Every problem of the payment page, and every state of a payment that is not confirmed; the types hold them whole. */
const PROBLEMS = {
  no_id: 1,
  no_data: 1,
  several_data: 1,
  bad_to: 1,
  bad_checksum: 1,
  bad_amount: 1,
  bad_token: 1,
  bad_chain: 1,
  bad_label: 1,
  bad_expiry: 1,
  no_request: 1,
  other_chain: 1,
  expired: 1,
  ending: 1,
  down: 1,
  unconfirmed: 1,
  fee_bound: 1,
  refused: 1,
  used: 1,
  no_key: 1,
  ended: 1,
  voided: 1,
  reverted: 1,
  spent: 1,
  other_terms: 1,
  aborted: 1,
  cancelled: 1,
  no_memory: 1,
  unexpected: 1,
} as const satisfies Readonly<Record<Problem, 1>>;
const SIGNS = {
  none: 1,
  taken: 1,
  refused: 1,
  lost: 1,
  voiding: 1,
  late: 1,
  undone: 1,
  searching: 1,
  unclear: 1,
  away: 1,
} as const satisfies Readonly<Record<PendingSign, 1>>;

/** Where the words of each page are, and the ids that it puts together. */
const PAGES: Readonly<Record<string, PageSources & { readonly made?: readonly string[] }>> = {
  pass: {
    html: ['pass/index.html', 'pass/ready.html', 'pass/ended.html'],
    scripts: ['pass/pass.ts'],
  },
  register: {
    html: ['register/index.html'],
    scripts: scriptsIn('register'),
    made: Object.keys(signUpWords),
  },
  pay: {
    html: ['pay/confirm.html', 'pay/index.html'],
    scripts: [...scriptsIn('pay', ['sw.ts']), ...scriptsIn('wallet')],
    made: [
      ...Object.keys(PROBLEMS).flatMap((problem) => [`${problem}.title`, `${problem}.text`]),
      ...Object.keys(SIGNS).map((sign) => `sign.${sign}`),
    ],
  },
  account: {
    html: ['account/index.html'],
    scripts: [...scriptsIn('account', ['take.ts', 'abi.ts']), ...scriptsIn('wallet')],
  },
  landing: {
    html: ['landing/index.html'],
    scripts: scriptsIn('landing'),
  },
};

/** What is said where there are no words, and sentences that no person reads. */
const NOT_TRANSLATED: readonly RegExp[] = [
  /^The network cannot be reached$/,
  /^Try again in a moment\.$/,
  // Of a fault that nobody meets, for those who mend it.
  /^The vault names|^The key of this account is not known|^This network has no|^This passkey was removed from the new/,
  // What the API says of a code.
  /^(?:Code expired|No code was sent|Too many attempts|Too soon|Invalid identifier)$/,
  // Types.
  /^(?:EIP712Domain|VaultOperation|VetoRecovery|Vault Account)/,
];

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

test('/register uses each of its words; the types hold that it has those that it uses', () => {
  const made = new Set([
    ...Object.values(SIGN_UP_PROBLEMS).flatMap((name) => [`${name}.title`, `${name}.text`]),
    ...['both', 'phone', 'email'].flatMap((kind) => [`start.${kind}`, `start.fault_${kind}`]),
    ...['address', 'all', 'email', 'sms'].map((what) => `gives.${what}`),
    ...['', 'resume_', 'taken_'].flatMap((kind) => ['title', 'words', 'go'].map((part) => `passkey.${kind}${part}`)),
  ]);
  const sources = [...scriptsIn('register'), 'register/index.html'].map((path) =>
    readFileSync(join(WORDS, '..', path), 'utf8'),
  );
  const isWritten = (id: string) => sources.some((text) => text.includes(`'${id}'`) || text.includes(`data-w="${id}"`));
  const ids = Object.keys(signUpWords);
  expect(ids.filter((id) => !made.has(id) && !isWritten(id))).toEqual([]);
  expect([...made].filter((id) => !ids.includes(id))).toEqual([]);
});

describe.each(Object.entries(PAGES))('the words of /%s', (page, { html, scripts, made = [] }) => {
  const found = scripts.map(textsOfScript);
  const written = [...html.flatMap(textsOfHtml), ...found.flatMap(({ words }) => words)];
  const sentences = found.flatMap((one) => one.sentences);
  const isShown = (text: string) => /\p{L}/u.test(text) && !NOT_TRANSLATED.some((one) => one.test(text));
  const ids = [...new Set([...written, ...sentences, ...made])].filter(isShown);
  if (process.env['LIST_WORDS'] === page) console.log(`WORDS ${page} ${JSON.stringify(ids)}`);
  const english: Catalogue = { ...Object.fromEntries(ids.map((id) => [id, id])), ...catalogueOf('en', page) };

  test('are all in English: what the English catalogue has, the page has', () => {
    expect(Object.keys(catalogueOf('en', page)).filter((id) => !ids.includes(id))).toEqual([]);
    expect(faultsOf(english, english, 'en')).toEqual([]);
    // A short id is no English.
    expect(ids.filter((id) => /^[\w-]+\.[\w-]+$/.test(id) && catalogueOf('en', page)[id] === undefined)).toEqual([]);
  });

  test.each(BUILT_IN.filter((language) => language !== 'en'))('are complete in %s', (language) => {
    expect(faultsOf(catalogueOf(language, page), english, language)).toEqual([]);
  });
});
