import { describe, expect, test } from 'bun:test';
import { keccak_256 } from '@noble/hashes/sha3.js';
import {
  BEFORE_EXECUTION,
  findOperation,
  hasTransfer,
  operationsIn,
  type ReceiptLog,
  TRANSFER_EVENT,
  USER_OPERATION_EVENT,
} from '../../client/operations.ts';

const [V07, V08] = ['0x0000000071727De22E5E9d8BAf0edAc6f37da032', '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108'];
const [ANN, BEN, SHOP, USDC] = ['a1', 'b2', 'c3', 'd4'].map((byte) => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string,
  string,
];

const word = (value: bigint | string) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0');
const hashOf = (name: string) => `0x${Buffer.from(keccak_256(new TextEncoder().encode(name))).toString('hex')}`;

/** What an EntryPoint emits after an operation. */
function event(name: string, sender: string, nonce: bigint, more: { by?: string; success?: boolean } = {}): ReceiptLog {
  const { by = V07, success = true } = more;
  const topics = [USER_OPERATION_EVENT, hashOf(name), `0x${word(sender)}`, `0x${word(0n)}`];
  return { address: by, topics, data: `0x${word(nonce)}${word(success ? 1n : 0n)}${word(7n)}${word(8n)}` };
}
const before = (by = V07): ReceiptLog => ({ address: by, topics: [BEFORE_EXECUTION], data: '0x' });
const transfer = (from: string, amount: bigint, token = USDC): ReceiptLog => ({
  address: token,
  topics: [TRANSFER_EVENT, `0x${word(from)}`, `0x${word(SHOP)}`],
  data: `0x${word(amount)}`,
});

const read = (...logs: readonly ReceiptLog[]) => operationsIn(logs, [V07, V08]);

test('the topics are the hashes of the signatures', () => {
  expect<string>(USER_OPERATION_EVENT).toBe(
    hashOf('UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)'),
  );
  expect<string>(BEFORE_EXECUTION).toBe(hashOf('BeforeExecution()'));
  expect<string>(TRANSFER_EVENT).toBe(hashOf('Transfer(address,address,uint256)'));
});

