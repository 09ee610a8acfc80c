import { expect, test } from 'bun:test';
import { faultOfText, TEXT_CHARS_MAX } from '../../client/approval-text.ts';

test.each([
  'Pay out 250.00 EUR to Bob Example.',
  'Delete the team “Tea House”.\n\nIts 14 members lose their access.',
  'Make bob@example.com an administrator',
  'Auszahlung über 250,00 € an Bärbel Groß',
  'ボブに250ユーロを支払う。\u3000控え17',
  'ادفع 250 يورو إلى بوب',
  'Pay 1.25 USDC to 0x52908400098527886E0F7030069857D2E4169EE7',
  'Offen 👍',
  '[1] Pay Bob',
])('a person can read %j', (text) => {
  expect(faultOfText(text)).toBeUndefined();
});

test.each([
  ['empty', ''],
  ['empty', undefined],
  ['empty', 17],
  ['long', 'a '.repeat(TEXT_CHARS_MAX / 2 + 1)],
  ['long', 'a\n'.repeat(20)],
  ['hidden', ' Pay Bob'],
  ['hidden', 'Pay Bob\n'],
  ['hidden', 'Pay Bob\n\n\n250 EUR'],
  ['hidden', 'Pay Bob  250 EUR'],
  ['hidden', 'Pay\tBob'],
  ['hidden', 'Pay\r\nBob'],
  ['hidden', 'Pay Bob\u0000'],
  ['hidden', 'Pay \u202eboB'],
  ['hidden', 'Pay \u2067Bob\u2069'],
  ['hidden', 'Pay\u200bBob'],
  ['hidden', 'Pay\u00adBob'],
  ['hidden', 'Pay\u2028Bob'],
  ['hidden', 'Pay\u3164Bob'],
  ['hidden', 'Pay\u2800Bob'],
  ['hidden', 'Pay \ud800Bob'],
  ['hidden', 'Pay \u{e0041}Bob'],
  ['hidden', 'Pay e\u0301ve'],
  ['hidden', `Pay B${'\u0489'.repeat(3)}ob`],
  ['data', `0x${'ab'.repeat(32)}`],
  ['data', `Sign ${'ab'.repeat(21)}`],
  ['data', `Sign ${'eyJhbGciOiJFUzI1NiJ9'.repeat(4)}`],
  ['data', '{"to":"0x52908400098527886E0F7030069857D2E4169EE7","value":"1"}'],
  ['data', '[{"to":"bob"}]'],
])('%s: %j is refused', (fault, text) => {
  expect(faultOfText(text)).toBe(fault as never);
});
