import { expect, test } from 'bun:test';
import { badRequest, ERRORS, VaultError } from '../../../lib/base/error.ts';
import type { ErrorWord } from '../../../lib/base/error-word.ts';

test.each([
  [400, 'bad_request parse_error invalid_request invalid_params'],
  [403, 'attestation_invalid attestation_mismatch attestation_expired attestation_used proof_invalid did_not_yours'],
  [403, 'method_refused sponsorship_refused origin_not_allowed'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [409, 'identifier_reserved identifier_taken did_taken credential_already_registered idempotency_key_in_use'],
  [413, 'payload_too_large'],
  [415, 'unsupported_media_type'],
  [421, 'misdirected_request'],
  [422, 'idempotency_key_reused'],
  [429, 'rate_limited ip_limit_reached sponsor_limit_reached'],
  [500, 'internal_error'],
  [502, 'email_send_failed sms_send_failed sms_provider_error rpc_error bundler_error'],
  [503, 'identifier_busy bundler_not_configured database_unavailable shutting_down'],
  [504, 'bundler_timeout'],
])('%i is the status of %s', (status, codes) => {
  const table: Readonly<Record<string, ErrorWord>> = ERRORS;
  expect(codes.split(' ').filter((code) => table[code]?.status !== status)).toEqual([]);
});

test('every word is lower case, and every status one of a failure', () => {
  for (const [code, { status }] of Object.entries(ERRORS)) {
    expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
    expect([status >= 400 && status < 600, Number.isInteger(status)]).toEqual([true, true]);
  }
});

test('an error says its code unless it is given a sentence, and keeps its cause to itself', () => {
  const cause = new Error('the engine broke');
  const error = new VaultError('internal_error', { cause });
  expect([error.name, error.code, error.message, error.cause]).toEqual([
    'VaultError',
    'internal_error',
    'internal_error',
    cause,
  ]);
  expect(error).toBeInstanceOf(Error);
  expect(String(badRequest('Invalid did'))).toBe('VaultError: Invalid did');
  expect(badRequest('Invalid did').code).toBe('bad_request');
});

test("a hint is the code's own unless another is given", () => {
  expect(new VaultError('not_found').details.hint).toBeUndefined();
  expect(new VaultError('database_unavailable').details.hint).toContain('Try again');
  expect(new VaultError('database_unavailable', { hint: 'Wait.' }).details.hint).toBe('Wait.');
});
