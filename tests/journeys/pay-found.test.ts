import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { AbiFunction, Hex } from 'ox';
import type { BrowserContext, Page } from 'puppeteer-core';
import { systemClock } from '../../lib/base/clock.ts';
import { didRegistryAbi } from '../../lib/chain/abi.ts';
import { didHash } from '../../lib/identity/did.ts';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { proveRegistration } from '../../scripts/dev-stack/passkey-proof.ts';
import { mintUsdc, placeUsdc } from '../../scripts/dev-stack/usdc.ts';
import { LOCAL_MONEY } from '../support/bundler.ts';
import { chainVars } from '../support/chain-vars.ts';
import { type Liar, startLiar } from '../support/liar.ts';
import {
  awaitSelector,
  createPasskeys,
  findAccount,
  makeNew,
  type Passkeys,
  type PayData,
  type PayWorld,
  part,
  press,
  startPayWorld,
} from '../support/pay.ts';
import { addKey, callAs, createSecond, removeKey } from '../support/second-account.ts';
import { startVault } from '../support/vault.ts';

if (chromium) {
  describe('an account is found by its passkey alone', () => {
    const ETHER = 10n ** 18n;
    let world: PayWorld;
    let node: Liar;
    const contexts: BrowserContext[] = [];
    beforeAll(async () => {
      world = await startPayWorld({
        pagesOnly: true,
        node(url) {
          node = startLiar({ target: url, seed: 1 });
          return node.url;
        },
      });
    });
    afterAll(async () => {
      await world.stop();
      await node.stop();
    });
    afterEach(async () => {
      node.lies.length = 0;
      for (const context of contexts.splice(0)) await context.close();
    });

    let payees = 0xf0d0000;
    /** The confirm page in a browser that has stored nothing, reached by a link; its payee is new. */
    async function newBrowser(
      passkeys: Passkeys,
      more: PayData = {},
      origin = world.origin,
      before: (blank: Page) => Promise<void> = async () => {},
    ): Promise<{ page: Page; to: string }> {
      const to = `0x${(payees++).toString(16).padStart(40, '0')}`;
      const data = { to, amount: String(ETHER / 1000n), token: 'native', chainId: 84532, ...more };
      const asked = { id: crypto.randomUUID(), data, returnUrl: `${world.shop}/` };
      const context = await world.own.browser.createBrowserContext();
      contexts.push(context);
      const page = await context.newPage();
      await page.goto(`${origin}/pay`);
      await before(page);
      await passkeys.attach(page);
      await page.goto(`${origin}/pay/confirm?mode=redirect&request=${encodeURIComponent(btoa(JSON.stringify(asked)))}`);
      return { page, to };
    }
    const from = (page: Page) => page.$eval('#from', (element) => element.textContent ?? '');
    /** An account made at /pay on one device; nothing is registered anywhere. */
    async function makeAccount(passkeys: Passkeys): Promise<string> {
      const { page } = await newBrowser(passkeys);
      await makeNew(page);
      await part(page, 'review');
      return from(page);
    }

    /** Makes a passkey for an account that exists, as `/account` does. */
    const createNamed = (page: Page, account: string) =>
      page.evaluate(async (of) => {
        const id = crypto.getRandomValues(new Uint8Array(32));
        id.set(Uint8Array.from({ length: 20 }, (_, i) => Number.parseInt(of.slice(2 + 2 * i, 4 + 2 * i), 16)));
        await navigator.credentials.create({
          publicKey: {
            rp: { name: 'Vault' },
            user: { id, name: 'second', displayName: 'second' },
            challenge: new Uint8Array(32),
            pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
            authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
          },
        });
      }, account);

    /** Makes the account's first payment, which deploys it. */
    async function pay(account: string, passkeys: Passkeys): Promise<void> {
      await world.fund(account, { wei: ETHER });
      const { page } = await newBrowser(passkeys);
      await findAccount(page, 2);
      await press(page, 'approve');
      await part(page, 'done');
    }
    /** Has a deployed account register a DID. */
    function register(account: string, did: string): Promise<Hex.Hex> {
      const call = AbiFunction.fromAbi(didRegistryAbi, 'register');
      const data = AbiFunction.encodeData(call, [didHash(did), Hex.padLeft('0x', 32), '']);
      return callAs(world.chain.rpc, account, world.contracts.didRegistry, data);
    }

    test('it holds money and does not exist on-chain yet: a new browser with the passkey finds it, and pays', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(passkeys);
      await world.fund(account, { wei: ETHER });
      const { page, to } = await newBrowser(passkeys);
      await findAccount(page, 2);
      expect(await part(page, 'review')).toContain(account);
      expect(await world.chain.rpc('eth_getCode', [account, 'latest'])).toBe('0x');
      await press(page, 'approve');
      expect(await part(page, 'done')).toContain('Paid');
      expect(await world.balanceOf(to, 'native')).toBe(ETHER / 1000n);
    });

    test('it paid once, and holds nothing since', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(passkeys);
      await pay(account, passkeys);
      await world.fund(account, { wei: 0n });
      const { page } = await newBrowser(passkeys);
      await press(page, 'find');
      const shown = await part(page, 'review');
      expect(shown).toContain(account);
      expect(shown).toContain('Not enough ETH: 0.001 needed, 0 here.');
    });

    test('a node that makes up a balance of the other key leads nobody to an account that nobody can open', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(passkeys);
      const [pubKeyX, pubKeyY] = [Hex.fromBytes(passkeys.key().x), Hex.fromBytes(passkeys.key().y)];
      const { body } = await world.t.call('GET /api/accounts/predict', { pubKeyX, pubKeyY });
      const own = [account, body.address].map((one) => one.toLowerCase());
      // All that is asked about holds a wei, but for what this key opens.
      node.lies.push(({ method, params: [address] }) =>
        method === 'eth_getBalance' && !own.includes(String(address).toLowerCase()) ? { result: '0x1' } : undefined,
      );
      const { page } = await newBrowser(passkeys);
      await findAccount(page, 2);
      expect(await part(page, 'review')).toContain(account);
    });

    test('it holds nothing but the token of the payment, which the vault does not list', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(passkeys);
      const token = '0x00000000000000000000000000000000c0b1ed00';
      await placeUsdc(world.chain.rpc, token);
      await mintUsdc(world.chain.rpc, account as `0x${string}`, 5n, token);
      const { page } = await newBrowser(passkeys, { token, amount: '5' });
      await findAccount(page, 2);
      expect(await part(page, 'review')).toContain(account);
    });

    test('it was never used: the chain cannot tell, so a second signature does', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(passkeys);
      const { page } = await newBrowser(passkeys);
      await press(page, 'find');
      await awaitSelector(page, '#setup-notice');
      expect(await part(page, 'setup')).toContain('Please confirm once more');
      await press(page, 'find');
      expect(await part(page, 'review')).toContain(account);
    });

    test("an unproven record that leads the passkey to another's account names no payer, though that one says so", async () => {
      const [mallorys, passkeys] = [createPasskeys(), createPasskeys()];
      const theirs = await makeAccount(mallorys);
      await pay(theirs, mallorys);
      const account = await makeAccount(passkeys);
      // Keys are public: anybody adds another's to an account of their own.
      await addKey(world.chain.rpc, theirs, passkeys.key());
      const [credentialId = ''] = passkeys.ids();
      const did = `did:pkh:eip155:84532:${theirs}`;
      const txHash = await register(theirs, did);
      const claim = { credentialId, identifier: 'tea.drinker', channel: 'handle', did, txHash, smartAccount: theirs };
      expect((await world.t.call('POST /api/dids', claim)).status).toBe(200);
      await world.t.work();
      const { page } = await newBrowser(passkeys);
      await press(page, 'find');
      await awaitSelector(page, '#setup-notice');
      await press(page, 'find');
      const shown = await part(page, 'review');
      expect(shown).toContain(account);
      expect(shown).not.toContain(theirs);
    });

    test('a stranger who deploys it between quote and approval delays nothing', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(passkeys);
      await world.fund(account, { wei: ETHER });
      const { page, to } = await newBrowser(passkeys);
      await findAccount(page, 2);
      expect(await part(page, 'review')).toContain(account);
      await createSecond(world.chain.rpc, world.contracts, passkeys.key());
      await press(page, 'approve');
      await part(page, 'done');
      expect(await world.balanceOf(to, 'native')).toBe(ETHER / 1000n);
    });

    test('of another salt, by the registration that this passkey has proven', async () => {
      const passkeys = createPasskeys();
      const unused = await makeAccount(passkeys);
      const [credentialId = ''] = passkeys.ids();
      const account = await createSecond(world.chain.rpc, world.contracts, passkeys.key(), 7n);
      const did = `did:pkh:eip155:84532:${account}`;
      const txHash = await register(account, did);
      const claim = { credentialId, identifier: 'salt.seven', channel: 'handle', did, smartAccount: account };
      const { body: vault } = await world.t.call('GET /api/contracts');
      const proof = proveRegistration(passkeys.twin(), vault, claim);
      expect((await world.t.call('POST /api/dids', { ...claim, txHash, ...proof })).status).toBe(200);
      await world.t.work();
      const { page } = await newBrowser(passkeys);
      await press(page, 'find');
      const shown = await part(page, 'review');
      expect(shown).toContain(account);
      expect(shown).not.toContain(unused);
    });

    test('of the first kind, made before the vault named the second factory, it goes on and pays', async () => {
      const vars = { ...chainVars(world.chain.url, world.contracts), ACCOUNT_FACTORY_2_ADDRESS: 'none' };
      const clock = { ...systemClock, advance: () => Promise.reject(new Error('this clock is real')) };
      const before = await startVault({ ...vars, BUNDLER_URL: world.sponsored.url, ...LOCAL_MONEY }, { clock });
      const origin = before.url.replace('127.0.0.1', 'localhost');
      const passkeys = createPasskeys();
      const { page: first } = await newBrowser(passkeys, {}, origin);
      await makeNew(first);
      await part(first, 'review');
      const account = await from(first);
      await before.stop();
      await world.fund(account, { wei: ETHER });
      for (const isDeployed of [false, true]) {
        expect((await world.chain.rpc('eth_getCode', [account, 'latest'])) !== '0x').toBe(isDeployed);
        const { page, to } = await newBrowser(passkeys);
        await findAccount(page, isDeployed ? 1 : 2);
        expect(await part(page, 'review')).toContain(account);
        await press(page, 'approve');
        await part(page, 'done');
        expect(await world.balanceOf(to, 'native')).toBe(ETHER / 1000n);
      }
      const { body } = await world.t.call('GET /api/accounts/state', { account });
      expect(body.kind).toBe(1);
    });

    test('accounts that an earlier release stored on the device are kept, as of the first kind', async () => {
      const passkeys = createPasskeys();
      await makeAccount(passkeys);
      const [credentialId = ''] = passkeys.ids();
      const { x, y } = passkeys.key();
      const key = { pubKeyX: Hex.fromBytes(x), pubKeyY: Hex.fromBytes(y) };
      const { body } = await world.t.call('GET /api/accounts/predict', key);
      const address = body.address.toLowerCase();
      await world.fund(address, { wei: ETHER });
      const stored = { credentialId, address, x: key.pubKeyX, y: key.pubKeyY, name: 'Vault account', usedAt: 1 };
      const { page, to } = await newBrowser(passkeys, {}, world.origin, (blank) =>
        blank.evaluate(
          (account) =>
            new Promise<void>((resolve) => {
              const request = indexedDB.open('vault-pay', 1);
              request.onupgradeneeded = () => {
                request.result.createObjectStore('payments', { keyPath: 'name' });
                request.result.createObjectStore('accounts', { keyPath: 'credentialId' }).put(account);
              };
              request.onsuccess = () => {
                request.result.close();
                resolve();
              };
            }),
          stored,
        ),
      );
      expect(await part(page, 'review')).toContain(body.address);
      await press(page, 'approve');
      await part(page, 'done');
      expect(await world.balanceOf(to, 'native')).toBe(ETHER / 1000n);
    });

    describe('by a key that was added to it', () => {
      const [firsts, added] = [createPasskeys(), createPasskeys()];
      let account: string;
      beforeAll(async () => {
        account = await makeAccount(firsts);
        await pay(account, firsts);
        const { page } = await newBrowser(added);
        await createNamed(page, account);
      });

      test('not before its account lists it', async () => {
        const { page } = await newBrowser(added);
        await press(page, 'find');
        await awaitSelector(page, '#setup-notice');
        await press(page, 'find');
        await page.waitForFunction(() =>
          document.getElementById('setup-notice')?.textContent?.includes('does not open'),
        );
      });

      test('at once when it does, on another device, and pays with it', async () => {
        await addKey(world.chain.rpc, account, added.key());
        const { page, to } = await newBrowser(added);
        await press(page, 'find');
        const shown = await part(page, 'review');
        expect(shown).toContain(account);
        expect(shown).toContain('2 passkeys or keys can pay from it');
        await press(page, 'approve');
        await part(page, 'done');
        expect(await world.balanceOf(to, 'native')).toBe(ETHER / 1000n);
      });

      test('and no more by the first one, once that was removed', async () => {
        await removeKey(world.chain.rpc, account, 0, firsts.key());
        const { page } = await newBrowser(firsts);
        await press(page, 'find');
        await awaitSelector(page, '#setup-notice');
        await press(page, 'find');
        await page.waitForFunction(() => document.getElementById('setup-notice')?.textContent?.includes('no account'));
        const other = await newBrowser(added);
        await press(other.page, 'find');
        expect(await part(other.page, 'review')).toContain(account);
      });
    });
  });
}
