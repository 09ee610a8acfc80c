import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { AbiFunction, Hex } from 'ox';
import { didRegistryAbi } from '../../contracts/abi.ts';
import { didHash } from '../../lib/identity/did.ts';
import { proveRegistration } from '../../scripts/dev-stack/passkey-proof.ts';
import { mintUsdc, placeUsdc } from '../../scripts/dev-stack/usdc.ts';
import { LOCAL_MONEY } from '../support/bundler.ts';
import { chainVars } from '../support/chain-vars.ts';
import { CREDENTIALS, type Device, on } from '../support/hostile/device.ts';
import { type ChainPages, find, passkeyOf, startChainPages } from '../support/pay-page/at-chain.ts';
import { addKey, callAs, createSecond, removeKey } from '../support/second-account.ts';
import { SEED } from '../support/seed.ts';
import { startVault } from '../support/vault.ts';

// The page of a person who has a passkey and a browser that stores nothing, at a real vault and chain, without a browser
// of its own.
describe('an account is found by its passkey alone', () => {
  const ETHER = 10n ** 18n;
  const PRICE = ETHER / 1000n;
  let pages: ChainPages;
  beforeAll(async () => {
    pages = await startChainPages({ seed: SEED });
  });
  afterAll(() => pages.stop());
  afterEach(() => {
    pages.node.lies.length = 0;
  });

  /** The page in another browser of somebody's. */
  const elsewhere = ({ keyring }: Device, more = {}) => pages.open(pages.device(keyring), more);
  const isOnChain = async (account: string) => (await pages.chain.rpc('eth_getCode', [account, 'latest'])) !== '0x';
  const keyOf = (device: Device) => {
    const { x, y } = passkeyOf(device).key;
    return { pubKeyX: Hex.fromBytes(x), pubKeyY: Hex.fromBytes(y) };
  };
  /** Makes the account's first payment, which deploys it. */
  async function pay({ device, account }: { device: Device; account: string }): Promise<void> {
    await pages.fund(account, { wei: ETHER });
    const window = elsewhere(device);
    await find(window, 2);
    await window.press('approve');
    await window.shows('done');
  }
  /** Has a deployed account register a DID. */
  function register(account: string, did: string): Promise<Hex.Hex> {
    const call = AbiFunction.fromAbi(didRegistryAbi, 'register');
    const data = AbiFunction.encodeData(call, [didHash(did), Hex.padLeft('0x', 32), '']);
    return callAs(pages.chain.rpc, account, pages.contracts.didRegistry, data);
  }

  test('it holds money and does not exist on-chain yet: a new browser with the passkey finds it, and pays', async () => {
    const { device, account } = await pages.makeAccount();
    await pages.fund(account, { wei: ETHER });
    const window = elsewhere(device);
    await find(window, 2);
    expect(await window.shows('review')).toContain(account);
    expect(await isOnChain(account)).toBe(false);
    await window.press('approve');
    expect(await window.shows('done')).toContain('Paid');
    expect(await window.received()).toBe(PRICE);
  });

  test('it paid once, and holds nothing since', async () => {
    const made = await pages.makeAccount();
    await pay(made);
    await pages.fund(made.account, { wei: 0n });
    const window = elsewhere(made.device);
    await find(window, 1);
    const shown = await window.shows('review');
    expect(shown).toContain(made.account);
    expect(shown).toContain('Not enough ETH: 0.001 needed, 0 here.');
  });

  test('a node that makes up a balance of the other key leads nobody to an account that nobody can open', async () => {
    const { device, account } = await pages.makeAccount();
    const { body } = await pages.vault.call('GET /api/accounts/predict', keyOf(device));
    const own = [account, body.address].map((one) => one.toLowerCase());
    // All that is asked about holds a wei, but for what this key opens.
    pages.node.lies.push(({ method, params: [address] }) =>
      method === 'eth_getBalance' && !own.includes(String(address).toLowerCase()) ? { result: '0x1' } : undefined,
    );
    const window = elsewhere(device);
    await find(window, 2);
    expect(await window.shows('review')).toContain(account);
  });

  test('it holds nothing but the token of the payment, which the vault does not list', async () => {
    const { device, account } = await pages.makeAccount();
    const token = '0x00000000000000000000000000000000c0b1ed00';
    await placeUsdc(pages.chain.rpc, token);
    await mintUsdc(pages.chain.rpc, account, 5n, token);
    const window = elsewhere(device, { token, amount: '5' });
    await find(window, 2);
    expect(await window.shows('review')).toContain(account);
  });

  test('it was never used: the chain cannot tell, so a second signature does', async () => {
    const { device, account } = await pages.makeAccount();
    const window = elsewhere(device);
    await find(window, 2);
    expect(await window.shows('review')).toContain(account);
  });

  test("an unproven record that leads the passkey to another's account names no payer, though that one says so", async () => {
    const [mallory, victim] = [await pages.makeAccount(), await pages.makeAccount()];
    await pay(mallory);
    // Keys are public: anybody adds another's to an account of their own.
    await addKey(pages.chain.rpc, mallory.account, passkeyOf(victim.device).key);
    const { credentialId } = passkeyOf(victim.device);
    const did = `did:pkh:eip155:84532:${mallory.account}`;
    const txHash = await register(mallory.account, did);
    const claim = { credentialId, identifier: 'tea.drinker', channel: 'handle', did, txHash };
    const { status } = await pages.vault.call('POST /api/dids', { ...claim, smartAccount: mallory.account });
    expect(status).toBe(200);
    await pages.vault.work();
    const window = elsewhere(victim.device);
    await find(window, 2);
    const shown = await window.shows('review');
    expect(shown).toContain(victim.account);
    expect(shown).not.toContain(mallory.account);
  });

  test('a stranger who deploys it between quote and approval delays nothing', async () => {
    const { device, account } = await pages.makeAccount();
    await pages.fund(account, { wei: ETHER });
    const window = elsewhere(device);
    await find(window, 2);
    expect(await window.shows('review')).toContain(account);
    await createSecond(pages.chain.rpc, pages.contracts, passkeyOf(device).key);
    await window.press('approve');
    await window.shows('done');
    expect(await window.received()).toBe(PRICE);
  });

  test('of another salt, by the registration that this passkey has proven', async () => {
    const { device, account: unused } = await pages.makeAccount();
    const passkey = passkeyOf(device);
    const { credentialId } = passkey;
    const account = await createSecond(pages.chain.rpc, pages.contracts, passkey.key, 7n);
    const did = `did:pkh:eip155:84532:${account}`;
    const txHash = await register(account, did);
    const claim = { credentialId, identifier: 'salt.seven', channel: 'handle', did, smartAccount: account };
    const { body: contracts } = await pages.vault.call('GET /api/contracts');
    const proof = proveRegistration(passkey, contracts, claim, { now: pages.time.now() });
    expect((await pages.vault.call('POST /api/dids', { ...claim, txHash, ...proof })).status).toBe(200);
    await pages.vault.work();
    const window = elsewhere(device);
    await find(window, 1);
    const shown = await window.shows('review');
    expect(shown).toContain(account);
    expect(shown).not.toContain(unused);
  });

  test('of the first kind, made before the vault named the second factory, it goes on and pays', async () => {
    const vars = { ...chainVars(pages.chain.url, pages.contracts), ACCOUNT_FACTORY_2_ADDRESS: 'none' };
    const before = await startVault({ ...vars, BUNDLER_URL: pages.bundler.url, ...LOCAL_MONEY }, { clock: pages.time });
    const { device, account } = await pages.makeAccount(pages.device(undefined, before.url));
    await before.stop();
    await pages.fund(account, { wei: ETHER });
    for (const isDeployed of [false, true]) {
      expect(await isOnChain(account)).toBe(isDeployed);
      const window = elsewhere(device);
      await find(window, isDeployed ? 1 : 2);
      expect(await window.shows('review')).toContain(account);
      await window.press('approve');
      await window.shows('done');
      expect(await window.received()).toBe(PRICE);
    }
    const { body } = await pages.vault.call('GET /api/accounts/state', { account });
    expect(body.kind).toBe(1);
  });

  test('accounts that an earlier release stored on the device are kept, as of the first kind', async () => {
    const { device: made } = await pages.makeAccount();
    const { credentialId } = passkeyOf(made);
    const { pubKeyX: x, pubKeyY: y } = keyOf(made);
    const { body } = await pages.vault.call('GET /api/accounts/predict', keyOf(made));
    const address = body.address.toLowerCase();
    await pages.fund(address, { wei: ETHER });
    const device = pages.device(made.keyring);
    const request = device.indexedDB.open('vault-pay', 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('payments', { keyPath: 'name' });
      const accounts = request.result.createObjectStore('accounts', { keyPath: 'credentialId' });
      accounts.put({ credentialId, address, x, y, name: 'Vault account', usedAt: 1 });
    };
    await new Promise((resolve) => {
      request.onsuccess = resolve;
    });
    request.result.close();
    const window = pages.open(device);
    expect(await window.shows('review')).toContain(body.address);
    await window.press('approve');
    await window.shows('done');
    expect(await window.received()).toBe(PRICE);
  });

  describe('by a key that was added to it', () => {
    let first: { device: Device; account: Hex.Hex };
    let added: Device;
    beforeAll(async () => {
      first = await pages.makeAccount();
      await pay(first);
      // A passkey for an account that exists, as `/account` makes it: its id names the account.
      added = pages.device();
      const handle = new Uint8Array(32);
      handle.set(Hex.toBytes(first.account));
      await on(added, () =>
        CREDENTIALS.create({
          publicKey: { challenge: new Uint8Array(32), user: { id: handle, name: '', displayName: '' } },
        }),
      );
    });

    test('not before its account lists it', async () => {
      const window = elsewhere(added);
      await find(window, 2);
      await window.until('words', () => window.text('setup-notice').includes('does not work'));
    });

    test('at once when it does, on another device, and pays with it', async () => {
      await addKey(pages.chain.rpc, first.account, passkeyOf(added).key);
      const window = elsewhere(added);
      await find(window, 1);
      const shown = await window.shows('review');
      expect(shown).toContain(first.account);
      expect(shown).toContain('2 passkeys or keys can pay from it');
      await window.press('approve');
      await window.shows('done');
      expect(await window.received()).toBe(PRICE);
    });

    test('and no more by the first one, once that was removed', async () => {
      await removeKey(pages.chain.rpc, first.account, 0, passkeyOf(first.device).key);
      const window = elsewhere(first.device);
      await find(window, 2);
      await window.until('words', () => window.text('setup-notice').includes('no account'));
      const other = elsewhere(added);
      await find(other, 1);
      expect(await other.shows('review')).toContain(first.account);
    });
  });
});
