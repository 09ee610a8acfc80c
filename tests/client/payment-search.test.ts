import { expect, test } from 'bun:test';
import { AUTHORIZATION_USED, hasTransfer, type ReceiptLog, TRANSFER_EVENT, wordOf } from '../../client/operations.ts';
import { readClaim } from '../../client/payment-order.ts';
import { soughtAuthorization } from '../../client/payment-search.ts';

const [PAYER, SHOP, USDC, PROXY] = ['a1', 'b2', 'd4', 'e5'].map((byte) => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string,
  string,
];
const NONCE = `0x${'c3'.repeat(32)}`;
const PAYMENT = { token: USDC, from: PAYER, to: SHOP, amount: 5n };
const used: ReceiptLog = { address: USDC, topics: [AUTHORIZATION_USED, wordOf(PAYER), NONCE], data: '0x' };
const moved: ReceiptLog = {
  address: USDC,
  topics: [TRANSFER_EVENT, wordOf(PAYER), wordOf(SHOP)],
  data: `0x${'5'.padStart(64, '0')}`,
};
const upper = ({ address, topics, data }: ReceiptLog): ReceiptLog => ({
  address: `0x${address.slice(2).toUpperCase()}`,
  topics: topics.map((topic) => `0x${topic.slice(2).toUpperCase()}`),
  data,
});
const isPaid = (logs: readonly ReceiptLog[], account = PAYER) => {
  const claim = readClaim({ by: 'authorization', account });
  if (claim?.by !== 'authorization') return false;
  const { settled } = soughtAuthorization(claim, NONCE, USDC).read(logs);
  return settled !== undefined && hasTransfer(settled.logs, PAYMENT);
};

test('an authorization is found whatever the case of its logs and of the account in the receipt', () => {
  expect(isPaid([used, moved])).toBe(true);
  expect(isPaid([used, moved].map(upper), `0x${PAYER.slice(2).toUpperCase()}`)).toBe(true);
});

test.each<[string, readonly ReceiptLog[]]>([
  ['the transfer before it', [moved, used]],
  ['the transfer of another contract behind it', [used, { ...moved, address: PROXY }]],
  ['a log of another contract between', [used, { ...used, address: PROXY }, moved]],
  ['another authorization between', [used, { ...used, topics: used.topics.with(2, `0x${'c4'.repeat(32)}`) }, moved]],
  ['one more topic', [{ ...used, topics: [...used.topics, NONCE] }, moved]],
  ['one topic that spells out two', [{ ...used, topics: [AUTHORIZATION_USED, `${wordOf(PAYER)}${NONCE}`] }, moved]],
  ['one topic less', [{ ...used, topics: used.topics.slice(0, 2) }, moved]],
  ['the log of another contract', [{ ...used, address: PROXY }, moved]],
  ['a thing in place of an amount', [used, { ...moved, topics: [...moved.topics, NONCE] }]],
  ['an amount with more behind it', [used, { ...moved, data: `${moved.data}${'0'.repeat(64)}` }]],
  ['no amount', [used, { ...moved, data: '0x' }]],
  ['nothing behind it', [used]],
])('an authorization pays nothing with %s', (_, logs) => {
  expect(isPaid(logs)).toBe(false);
});

test.each<[string, object]>([
  ['a list', [PAYER]],
  ['no account', { by: 'authorization' }],
  ['an account in a list', { by: 'authorization', account: [PAYER] }],
  ['an operation’s hash in its place', { by: 'authorization', userOpHash: NONCE }],
  ['another word', { by: 'Authorization', account: PAYER }],
  ['a word in a list', { by: ['authorization'], account: PAYER }],
  ['a transaction that is no hash', { by: 'authorization', account: PAYER, txHash: `${NONCE}\n` }],
])('a receipt that is or has %s is none', (_, receipt) => {
  expect(readClaim(receipt)).toBeUndefined();
});
