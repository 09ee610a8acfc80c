import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENDS } from '../../../assets/account/lost.ts';
import { type Problem as AccountProblem, REFUSALS } from '../../../assets/account/words.ts';
import type { Problem as ApproveProblem } from '../../../assets/approve/problem.ts';
import { PROBLEMS as SIGN_UP_PROBLEMS } from '../../../assets/authorize/words.ts';
import type { PendingSign, Problem } from '../../../assets/pay/words.ts';
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
  passkeys_unavailable: 1,
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

/** Problems other than these have their words in the scripts of /account. */
const ACCOUNT_PROBLEMS = {
  browser: 1,
  down: 1,
  fee_bound: 1,
  refused: 1,
  reverted: 1,
  ended: 1,
  no_link: 1,
  no_memory: 1,
  no_passkey: 1,
  unexpected: 1,
} as const satisfies Readonly<Record<AccountProblem, 1>>;

/** Every problem of the page of approvals; the type holds them whole. */
const APPROVE_PROBLEMS = {
  text_empty: 1,
  text_long: 1,
  text_hidden: 1,
  text_data: 1,
  bad_form: 1,
  bad_id: 1,
  bad_expiry: 1,
  bad_to: 1,
  bad_checksum: 1,
  bad_from: 1,
  bad_amount: 1,
  bad_token: 1,
  bad_validity: 1,
  bad_nonce: 1,
  other_chain: 1,
  own_payee: 1,
  expired: 1,
  no_request: 1,
  down: 1,
  no_key: 1,
  passkeys_unavailable: 1,
  aborted: 1,
  unexpected: 1,
} as const satisfies Readonly<Record<ApproveProblem, 1>>;

const titled = (names: readonly string[]) => names.flatMap((name) => [`${name}.title`, `${name}.text`]);

/** Where the words of each page are, and the ids that it puts together. */
const PAGES: Readonly<Record<string, PageSources & { readonly made?: readonly string[] }>> = {
  pass: {
    html: ['pass/index.html', 'pass/ready.html', 'pass/ended.html'],
    scripts: ['pass/pass.ts'],
  },
  authorize: {
    html: ['authorize/index.html'],
    scripts: [...scriptsIn('authorize'), 'wallet/prompt.ts'],
    made: [
      ...titled(Object.values(SIGN_UP_PROBLEMS)),
      ...['both', 'phone', 'email'].flatMap((kind) => [`start.${kind}`, `start.fault_${kind}`]),
      ...['email', 'phone'].map((what) => `gives.this_${what}`),
      ...['none', 'add', 'not'].flatMap((part) => ['email', 'sms'].map((what) => `give.${part}_${what}`)),
      ...['', 'resume_'].flatMap((kind) => ['title', 'words', 'go'].map((part) => `passkey.${kind}${part}`)),
    ],
  },
  pay: {
    html: ['pay/confirm.html', 'pay/index.html'],
    scripts: [...scriptsIn('pay', ['sw.ts']), ...scriptsIn('wallet')],
    made: [...titled(Object.keys(PROBLEMS)), ...Object.keys(SIGNS).map((sign) => `sign.${sign}`)],
  },
  approve: {
    html: ['approve/index.html'],
    scripts: [...scriptsIn('approve'), 'wallet/find.ts', 'wallet/payer.ts', 'wallet/prompt.ts'],
    made: titled(Object.keys(APPROVE_PROBLEMS)),
  },
  account: {
    html: ['account/index.html'],
    scripts: [...scriptsIn('account', ['take.ts']), ...scriptsIn('wallet')],
    made: [
      ...titled([...REFUSALS, ...Object.keys(ACCOUNT_PROBLEMS)]),
      ...titled(ENDS.map((status) => `recovery_${status}`)),
      ...titled(['recovered', 'recovered_elsewhere', 'stopped']),
    ],
  },
  landing: {
    html: ['landing/index.html', 'landing/missing.html'],
    scripts: scriptsIn('landing'),
  },
};

/** What is said where there are no words, and sentences that no person reads. */
const NOT_TRANSLATED: readonly RegExp[] = [
  /^The network cannot be reached$/,
  /^The service cannot be reached$|^No answer$/,
  /^Try again in a moment\.$/,
  // Of a fault that nobody meets, for those who mend it.
  /^The vault names|^The key of this account is not known|^This network has no|^This passkey was removed from the new/,
  // What the API says of a code.
  /^(?:Code expired|No code was sent|Too many attempts|Too soon|Invalid identifier)$/,
  // Types.
  /^(?:EIP712Domain|VaultApproval|Vault Approval|VaultOperation|VetoRecovery|Vault Account)/,
];

const catalogueOf = (language: string, page: string): Catalogue =>
  JSON.parse(readFileSync(join(WORDS, language, `${page}.json`), 'utf8'));

test('the pages with words are those that are served, in every language', () => {
  expect(Object.keys(PAGES)).toEqual([...SERVED_PAGES]);
  const files = readdirSync(WORDS).filter((name) => !name.endsWith('.ts'));
  expect(files.sort()).toEqual([...BUILT_IN].sort());
  const names = SERVED_PAGES.map((page) => `${page}.json`).sort();
  expect(files.map((language) => readdirSync(join(WORDS, language)).sort())).toEqual(files.map(() => names));
});

describe.each(Object.entries(PAGES))('the words of /%s', (page, { html, scripts, made = [] }) => {
  const english = catalogueOf('en', page);
  const texts = html.map(textsOfHtml);
  const written = texts.flatMap(({ words }) => words);
  const found = scripts.map(textsOfScript);
  const literals = found.flatMap((one) => one.literals);

  test('stand in its English catalogue: each is used, and each that is used is there', () => {
    const ids = Object.keys(english);
    const used = new Set([...written.map(([id]) => id), ...literals, ...made]);
    expect(ids.filter((id) => !used.has(id))).toEqual([]);
    const others = new Set(SERVED_PAGES.flatMap((one) => Object.keys(catalogueOf('en', one))));
    const isId = (text: string) => text.includes('.') && others.has(text);
    const needed = [...written.map(([id]) => id), ...literals.filter(isId), ...made];
    expect(needed.filter((id) => english[id] === undefined)).toEqual([]);
    expect(faultsOf(english, english, 'en')).toEqual([]);
  });

  test('are in its HTML as in the catalogue; no other text stands there or in a script', () => {
    expect(written.filter(([id, text]) => english[id] !== text)).toEqual([]);
    expect(texts.flatMap(({ loose }) => loose)).toEqual([]);
    const sentences = found.flatMap((one) => one.sentences);
    expect(sentences.filter((text) => !NOT_TRANSLATED.some((one) => one.test(text)))).toEqual([]);
  });

  test.each(BUILT_IN.filter((language) => language !== 'en'))('are complete in %s', (language) => {
    expect(faultsOf(catalogueOf(language, page), english, language)).toEqual([]);
    // One order in all languages, so that a word is found beside its neighbours.
    expect(Object.keys(catalogueOf(language, page))).toEqual(Object.keys(english));
  });
});

test.each(['../../../assets/words/fr', '../../../lib/words/messages'])(
  'French punctuation does not go to the next line: %s',
  (folder) => {
    const files = [...new Bun.Glob('**/*.json').scanSync(new URL(folder, import.meta.url).pathname)].filter(
      (name) => folder.endsWith('/fr') || name === 'fr.json',
    );
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) {
      const texts = Object.values(JSON.parse(readFileSync(new URL(`${folder}/${name}`, import.meta.url), 'utf8')));
      expect(texts.filter((text) => / [:?!;»]|« /.test(String(text)))).toEqual([]);
    }
  },
);
