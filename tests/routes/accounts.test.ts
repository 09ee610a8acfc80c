import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { AbiFunction, Address, Hex } from 'ox';
import { account2Abi } from '../../contracts/abi.ts';
import { didHash } from '../../lib/identity/did.ts';
import type { P256PublicKey } from '../../lib/identity/passkey.ts';
import type { Chain } from '../../scripts/dev-stack/chain.ts';
import type { Deployment } from '../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { accountCallData, openAccount, type SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction, waitForReceipt } from '../../scripts/dev-stack/wallet.ts';
import { type Liar, startLiar } from '../support/liar.ts';
import { registerData } from '../support/onchain.ts';
import { addKey, addressKey, callAs, createSecond, pointOf, secondAddress } from '../support/second-account.ts';
import { OUTAGES, startTwoChains, type TwoChains } from '../support/two-chains.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const SOMEBODY = '0x5b5b5B5b5b5B5b5B5b5B5b5b5B5b5b5b5B5b5b5B';
const ZERO = `0x${'0'.repeat(64)}`;
/** What only accounts of the second kind have. */
const NONE = { keys: null, guardian: null, recovery: null };

/** Two chains, each behind a forwarder that a test lets fail. */
let chains: TwoChains;
let sepolia: Chain;
let contracts: Deployment;
let nodes: TwoChains['nodes'];
let t: TestVault;

beforeAll(async () => {
  chains = await startTwoChains();
  ({ sepolia, contracts, nodes } = chains);
});
afterAll(() => chains.stop());

beforeEach(async () => {
  nodes.sepolia.trouble = undefined;
  nodes.base.trouble = undefined;
  t = await startVault(chains.settings());
});
afterEach(() => t.stop());