describe('the operations of a transaction', () => {
  test('one: its hash, sender, nonce of 256 bits and success', () => {
    const [operation, ...more] = read(before(), transfer(ANN, 5n), event('one', ANN, 2n ** 256n - 1n));
    expect(more).toEqual([]);
    expect(operation).toMatchObject({ entryPoint: V07.toLowerCase(), userOpHash: hashOf('one'), sender: ANN });
    expect(operation).toMatchObject({ nonce: 2n ** 256n - 1n, success: true, logs: [transfer(ANN, 5n)] });
  });

  test('whose call reverted', () => {
    expect(read(before(), event('one', ANN, 1n, { success: false }))[0]?.success).toBe(false);
  });

  test('several of one bundle have their own logs each', () => {
    const logs = [before(), transfer(ANN, 1n), event('one', ANN, 1n), transfer(BEN, 2n), event('two', BEN, 2n)];
    expect(read(...logs, event('three', ANN, 3n)).map((operation) => operation.logs)).toEqual([
      [transfer(ANN, 1n)],
      [transfer(BEN, 2n)],
      [],
    ]);
  });

  test('what was logged while the bundle was validated is of no operation', () => {
    expect(read(transfer(ANN, 1n), before(), event('one', ANN, 1n))[0]?.logs).toEqual([]);
  });

  test('what was logged between two bundles of one transaction is of no operation', () => {
    const logs = [
      before(),
      event('one', ANN, 1n),
      transfer(ANN, 9n),
      before(),
      transfer(ANN, 2n),
      event('two', ANN, 2n),
    ];
    expect(read(...logs, transfer(ANN, 8n)).map((operation) => operation.logs)).toEqual([[], [transfer(ANN, 2n)]]);
  });

  test('without BeforeExecution the first has no logs of its own', () => {
    expect(read(transfer(ANN, 1n), event('one', ANN, 1n))[0]?.logs).toEqual([]);
  });

  test('an event by another contract is no operation, and its BeforeExecution no border', () => {
    expect(read(before(BEN), transfer(ANN, 1n), event('one', ANN, 1n, { by: BEN }))).toEqual([]);
    const logs = [
      before(),
      transfer(ANN, 1n),
      before(BEN),
      event('forged', ANN, 1n, { by: BEN }),
      event('one', ANN, 1n),
    ];
    const [operation, ...more] = read(...logs);
    expect(more).toEqual([]);
    expect(operation?.logs.filter(({ address }) => address === USDC)).toEqual([transfer(ANN, 1n)]);
  });

  test('a transfer in an operation that another one carried is not of both', () => {
    const inner = [before(), transfer(ANN, 5n), event('inner', ANN, 1n)];
    const logs = [before(V08), transfer(ANN, 4n), ...inner, transfer(ANN, 6n), event('outer', ANN, 2n, { by: V08 })];
    const [first, second] = read(...logs);
    expect(first).toMatchObject({ userOpHash: hashOf('inner'), logs: [transfer(ANN, 5n)] });
    const own = second?.logs.filter(({ address }) => address === USDC);
    expect(own).toEqual([transfer(ANN, 4n), transfer(ANN, 6n)]);
  });

  test('an event of another form is none', () => {
    const good = event('one', ANN, 1n);
    const [topic = '', ...others] = good.topics;
    const forms = [
      { ...good, data: good.data.slice(0, -2) },
      { ...good, data: `${good.data}00` },
      { ...good, topics: [topic] },
      { ...good, topics: [...good.topics, topic] },
      { ...good, topics: [hashOf('Other()'), ...others] },
      { ...good, topics: [] },
    ];
    for (const form of forms) expect(read(before(), form)).toEqual([]);
  });

  test('hex of either case is the same', () => {
    const upper = ({ address, topics, data }: ReceiptLog): ReceiptLog => ({
      address: `0x${address.slice(2).toUpperCase()}`,
      topics: topics.map((topic) => `0x${topic.slice(2).toUpperCase()}`),
      data: `0x${data.slice(2).toUpperCase()}`,
    });
    const found = read(...[before(), transfer(ANN, 10n), event('one', ANN, 0xabn)].map(upper));
    expect(findOperation(found, { userOpHash: hashOf('one').toUpperCase().replace('0X', '0x') })?.nonce).toBe(0xabn);
    expect(hasTransfer(found[0]?.logs ?? [], { token: USDC, from: ANN, to: SHOP, amount: 10n })).toBe(true);
  });
});

describe('one operation is found', () => {
  const found = read(before(), event('one', ANN, 1n), event('two', ANN, 2n), event('three', BEN, 1n));

  test('by its hash', () => {
    expect(findOperation(found, { userOpHash: hashOf('two') })?.nonce).toBe(2n);
    expect(findOperation(found, { userOpHash: hashOf('four') })).toBeUndefined();
  });

  test('by its sender and nonce', () => {
    expect(findOperation(found, { sender: BEN, nonce: 1n })?.userOpHash).toBe(hashOf('three'));
    expect(findOperation(found, { sender: BEN, nonce: 2n })).toBeUndefined();
  });
});

describe('a transfer is', () => {
  const wanted = { token: USDC, from: ANN, to: SHOP, amount: 5n };

  test('that of the token, from the account, to the payee, of the amount', () => {
    expect(hasTransfer([transfer(BEN, 5n), transfer(ANN, 5n)], wanted)).toBe(true);
  });

  test.each<[string, ReceiptLog]>([
    ['by another token', transfer(ANN, 5n, BEN)],
    ['from another account', transfer(BEN, 5n)],
    ['of less', transfer(ANN, 4n)],
    ['of more', transfer(ANN, 6n)],
    ['to another', { ...transfer(ANN, 5n), topics: [TRANSFER_EVENT, `0x${word(ANN)}`, `0x${word(BEN)}`] }],
    ["of one thing (ERC-721's has four topics)", { ...transfer(ANN, 5n), topics: [...transfer(ANN, 5n).topics, '0x'] }],
    ['of another event', { ...transfer(ANN, 5n), topics: [hashOf('A()'), ...transfer(ANN, 5n).topics.slice(1)] }],
    ['without an amount', { ...transfer(ANN, 5n), data: '0x' }],
  ])('not one %s', (_, log) => {
    expect(hasTransfer([log], wanted)).toBe(false);
  });
});
