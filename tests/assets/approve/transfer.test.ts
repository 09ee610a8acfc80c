import { expect, test } from 'bun:test';
import { Address } from 'ox';
import { RequestError, type RequestFault, readRequest } from '../../../assets/approve/request.ts';
import { authorizationBy, type Transfer } from '../../../assets/approve/transfer.ts';
import type { Asker } from '../../../assets/wallet/asker.ts';

const NOW = Date.UTC(2026, 0, 1) / 1000;
const API: Asker = { via: 'opener', origin: 'https://app.example', frame: undefined };
const PAYEE = `0x${'b2'.repeat(20)}` as const;
const PAYER = '0x00000000000000000000000000000000000A11cE';
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const AUTHORIZATION = {
  to: PAYEE,
  value: '1250000',
  validAfter: String(NOW - 600),
  validBefore: String(NOW + 300),
  nonce: `0x${'C3'.repeat(32)}`,
};
const REQUEST = {
  id: 'order-7',
  form: 'transfer-authorization',
  token: { chainId: 84532, address: USDC },
  authorization: AUTHORIZATION,
};
const read = (more: object, chainId = 84532) => readRequest({ ...REQUEST, ...more }, API, { now: NOW * 1000, chainId });
const readAs = (more: object) => read({ authorization: { ...AUTHORIZATION, ...more } });
const faultOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    return error instanceof RequestError ? error.fault : String(error);
  }
  return 'none';
};

test('a transfer is read as it is signed, and ends with its authorization', () => {
  const { transfer, expires, text } = read({ label: ' Two\nteas ', expires: '2027-01-01T00:00:00Z' });
  expect([text, expires]).toEqual([undefined, NOW + 300]);
  expect(transfer).toEqual({
    ...{ token: { chainId: 84532, name: 'USDC', version: '2', address: USDC }, from: undefined, to: PAYEE },
    ...{ amount: 1_250_000n, validAfter: NOW - 600, validBefore: NOW + 300, nonce: `0x${'c3'.repeat(32)}` },
    label: 'Two teas',
  } as Transfer);
  expect(authorizationBy(PAYER.toLowerCase(), transfer as Transfer)).toEqual({
    ...AUTHORIZATION,
    from: PAYER,
    to: Address.checksum(PAYEE),
    nonce: AUTHORIZATION.nonce.toLowerCase(),
  });
});

test('the request of docs/approvals.md is one', async () => {
  const text = await Bun.file(new URL('../../../docs/approvals.md', import.meta.url)).text();
  const asked = JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? '{}');
  const now = (Number(asked.authorization.validBefore) - 300) * 1000;
  expect(readRequest(asked, API, { now, chainId: 84532 }).transfer).toMatchObject({
    amount: 1_250_000n,
    label: 'Two teas',
  });
});

test.each<[RequestFault, object]>([
  ['bad_to', { to: undefined }],
  ['bad_to', { to: '0xb2' }],
  ['bad_to', { to: `0x${'00'.repeat(20)}` }],
  ['bad_to', { to: USDC.toLowerCase() }],
  ['bad_checksum', { to: PAYER.replace('A', 'a').replace('cE', 'Ce') }],
  ['bad_checksum', { from: PAYER.replace('A', 'a').replace('cE', 'Ce') }],
  ['bad_from', { from: 'me' }],
  ['bad_from', { from: null }],
  ['bad_amount', { value: '0' }],
  ['bad_amount', { value: '-1' }],
  ['bad_amount', { value: 1250000 }],
  ['bad_amount', { value: '0x10' }],
  ['bad_amount', { value: String(2n ** 256n) }],
  ...['1e6', ' 5', '5 ', '05', '+5', '1.5', '1_000', '٣', '5\n', '9'.repeat(100_000), ['5'], { toString: 1 }].map(
    (value): [RequestFault, object] => ['bad_amount', { value }],
  ),
  ['bad_to', { to: `0X${'b2'.repeat(20)}` }],
  ['bad_to', { to: [PAYEE] }],
  ['bad_validity', { validBefore: 'NaN' }],
  ['bad_validity', { validBefore: `${NOW + 300}.5` }],
  ['bad_validity', { validBefore: `${NOW + 300}\n` }],
  ['bad_validity', { validAfter: '-1' }],
  ['bad_nonce', { nonce: `0x${'c3'.repeat(33)}` }],
  ['bad_nonce', { nonce: `0x${'c3'.repeat(32)}\n` }],
  ['bad_nonce', { nonce: [`0x${'c3'.repeat(32)}`] }],
  ['bad_validity', { validAfter: String(NOW + 1) }],
  ['bad_validity', { validAfter: undefined }],
  ['bad_validity', { validBefore: undefined }],
  ['bad_validity', { validBefore: NOW + 300 }],
  ['bad_validity', { validBefore: String(NOW + 3_601) }],
  ['bad_validity', { validBefore: String((NOW + 300) * 1000) }],
  ['expired', { validBefore: String(NOW + 9) }],
  ['expired', { validBefore: '0' }],
  ['bad_nonce', { nonce: undefined }],
  ['bad_nonce', { nonce: '0xc3' }],
])('%s: %j is refused', (fault, more) => {
  expect(faultOf(() => readAs(more))).toBe(fault);
});

test.each<[RequestFault, object]>([
  ['other_chain', { token: { chainId: 8453, address: USDC } }],
  ['other_chain', { token: undefined }],
  ['bad_token', { token: { chainId: 84532, address: PAYEE } }],
  // Real USDC, of another chain.
  ['bad_token', { token: { chainId: 84532, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' } }],
  ['bad_token', { token: { chainId: '84532', address: 'native' } }],
  ['bad_form', { text: 'Pay 1.25 USDC' }],
  ['bad_form', { form: 'permit' }],
  ['bad_form', { form: ['transfer-authorization'] }],
  ['bad_form', { form: '__proto__' }],
  ['bad_form', { text: null }],
  ['other_chain', { token: { chainId: '0x14a34', address: USDC } }],
  ['other_chain', { token: { chainId: ['84532'], address: USDC } }],
  // All of it beside the request's own members.
  ['other_chain', JSON.parse('{"token":{"__proto__":{"chainId":84532}}}')],
  ['bad_form', { form: undefined }],
  ['bad_id', { id: undefined }],
])('%s: %j beside it is refused', (fault, more) => {
  expect(faultOf(() => read(more))).toBe(fault);
});

test('on a chain whose USDC is not known, no token is', () => {
  const token = { chainId: 31337, address: USDC };
  expect(faultOf(() => read({ token }, 31337))).toBe('bad_token');
});

test('it may count for an hour, from now on, and name who pays', () => {
  const { transfer } = readAs({ validAfter: String(NOW), validBefore: String(NOW + 3_600), from: PAYER });
  expect(transfer).toMatchObject({ from: PAYER.toLowerCase(), validBefore: NOW + 3_600 });
});