describe('GET /api/accounts/predict', () => {
  const predict = (query: Readonly<Record<string, string>>) => t.call('GET /api/accounts/predict', query);
  const key = { pubKeyX: `0x${'1a'.repeat(32)}`, pubKeyY: `0x${'2b'.repeat(32)}` };

  /** What the factory itself says. */
  const getAddress = async (x: bigint, y: bigint, salt = 0n) => {
    const data = `0xe81b22ea${[x, y, salt].map((word) => word.toString(16).padStart(64, '0')).join('')}`;
    const word = (await sepolia.rpc('eth_call', [{ to: contracts.accountFactory, data }, 'latest'])) as Hex.Hex;
    return Address.checksum(Hex.slice(word, 12));
  };

  test('the counterfactual address of the key, checksummed, and nothing is deployed', async () => {
    const reply = await predict(key);
    expect([reply.status, Object.keys(reply.body)]).toEqual([200, ['address']]);
    expect(reply.body.address).toBe(await getAddress(BigInt(key.pubKeyX), BigInt(key.pubKeyY)));
    expect(Address.validate(reply.body.address, { strict: true })).toBe(true);
    expect(await sepolia.rpc('eth_getCode', [reply.body.address, 'latest'])).toBe('0x');
  });

  test('§4 accounts/predict pubKeyX', async () => {
    const address = await getAddress(0xabcn, 5n);
    for (const pubKeyX of [
      '0xabc',
      'abc',
      'ABC',
      '0xABC',
      '0x0abc',
      `0x${'0'.repeat(61)}abc`,
      `${'0'.repeat(100)}abc`,
    ]) {
      expect((await predict({ pubKeyX, pubKeyY: '5' })).body).toEqual({ address });
    }
  });

  test('§4 accounts/predict pubKeyY', async () => {
    expect((await predict({ pubKeyX: '1', pubKeyY: '0x10' })).body.address).toBe(await getAddress(1n, 16n));
    expect((await predict({ pubKeyX: '1', pubKeyY: '10' })).body.address).toBe(await getAddress(1n, 16n));
    const max = 'f'.repeat(64);
    expect((await predict({ pubKeyX: max, pubKeyY: max })).body.address).toBe(
      await getAddress(2n ** 256n - 1n, 2n ** 256n - 1n),
    );
  });

  test('§4 accounts/predict salt', async () => {
    const of = async (salt?: string) =>
      (await predict({ ...key, ...(salt === undefined ? {} : { salt }) })).body.address;
    const expected = (salt: bigint) => getAddress(BigInt(key.pubKeyX), BigInt(key.pubKeyY), salt);
    expect([await of(), await of(''), await of('0'), await of('0x0')]).toEqual(Array(4).fill(await expected(0n)));
    expect([await of('10'), await of('0xa'), await of('0x0A'), await of('0010')]).toEqual(
      Array(4).fill(await expected(10n)),
    );
    const max = 2n ** 256n - 1n;
    expect([await of(String(max)), await of(`0x${max.toString(16)}`)]).toEqual(Array(2).fill(await expected(max)));
  });

  test('§7 accounts/predict 400 Missing query parameters: pubKeyX, pubKeyY', async () => {
    for (const query of [{}, { pubKeyX: '1' }, { pubKeyY: '1' }, { pubKeyX: '', pubKeyY: '1' }, { salt: 'x' }]) {
      const reply = await predict(query as Record<string, string>);
      expect([reply.status, reply.body.error]).toEqual([400, 'Missing query parameters: pubKeyX, pubKeyY']);
    }
  });

  test('§7 accounts/predict 400 Invalid pubKeyX or pubKeyY: expected uint256 hex string', async () => {
    const above = `1${'0'.repeat(64)}`;
    for (const wrong of [
      'xyz',
      '0x',
      '0xg',
      '-1',
      ' 1',
      '1 ',
      '0X1',
      '1_0',
      '１',
      '0x0x1',
      above,
      `0x${above}`,
      '0'.repeat(1025),
    ]) {
      for (const query of [
        { pubKeyX: wrong, pubKeyY: '1' },
        { pubKeyX: '1', pubKeyY: wrong, salt: 'x' },
      ]) {
        const reply = await predict(query);
        const error = 'Invalid pubKeyX or pubKeyY: expected uint256 hex string';
        expect([wrong, reply.status, reply.body]).toEqual([wrong, 400, { error }]);
      }
    }
  });

  test('§7 accounts/predict 400 Invalid salt: expected uint256 decimal or hex string', async () => {
    for (const salt of [
      'ff',
      '0x',
      '-1',
      '1.0',
      '1e3',
      ' 1',
      '0b1',
      '0xg',
      String(2n ** 256n),
      `0x1${'0'.repeat(64)}`,
    ]) {
      const reply = await predict({ ...key, salt });
      const error = 'Invalid salt: expected uint256 decimal or hex string';
      expect([salt, reply.status, reply.body]).toEqual([salt, 400, { error }]);
    }
  });

  // Of a factory whose code is known, nothing is asked.
  test('§7 accounts/predict 502 rpc_error', () =>
    chains.expectRpcError('GET /api/accounts/predict', key, { HYPERAUTH_FACTORY_ADDRESS: `0x${'f0'.repeat(20)}` }));

  describe("a node that lies about the factories' code and accounts", () => {
    const MALLORY = `0x${'ba'.repeat(20)}`;
    let liar: Liar;
    beforeAll(() => {
      liar = startLiar({ target: sepolia.url, seed: 1 });
      liar.lies.push(({ method, params: [first] }) => {
        const factories = [contracts.accountFactory, contracts.accountFactory2].map((one) => one.toLowerCase());
        const isOurs = (address: unknown) => factories.includes(String(address).toLowerCase());
        if (method === 'eth_getCode' && isOurs(first)) return { result: `0x73${MALLORY.slice(2)}5f5260205ff3` };
        const isAsked = method === 'eth_call' && isOurs((first as { to?: string } | undefined)?.to);
        return isAsked ? { result: `0x${MALLORY.slice(2).padStart(64, '0')}` } : undefined;
      });
    });
    afterAll(() => liar.stop());

    test.each(['1', '2'])('does not move an address of kind %s, and the operator hears of it', async (kind) => {
      const other = await startVault({ ...chains.settings(), RPC_URL: liar.url });
      const reply = await other.call('GET /api/accounts/predict', { ...key, kind });
      expect([reply.status, reply.body]).toEqual([200, (await predict({ ...key, kind })).body]);
      await other.idle();
      expect(other.entries.find(({ event }) => event === 'node_contradiction')).toMatchObject({
        level: 'error',
        about: 'prediction',
        kind: Number(kind),
      });
      expect((await other.call('GET /metrics')).text).toContain(
        'vault_node_contradictions_total{about="prediction"} 1',
      );
      await other.stop();
    });

    test("makes nobody's contract an account of the factory, for state and sponsor", async () => {
      const other = await startVault({ ...chains.settings(), RPC_URL: liar.url, BUNDLER_URL: 'http://127.0.0.1:1' });
      const passkey = createPasskey();
      const account = await openAccount(sepolia.rpc, contracts, passkey);
      await sendTransaction(sepolia.rpc, devAccount('bob').privateKey, {
        to: account.factory,
        data: account.factoryData,
      });
      const code = await sepolia.rpc('eth_getCode', [account.address, 'latest']);
      await sepolia.rpc('anvil_setCode', [MALLORY, code]);
      const factoryOf = async (one: string) =>
        (await other.call('GET /api/accounts/state', { account: one })).body.factory;
      expect([await factoryOf(account.address), await factoryOf(MALLORY)]).toEqual([contracts.accountFactory, null]);
      const sponsor = async (sender: string) => {
        const operation = { sender, nonce: '0x0', callData: accountCallData([{ target: account.address }]) };
        const call = { jsonrpc: '2.0', id: 1, method: 'pm_sponsorUserOperation' };
        const params = [operation, contracts.entryPoint];
        return (await other.call('POST /api/bundler', { ...call, params })).body.error.data.kind;
      };
      expect(await sponsor(MALLORY)).toBe('paymaster_rejected');
      expect(await sponsor(account.address)).toBe('unanswered');
      await other.stop();
    });
  });

  test('kind 2 is the address at the second factory, and no kind the first', async () => {
    const { key: point } = createPasskey();
    const [x, y] = [Hex.fromBytes(point.x), Hex.fromBytes(point.y)];
    const of = async (more: Record<string, string>) => (await predict({ pubKeyX: x, pubKeyY: y, ...more })).body;
    const second = await secondAddress(sepolia.rpc, contracts, point);
    expect([await of({ kind: '2' }), await of({ kind: '2', salt: '0' })]).toEqual(Array(2).fill({ address: second }));
    expect(await of({ kind: '2', salt: '7' })).toEqual({
      address: await secondAddress(sepolia.rpc, contracts, point, 7n),
    });
    const first = { address: await getAddress(BigInt(x), BigInt(y)) };
    expect([await of({ kind: '1' }), await of({}), await of({ kind: '' })]).toEqual(Array(3).fill(first));
    expect(first.address).not.toBe(second);
    for (const kind of ['0', '3', '02', 'two', '1 '])
      expect(await of({ kind })).toEqual({ error: 'Invalid kind: expected 1 or 2' });
  });

  test('kind 2 without a second factory is 502 rpc_error, as kind 1 without a first one', async () => {
    const none = { HYPERAUTH_FACTORY_ADDRESS: 'none', ACCOUNT_FACTORY_2_ADDRESS: 'none' };
    const other = await startVault({ ...chains.settings(), ...none });
    for (const kind of ['1', '2']) {
      const reply = await other.call('GET /api/accounts/predict', { ...key, kind });
      expect([reply.status, reply.body]).toEqual([502, { error: 'rpc_error' }]);
    }
    await other.stop();
  });

  test('once the factory is known to be ours, no chain is needed', async () => {
    await predict(key);
    nodes.sepolia.trouble = OUTAGES['an error page'];
    expect((await predict({ pubKeyX: '1', pubKeyY: '2' })).body.address).toBe(await getAddress(1n, 2n));
  });
});

