import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { accountCallData, openAccount, type SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { chainVars } from '../support/chain-vars.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { CHEAP_GAS, errorOf, startUpstream, type Upstream, willing } from '../support/upstream.ts';
import { startVault, type TestVault } from '../support/vault.ts';
import { RPC_CLIENTS, type RpcClient } from '../tools/rpc-clients.ts';

let chain: Chain;
let node: Forwarder;
let contracts: Deployment;
let alice: SmartAccount;
let upstream: Upstream;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  node = startForwarder(chain.url);
  alice = await openAccount(chain.rpc, contracts, createPasskey());
  upstream = startUpstream();
});
afterAll(async () => {
  await Promise.all([upstream.stop(), node.stop()]);
  await chain.stop();
});

let t: TestVault;
const start = (vars: Readonly<Record<string, string>> = {}) =>
  startVault({
    ...chainVars(node.url, contracts),
    BUNDLER_URL: upstream.url,
    SPONSOR_DAILY_MAX: '1',
    RATE_LIMIT_PROXY_PER_IP: '100000',
    ...vars,
  });
beforeEach(async () => {
  node.trouble = undefined;
  upstream.received.length = 0;
  upstream.answer = willing;
  t = await start();
});
afterEach(() => t.stop());

/** The user operation that creates an account, at this nonce. */
const draft = (nonce = '0x0') => ({
  sender: alice.address,
  nonce,
  callData: accountCallData([{ target: alice.address }]),
  factory: alice.factory,
  factoryData: alice.factoryData,
  ...CHEAP_GAS,
});
const sponsor = (operation: object) =>
  ['pm_getPaymasterData', [operation, contracts.entryPoint, '0x14a34', {}]] as const;
const elsewhere = () => ({ ...draft(), sender: contracts.didRegistry });

/** How often the client asked. */
const requests = (to = t) => to.entries.filter(({ event }) => event === 'request').length;

/** Asks once, and expects that the client did too. */
async function read(client: RpcClient, [method, params]: readonly [string, readonly unknown[]], to = t) {
  const before = requests(to);
  const answer = await client.call(`${to.url}/api/bundler`, method, params);
  expect(requests(to) - before).toBe(1);
  return answer;
}

describe.each(RPC_CLIENTS.map((client) => [client.name, client] as const))('%s reads', (_, client) => {
  test('a result', async () => {
    expect(await read(client, ['eth_chainId', []])).toEqual({ result: 'eth_chainId' });
  });

  test('a sponsorship that is refused', async () => {
    const reason = 'the sender is not an account of the configured factory';
    expect(await read(client, sponsor(elsewhere()))).toEqual({
      code: -32501,
      message: 'sponsorship_refused',
      data: { kind: 'paymaster_rejected', reason },
    });
  });

  test('the limit of sponsorships, without waiting for the day to end', async () => {
    expect(await read(client, sponsor(draft('0x0')))).toEqual({ result: 'pm_getPaymasterData' });
    expect(await read(client, sponsor(draft('0x1')))).toEqual({
      code: -32504,
      message: 'sponsor_limit_reached',
      data: { kind: 'throttled', limit: 'sponsorships-per-day', retry_after: 87_000 },
    });
  });

  test('parameters that are refused', async () => {
    expect(await read(client, ['eth_getUserOperationByHash', ['0x']])).toEqual({
      code: -32602,
      message: 'Invalid params: expected the 32-byte hash of a user operation',
      data: { kind: 'invalid_params' },
    });
  });

  test("the bundler's own refusal", async () => {
    upstream.answer = (received) => errorOf(received, { code: -32500, message: 'AA25 invalid account nonce' });
    expect(await read(client, ['eth_getUserOperationByHash', [`0x${'ab'.repeat(32)}`]])).toEqual({
      code: -32500,
      message: 'AA25 invalid account nonce',
      data: { kind: 'entrypoint_rejected', aa: 'AA25' },
    });
  });

  test.each([
    ['bundler_error', () => new Response('', { status: 503, headers: { 'retry-after': '86400' } })],
    ['bundler_timeout', () => t.clock.advance(10_000).then(() => new Response(null, { status: 500 }))],
  ])('an upstream failure: %s', async (message, answer) => {
    upstream.answer = answer;
    expect(await read(client, ['eth_supportedEntryPoints', []])).toEqual(failed(message, 'unanswered'));
  });

  test('a node that cannot be read', async () => {
    node.trouble = () => new Response('', { status: 503 });
    // Of an account that is there, the code is read.
    const { factory, factoryData, ...deployed } = draft();
    expect(await read(client, sponsor(deployed))).toEqual(failed('rpc_error', 'unavailable'));
  });

  test('a vault without a bundler', async () => {
    const without = await startVault({ BUNDLER_URL: '' });
    expect(await read(client, ['eth_chainId', []], without)).toEqual(failed('bundler_not_configured', 'unavailable'));
    await without.stop();
  });

  test('each item of a batch', async () => {
    const before = requests();
    const calls = [['eth_chainId', []], sponsor(elsewhere()), ['eth_gasPrice', []], ['eth_chainId', [1]]] as const;
    const [first, ...others] = await client.batch(`${t.url}/api/bundler`, calls);
    expect(first).toEqual({ result: 'eth_chainId' });
    expect(others.map((other) => 'code' in other && [other.code, other.message, typeof other.data])).toEqual([
      [-32501, 'sponsorship_refused', 'object'],
      [-32601, 'method_not_allowed', 'object'],
      [-32602, 'Invalid params: expected none', 'object'],
    ]);
    expect(requests() - before).toBe(1);
  });

  test('a method off the list, whose status is 403', async () => {
    const answer = await client.call(`${t.url}/api/bundler`, 'eth_gasPrice', []);
    const error = { code: -32601, message: 'method_not_allowed', data: { method: 'eth_gasPrice' } };
    if (client.readsBodies) {
      expect(answer).toEqual(error);
      expect(requests()).toBe(1);
      return;
    }
    // Clients that read no body of a refused request still show it, and viem asks four times within a second or so.
    if (!('status' in answer)) throw new Error('it read the body');
    expect(answer.status).toBe(403);
    const { error: shown = undefined, ...rest } = JSON.parse(answer.body);
    expect(shown ?? rest).toEqual(error);
  });
});

const failed = (message: string, kind: string) => ({ code: -32002, message, data: { kind } });
