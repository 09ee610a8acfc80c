import { describe, expect, test } from 'bun:test';
import { Address, Hash } from 'ox';
import { type Asked, nameOf, type Payment, RequestError, readPayment, termsOf } from '../../../assets/pay/request.ts';
import type { Asker } from '../../../assets/wallet/asker.ts';
import { printable } from '../../../assets/wallet/printable.ts';
import { checksum } from '../../../client/checksum.ts';

const NOW = Date.UTC(2025, 0, 1);
const keccak256 = (bytes: Uint8Array) => Hash.keccak256(bytes, { as: 'Bytes' });
const judge = { chainId: 84532, now: NOW, keccak256 };
const TO = Address.checksum('0x00000000000000000000000000000000000a11ce');
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const DATA = { to: TO, amount: '1000', token: 'native', chainId: 84532 };
const SHOP: Asker = { via: 'browser', origin: 'https://shop.example', frame: undefined };

const asked = (data: unknown, more: Partial<Asked> = {}): Asked => ({
  asker: SHOP,
  id: 'order-1',
  data: [data],
  total: undefined,
  expiresAt: NOW + 600_000,
  ...more,
});
const read = (data: object = {}, more: Partial<Asked> = {}): Payment =>
  readPayment(asked({ ...DATA, ...data }, more), judge);
const faultOf = (given: Asked): string => {
  try {
    readPayment(given, judge);
  } catch (error) {
    return error instanceof RequestError ? error.fault : String(error);
  }
  return 'none';
};

const PAYER = {
  credentialId: 'w1-z--JHlHTZHPIZsKl6gQ',
  account: TO,
  pubKeyX: `0x${'aB'.repeat(32)}`,
  pubKeyY: `0x${'01'.repeat(32)}`,
};

test('a payer is a hint: with its key, without, or none where it has faults', () => {
  const { credentialId, account, pubKeyX, pubKeyY } = PAYER;
  const named = { credentialId, account: account.toLowerCase() as `0x${string}` };
  const key = { x: pubKeyX as `0x${string}`, y: pubKeyY as `0x${string}` };
  expect(read({ payer: PAYER }).payer).toEqual({ ...named, key });
  expect(read({ payer: { credentialId, account } }).payer).toEqual({ ...named, key: undefined });
  for (const half of [
    { ...PAYER, pubKeyY: '0x01' },
    { ...PAYER, pubKeyX: 7 },
    { ...PAYER, pubKeyX: undefined },
  ])
    expect(read({ payer: half }).payer?.key).toBeUndefined();
  const others = [null, 7, 'alice', [], {}, { ...PAYER, account: '0x1' }, { ...PAYER, credentialId: 'a b' }];
  const long = { ...PAYER, credentialId: 'A'.repeat(1365) };
  for (const payer of [...others, long]) expect(read({ payer }).payer).toBeUndefined();
});

test('a request as shops send it', () => {
  expect(read({ token: USDC, label: 'Two teas', unknown: 1 })).toEqual({
    asker: SHOP,
    id: 'order-1',
    to: TO.toLowerCase() as `0x${string}`,
    amount: 1000n,
    token: USDC.toLowerCase() as `0x${string}`,
    chainId: 84532,
    label: 'Two teas',
    total: undefined,
    payer: undefined,
    expiresAt: NOW + 240_000,
  });
});

describe('what is refused', () => {
  test.each<[string, unknown, string]>([
    ['no data', undefined, 'no_data'],
    ['data that is a list', [DATA], 'no_data'],
    ['no amount', { ...DATA, amount: undefined }, 'bad_amount'],
    ['an amount that is a number, whose last digits would be lost', { ...DATA, amount: 1000 }, 'bad_amount'],
    ['an amount with a point', { ...DATA, amount: '1.5' }, 'bad_amount'],
    ['an amount in hex', { ...DATA, amount: '0x10' }, 'bad_amount'],
    ['an amount of zero', { ...DATA, amount: '0' }, 'bad_amount'],
    ['a negative amount', { ...DATA, amount: '-1' }, 'bad_amount'],
    ['an amount with an exponent', { ...DATA, amount: '1e18' }, 'bad_amount'],
    ['an amount with leading zeros', { ...DATA, amount: '01' }, 'bad_amount'],
    ['an amount over 256 bits', { ...DATA, amount: String(2n ** 256n) }, 'bad_amount'],
    ['an amount in other digits', { ...DATA, amount: '١٠' }, 'bad_amount'],
    ['nobody to pay', { ...DATA, to: undefined }, 'bad_to'],
    ['an address of 19 bytes', { ...DATA, to: TO.slice(0, -2) }, 'bad_to'],
    ['an address in an object', { ...DATA, to: { toString: () => TO } }, 'bad_to'],
    ['the zero address', { ...DATA, to: `0x${'0'.repeat(40)}` }, 'bad_to'],
    ["a token's own contract", { ...DATA, token: USDC, to: USDC }, 'bad_to'],
    ['a checksum that is wrong', { ...DATA, to: TO.replace('A11cE', 'a11cE') }, 'bad_checksum'],
    ['a token that is a name', { ...DATA, token: 'USDC' }, 'bad_token'],
    ['no token', { ...DATA, token: undefined }, 'bad_token'],
    ["a token's checksum that is wrong", { ...DATA, token: USDC.replace('6C', '6c') }, 'bad_checksum'],
    ['another chain', { ...DATA, chainId: 1 }, 'other_chain'],
    ['another chain as text', { ...DATA, chainId: '8453' }, 'other_chain'],
    ['no chain', { ...DATA, chainId: undefined }, 'bad_chain'],
    ['a chain in hex', { ...DATA, chainId: '0x14a34' }, 'bad_chain'],
    ['a label that is no text', { ...DATA, label: 5 }, 'bad_label'],
    ['an end that is no time', { ...DATA, expires: 'soon' }, 'bad_expiry'],
  ])('%s', (_, data, fault) => {
    expect(faultOf(asked(data))).toBe(fault);
  });

  test('two entries that differ: one could be shown and the other paid', () => {
    const two = (second: object): Asked => ({ ...asked(DATA), data: [DATA, second] });
    expect(faultOf(two({ ...DATA, amount: '9' }))).toBe('several_data');
    expect(faultOf(two({ ...DATA }))).toBe('none');
  });

  test.each([undefined, '', 5, 'x'.repeat(257)])('the id %p', (id) => {
    expect(faultOf(asked(DATA, { id }))).toBe('no_id');
  });
});