describe('GET /api/accounts/state', () => {
  const state = (account: string) => t.call('GET /api/accounts/state', { account });

  async function createAccount(): Promise<SmartAccount> {
    const account = await openAccount(sepolia.rpc, contracts, createPasskey());
    await sendTransaction(sepolia.rpc, devAccount('bob').privateKey, {
      to: account.factory,
      data: account.factoryData,
    });
    return account;
  }

  test('§4 accounts/state: the decoded on-chain state, without a DID and with one', async () => {
    const account = await createAccount();
    const key = { pubKeyX: Hex.fromBytes(account.passkey.key.x), pubKeyY: Hex.fromBytes(account.passkey.key.y) };
    const fresh = await state(account.address.toLowerCase());
    expect([fresh.status, fresh.body]).toEqual([
      200,
      { nonce: '0x0', did: ZERO, isActive: false, ...key, kind: 1, factory: contracts.accountFactory, ...NONE },
    ]);

    const did = `did:example:${account.address}`;
    await sepolia.rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
    await sepolia.rpc('anvil_impersonateAccount', [account.address]);
    const call = { from: account.address, to: contracts.didRegistry, data: registerData({ did }) };
    await waitForReceipt(sepolia.rpc, (await sepolia.rpc('eth_sendTransaction', [call])) as Hex.Hex);
    expect((await state(account.address)).body).toMatchObject({ did: didHash(did), isActive: true, ...key });
  });

  test('an account without code is inactive and all zeros, whatever else there is or is not', async () => {
    const zeros = { nonce: '0x0', did: ZERO, isActive: false, pubKeyX: ZERO, pubKeyY: ZERO };
    const nothing = { ...zeros, kind: null, factory: null, ...NONE };
    const reply = await state(SOMEBODY);
    expect([reply.status, reply.body]).toEqual([200, nothing]);
    // A helper that reverts of such an account, as another deployment's may.
    const other = await startVault({ ...chains.settings(), ACCOUNT_HELPER_ADDRESS: contracts.accountFactory });
    expect((await other.call('GET /api/accounts/state', { account: SOMEBODY })).body).toEqual(nothing);
    const refused = await other.call('GET /api/accounts/state', { account: contracts.didRegistry });
    expect([refused.status, refused.body]).toEqual([502, { error: 'rpc_error' }]);
    await other.stop();
  });

  test('an account of the second kind: its keys, its guardian and a pending recovery', async () => {
    const [first, phone, lost] = [createPasskey().key, createPasskey().key, createPasskey().key];
    const account = await createSecond(sepolia.rpc, contracts, first);
    const hex = ({ x, y }: P256PublicKey) => ({ x: Hex.fromBytes(x), y: Hex.fromBytes(y) });
    const fresh = (await state(account)).body;
    expect(fresh).toMatchObject({ kind: 2, factory: contracts.accountFactory2, nonce: '0x0' });
    expect([fresh.pubKeyX, fresh.pubKeyY]).toEqual(Object.values(hex(first)));
    expect([fresh.guardian, fresh.recovery]).toEqual([null, null]);
    expect(fresh.keys).toEqual([{ index: 0, ...hex(first), addedAt: null, label: null, synced: null }]);

    const label = Hex.concat(Hex.padRight(Hex.fromString('Phone \u202e\u00e9'), 31), '0x02');
    await addKey(sepolia.rpc, account, phone, label);
    await addKey(sepolia.rpc, account, addressKey(SOMEBODY));
    const guardian = devAccount('owner').address;
    const commitment = `0x${'c0'.repeat(32)}` as const;
    const setGuardian = AbiFunction.fromAbi(account2Abi, 'setGuardian');
    const set = AbiFunction.encodeData(setGuardian, [guardian, 259_200, commitment]);
    await callAs(sepolia.rpc, account, account, set);
    const propose = AbiFunction.fromAbi(account2Abi, 'proposeRecovery');
    const proposal = AbiFunction.encodeData(propose, [...pointOf(lost), Hex.padRight('0x4e6577', 32), commitment]);
    await sendTransaction(sepolia.rpc, devAccount('owner').privateKey, { to: account, data: proposal });
    const { timestamp } = (await sepolia.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };

    const { keys, ...rest } = (await state(account)).body;
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(keys.slice(1)).toEqual([
      { index: 1, ...hex(phone), addedAt: iso, label: 'Phone \ufffd\u00e9', synced: true },
      { index: 2, x: Hex.padLeft(SOMEBODY, 32).toLowerCase(), y: ZERO, addedAt: iso, label: null, synced: null },
    ]);
    expect(rest.guardian).toEqual({
      address: guardian,
      delaySeconds: 259_200,
      commitment,
      vetoes: 0,
      barredUntil: null,
    });
    const readyAt = new Date((Number(timestamp) + 259_200) * 1000).toISOString();
    expect(rest.recovery).toEqual({ id: 1, ...hex(lost), readyAt, label: 'New' });
  });

  test("a stranger's account of this code is no account of the factory, and its word is bounded", async () => {
    const account = await createSecond(sepolia.rpc, contracts, createPasskey().key);
    const code = (await sepolia.rpc('eth_getCode', [account, 'latest'])) as string;
    const copy = `0x${'c0'.repeat(20)}`;
    await sepolia.rpc('anvil_setCode', [copy, code]);
    expect((await state(copy)).body).toMatchObject({ kind: 2, factory: null, keys: [{ index: 0 }] });
    // Its first implementation is the stranger's: it answers 700 KB, words too great, a key too many, and reverts.
    const liar = `0x${'c1'.repeat(20)}`;
    const implementation = `0x${'c2'.repeat(20)}`;
    const { implementation: own } = Object(/5073(?<implementation>[0-9a-f]{40})5b5af4/.exec(code)?.groups);
    await sepolia.rpc('anvil_setCode', [liar, code.replace(own, implementation.slice(2))]);
    for (const answer of [
      '0x620aae605ff3',
      '0x5f195f525f196020525f196040525f196060525f1960805260a05ff3',
      '0x60205f5260216020526114e05ff3',
      '0x5f5ffd',
    ]) {
      await sepolia.rpc('anvil_setCode', [implementation, answer]);
      const reply = await state(liar);
      expect([answer, reply.status]).toEqual([answer, 200]);
      expect(reply.body).toMatchObject({ kind: 2, factory: null, ...NONE });
    }
  });

  test('400 Missing query parameters: account, and Invalid account: expected 20-byte address', async () => {
    const missing = await t.call('GET /api/accounts/state');
    expect([missing.status, missing.body]).toEqual([400, { error: 'Missing query parameters: account' }]);
    for (const account of [
      '0x',
      SOMEBODY.slice(2),
      `${SOMEBODY}00`,
      SOMEBODY.slice(0, -1),
      `${SOMEBODY.slice(0, -1)}g`,
      'x',
    ]) {
      const reply = await state(account);
      expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid account: expected 20-byte address' }]);
    }
  });

  test('502 rpc_error', () => chains.expectRpcError('GET /api/accounts/state', { account: SOMEBODY }));

  test('502 rpc_error where the chain has no helper', async () => {
    const other = await startVault({ ...chains.settings(), ACCOUNT_HELPER_ADDRESS: 'none' });
    expect((await other.call('GET /api/accounts/state', { account: SOMEBODY })).body).toEqual({ error: 'rpc_error' });
    await other.stop();
  });
});

test.each(['/api/accounts/predict', '/api/accounts/state'])(
  '%s is under the limit of calls that cost an upstream one',
  async (path) => {
    const own = await startVault({ ...chains.settings(), RATE_LIMIT_PROXY_PER_IP: '1' });
    expect((await own.call(`GET ${path}`)).status).toBe(400);
    const reply = await own.call(`GET ${path}`);
    expect([reply.status, reply.body]).toEqual([
      429,
      { error: 'rate_limited', limit: 'proxy-per-ip', retry_after: 60 },
    ]);
    expect(reply.headers.get('ratelimit-policy')).toBe('"proxy-per-ip";q=1;w=60');
    await own.stop();
  },
);
