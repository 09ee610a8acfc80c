import { expect, test } from 'bun:test';
import * as v from 'valibot';
import type { VaultError } from '../../../lib/base/error.ts';
import { createReader, optional, required } from '../../../routes/http/fields.ts';

const text = v.string('Invalid');
const read = createReader(
  {
    client_id: required(text),
    redirect_uri: required(text),
    code: required(text),
    code_verifier: required(text),
    grant_type: optional(text),
  },
  'required fields',
);
const whole = { client_id: 'tea', redirect_uri: 'https://tea.example/back', code: 'c', code_verifier: 'v' };

/** What a record is refused with. */
function refused(record: Readonly<Record<string, unknown>>) {
  try {
    read(record);
    return undefined;
  } catch (error) {
    const { message, details } = error as VaultError;
    return { message, hint: details.hint };
  }
}

const ALL = 'Missing required fields: client_id, redirect_uri, code, code_verifier';

test.each([
  ['absent', { ...whole, code: undefined }, 'Missing or empty: code.'],
  ['empty', { ...whole, code: '' }, 'Missing or empty: code.'],
  ['null', { ...whole, code: null }, 'Missing or empty: code.'],
  ['two', { ...whole, code: '', redirect_uri: null }, 'Missing or empty: redirect_uri, code.'],
  ['all: the message says as much', {}, undefined],
  [
    'by another name',
    { ...whole, code_verifier: undefined, codeVerifier: 'v' },
    'Missing or empty: code_verifier (you sent codeVerifier).',
  ],
  ['beside an optional one', { ...whole, code: '', grant_type: 'x' }, 'Missing or empty: code.'],
  ['inherited', Object.create(whole), undefined],
] as const)('of required fields the hint names those that are missing: %s', (_, record, hint) => {
  expect(refused(record)).toEqual({ message: ALL, hint });
});

test('a body of thousands of names costs no more than one of twenty', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`code_verifie${i}`, 'v']));
  expect(refused({ ...many, code_verifieR: 'v' })?.hint).toStartWith('Missing or empty: client_id, redirect_uri, code');
  expect(refused({ ...many, code_verifieR: 'v' })?.hint).toContain('code_verifier (you sent code_verifie0)');
});
