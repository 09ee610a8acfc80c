import { describe, expect, test } from 'bun:test';
import { AbiEvent, AbiParameters } from 'ox';
import { accountFactoryAbi, didRegistry2Abi } from '../../../contracts/abi.ts';
import { VaultError } from '../../../lib/base/error.ts';
import { UpstreamError } from '../../../lib/base/http-client.ts';
import { TOPICS } from '../../../lib/chain/followed-contracts.ts';
import { RpcError } from '../../../lib/chain/json-rpc.ts';
import { isRangeRefused } from '../../../lib/chain/log-range.ts';
import { createContext } from '../../../lib/context.ts';
import { readEvents } from '../../../lib/indexer/logs.ts';
import { failureOf } from '../../support/secrecy.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const REGISTRY = '0xd38972FFeA26B66F09E2109E650887aCD447E7B7';
const FACTORY = '0xb797f4799d8aa218e9207f918fdea3afc76b1e18';
const unused = { execute: () => Promise.reject(), batch: () => Promise.reject() };
const { config } = createContext({ vars: { VAULT_SECRET }, database: unused });
const word = (digit: string) => `0x${digit.repeat(64)}`;

const log = (more: object = {}) => ({
  address: REGISTRY,
  topics: [TOPICS.DIDRegistered, word('A'), `0x${'0'.repeat(24)}${'C'.repeat(40)}`],
  data: AbiParameters.encode([{ type: 'string' }], ['ipfs://bafy']),
  blockNumber: '0x7',
  blockHash: word('B'),
  transactionHash: word('D'),
  logIndex: '0x2',
  ...more,
});

/** What is read of a node's answer. */
function read(answer: unknown, [from, to] = [5, 9]) {
  const asked: unknown[] = [];
  const call = async (...question: unknown[]) => {
    asked.push(question);
    return answer;
  };
  return { asked, events: readEvents({ config, rpc: { call } }, from as number, to as number) };
}

test('topics are those of the contracts', () => {
  const events = [...didRegistry2Abi, ...accountFactoryAbi].filter((item) => item.type === 'event');
  const topics = Object.keys(TOPICS).map((name) => {
    const event = events.find((one) => one.name === name);
    return [name, event && AbiEvent.getSelector(event)];
  });
  expect(Object.fromEntries(topics)).toEqual(TOPICS);
});

describe('events', () => {
  test('are asked for by both contracts and all topics, both ends of the range included', async () => {
    const { asked, events } = read([]);
    expect(await events).toEqual([]);
    const filter = {
      address: [REGISTRY.toLowerCase(), FACTORY],
      topics: [Object.values(TOPICS)],
      fromBlock: '0x5',
      toBlock: '0x9',
    };
    expect(asked).toEqual([[84532, 'eth_getLogs', [filter]]]);
  });

  test('are read with hashes and addresses in lower case', async () => {
    expect(await read([log()]).events).toEqual([
      {
        kind: 'DIDRegistered',
        subject: word('a'),
        object: `0x${'c'.repeat(40)}`,
        metadataCid: 'ipfs://bafy',
        block: 7,
        blockHash: word('b'),
        txHash: word('d'),
        logIndex: 2,
      },
    ]);
  });

  test.each([
    ['text of several bytes a character', AbiParameters.encode([{ type: 'string' }], ['schlüssel 🔑']), 'schlüssel 🔑'],
    ['a NUL, which no column keeps', AbiParameters.encode([{ type: 'string' }], ['a\0b']), 'a\ufffdb'],
    ['bytes that are no UTF-8', AbiParameters.encode([{ type: 'bytes' }], ['0x61ff62']), 'a\ufffdb'],
    ['nothing', '0x', ''],
    ['an offset without end', word('f'), ''],
    ['a length without end', `0x${'20'.padStart(64, '0')}${'f'.repeat(64)}`, ''],
    ['a length past the end', `0x${'20'.padStart(64, '0')}${'1'.padStart(64, '0')}`, ''],
  ])('have metadata of %s', async (_, data, text) => {
    expect((await read([log({ data })]).events)[0]?.metadataCid).toBe(text);
  });

  test('are believed of their own contract only', async () => {
    const created = { topics: [TOPICS.AccountCreated, word('1'), word('2')] };
    const logs = [
      log({ address: FACTORY }),
      log(created),
      log({ ...created, address: FACTORY.toUpperCase().replace('X', 'x') }),
    ];
    expect((await read(logs).events).map(({ kind }) => kind)).toEqual(['AccountCreated']);
  });

  test.each([
    ['no list', { logs: [] }],
    ['nothing', null],
    ['a log of nothing', [null]],
    ['a log without a place', [{}]],
    ['a log of a pending block', [log({ blockNumber: null, blockHash: null })]],
    ['a log of a block before the range', [log({ blockNumber: '0x4' })]],
    ['a log of a block after the range', [log({ blockNumber: '0xa' })]],
    ['a log that was not asked for', [log({ topics: [word('e')] })]],
    ['a log with a wrong number', [log({ logIndex: 'x' })]],
  ])('in an answer that is %s are 502 rpc_error', async (_, answer) => {
    expect((await failureOf(read(answer).events)).code).toBe('rpc_error');
  });
});

describe('a refusal', () => {
  const failure = (cause: Error) => new VaultError('rpc_error', { cause });

  test.each([-32005, -32000, -32600, -32602, -32614, -32701, 35])('with code %i may be about the range', (code) => {
    expect(isRangeRefused(failure(new RpcError(code, '')))).toBe(true);
  });

  test.each([429, -32016, -32007, -32029, -32601])('with code %i is not', (code) => {
    expect(isRangeRefused(failure(new RpcError(code, '')))).toBe(false);
  });

  test('by an answer too late, too long or unreadable may be; by none at all, or another failure, is not', () => {
    const about = (cause: Error) => isRangeRefused(failure(cause));
    for (const fault of ['timeout', 'oversize', 'refused', 'malformed'] as const)
      expect(about(new UpstreamError(fault))).toBe(true);
    for (const fault of ['unreachable', 'redirect'] as const) expect(about(new UpstreamError(fault))).toBe(false);
    expect([about(new Error('no')), isRangeRefused(new UpstreamError('timeout'))]).toEqual([false, false]);
  });
});
