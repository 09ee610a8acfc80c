import { expect, test } from 'bun:test';
import { RequestError, type RequestFault, readRequest } from '../../../assets/approve/request.ts';
import type { Asker } from '../../../assets/wallet/asker.ts';

const NOW = Date.UTC(2026, 0, 1);
const APP: Asker = { via: 'opener', origin: 'https://app.example', frame: undefined };
const REQUEST = { id: 'payout-17', text: 'Pay Bob', expires: '2026-01-01T00:05:00Z' };
const read = (more: object) => readRequest({ ...REQUEST, ...more }, APP, { now: NOW, chainId: 84532 });

test('a request is read as it is signed, its end in seconds; what it has besides is ignored', () => {
  const read1 = read({ vault: 'https://evil.example', app: 'https://evil.example', person: { account: '0x' } });
  const expires = Date.UTC(2026, 0, 1, 0, 5) / 1000;
  expect(read1).toEqual({ asker: APP, id: 'payout-17', text: 'Pay Bob', expires, person: undefined });
  expect(read({ expires: '2026-01-01T01:05:00.900+01:00' }).expires).toBe(expires);
});

test.each<[RequestFault, object]>([
  ['text_empty', { text: '' }],
  ['text_hidden', { text: 'Pay \u202eboB' }],
  ['text_data', { text: `0x${'ab'.repeat(32)}` }],
  ['text_long', { text: 'Pay Bob. '.repeat(200).trim() }],
  ['bad_form', { form: 'typed-data' }],
  ['bad_form', { form: null }],
  ['bad_form', { authorization: {} }],
  ['bad_form', { form: 'transfer-authorization' }],
  ['bad_id', { id: '' }],
  ['bad_id', { id: 'payout 17' }],
  ['bad_id', { id: 'a'.repeat(129) }],
  ['bad_id', { id: undefined }],
  ['bad_expiry', { expires: undefined }],
  ['bad_expiry', { expires: '2026-01-01T00:05:00' }],
  ['bad_expiry', { expires: 1767225900 }],
  ['bad_expiry', { expires: '2026-01-02T00:00:01Z' }],
  ['expired', { expires: '2026-01-01T00:00:09Z' }],
])('%s: %j is refused', (fault, more) => {
  expect(() => read(more)).toThrow(new RequestError(fault));
});

test('it may end in ten seconds, and in a day', () => {
  for (const expires of ['2026-01-01T00:00:10Z', '2026-01-02T00:00:00Z'])
    expect(read({ expires }).text).toBe('Pay Bob');
});