test('a request lives four minutes at most, and as long as the shop says', () => {
  expect(read().expiresAt).toBe(NOW + 240_000);
  expect(read({ expires: new Date(NOW + 5_000).toISOString() }).expiresAt).toBe(NOW + 5_000);
  expect(read({}, { expiresAt: NOW + 1 }).expiresAt).toBe(NOW + 1);
});

test('a request that is over is read all the same: it may have been signed before', () => {
  expect(read({ expires: new Date(NOW - 1).toISOString() }).expiresAt).toBe(NOW - 1);
});

test("addresses in one case need no checksum; checksums are EIP-55's", () => {
  for (const address of [TO, USDC]) {
    expect(checksum(address.slice(2).toLowerCase(), keccak256)).toBe(address as `0x${string}`);
    expect(read({ to: address.toLowerCase() }).to).toBe(address.toLowerCase() as `0x${string}`);
    expect(read({ to: `0x${address.slice(2).toUpperCase()}` }).to).toBe(address.toLowerCase() as `0x${string}`);
  }
});

test('text of a stranger cannot turn, hide or break what stands beside it', () => {
  expect(printable('a\u202egnp.exe\u200b\u0000\n\u2028b\ud800')).toBe('agnp.exe b\ufffd');
  expect(read({ label: `tea \u202e${'x'.repeat(200)}` }).label).toHaveLength(80);
});

test.each([0x20, 0x09, 0x85, 0xa0, 0x1680, 0x2003, 0x2800, 0x3000, 0x3164, 0xffa0, 0x115f, 0x180e, 0x2060, 0xfeff])(
  'no number of blanks U+%i makes a second line of a label, or a label out of nothing',
  (code) => {
    const blank = String.fromCodePoint(code);
    const label = read({ label: `Two${blank.repeat(60)} teas ${blank} ${blank}` }).label;
    expect(label).toBe('Two teas');
    expect(read({ label: blank.repeat(80) }).label).toBeUndefined();
    const total = { label: `Total${blank.repeat(40)}${blank} To`, amount: { currency: 'USD', value: '1' } };
    expect(read({}, { total }).total?.label).toBe('Total To');
  },
);

test('accents pile up no higher than two, so that they cover no other line', () => {
  expect(printable(`t${'\u0301'.repeat(60)}ea`)).toBe('t\u0301\u0301ea');
});

test("what only a popup's opener can send is judged by its members, too", () => {
  const cyclic: Record<string, unknown> = { ...DATA, big: 5n };
  cyclic['self'] = cyclic;
  expect(faultOf(asked(cyclic))).toBe('none');
  expect(faultOf(asked({ ...DATA, amount: 5n }))).toBe('bad_amount');
  expect(faultOf(asked(new Map(Object.entries(DATA))))).toBe('bad_chain');
});

describe('a total', () => {
  const totalOf = (amount: object) => read({}, { total: { label: 'Tea', amount } }).total;

  test('is taken as browsers let it through', () => {
    expect(totalOf({ currency: 'USD', value: '1.25' })).toEqual({ label: 'Tea', currency: 'USD', value: '1.25' });
  });

  test.each([
    [{ currency: 'USD, which is 0.01 USDC', value: '50' }],
    [{ currency: '\u05d0\u05d1', value: '50' }],
    [{ currency: 'USD', value: '50 or less' }],
    [{ currency: 'USD', value: '1e3' }],
    [{ currency: 'USD', value: 50 }],
  ])('that could write into a sentence of the page is left out: %p', (amount) => {
    expect(totalOf(amount)).toBeUndefined();
  });
});

describe('the name of a payment', () => {
  const name = (asker: Partial<Asker>, id = 'order-1') => nameOf(read({}, { asker: { ...SHOP, ...asker }, id }));

  test('is the same by the worker, a popup and a link: it is paid once by any of them', () => {
    expect(new Set([name({ via: 'browser' }), name({ via: 'opener' }), name({ via: 'link' })]).size).toBe(1);
  });

  test('is not the same for another shop, another frame, or another id', () => {
    const others = [
      name({ origin: 'https://other.example' }),
      name({ frame: 'https://frame.example' }),
      name({}, 'order-2'),
    ];
    expect(new Set([name({}), ...others]).size).toBe(4);
  });

  test('says nothing of amount and payee: those are its terms', () => {
    expect(nameOf(read({ amount: '7' }))).toBe(name({}));
    expect(termsOf(read({ amount: '7' }))).not.toBe(termsOf(read()));
    expect(termsOf(read({ to: USDC.toLowerCase() }))).not.toBe(termsOf(read()));
  });
});
