import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Hex } from 'ox';
import type { BrowserContext, Page } from 'puppeteer-core';
import { registerForData } from '../../lib/chain/registry.ts';
import { didHash } from '../../lib/identity/did.ts';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { mintUsdc, placeUsdc } from '../../scripts/dev-stack/usdc.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import {
  awaitSelector,
  createPasskeys,
  type Passkeys,
  type PayData,
  type PayWorld,
  part,
  press,
  startPayWorld,
} from '../support/pay.ts';

if (chromium) {
  describe('an account is found by its passkey alone', () => {
    const ETHER = 10n ** 18n;
    let world: PayWorld;
    const contexts: BrowserContext[] = [];
    beforeAll(async () => {
      world = await startPayWorld();
    });
    afterAll(() => world.stop());
    afterEach(async () => {
      for (const context of contexts.splice(0)) await context.close();
    });

    let payees = 0xf0d0000;
    /** The confirm page in a browser that has stored nothing, reached by a link; its payee is new. */
    async function newBrowser(passkeys: Passkeys, more: PayData = {}): Promise<{ page: Page; to: string }> {
      const to = `0x${(payees++).toString(16).padStart(40, '0')}`;
      const data = { to, amount: String(ETHER / 1000n), token: 'native', chainId: 84532, ...more };
      const asked = { id: crypto.randomUUID(), data, returnUrl: `${world.shop}/` };
      const context = await world.own.browser.createBrowserContext();
      contexts.push(context);
      const page = await context.newPage();
      await passkeys.attach(page);
      await page.goto(
        `${world.origin}/pay/confirm?mode=redirect&request=${encodeURIComponent(btoa(JSON.stringify(asked)))}`,
      );
      return { page, to };
    }
    const from = (page: Page) => page.$eval('#from', (element) => element.textContent ?? '');
    /** An account made at /pay on one device; nothing is registered anywhere. */
    async function makeAccount(passkeys: Passkeys): Promise<string> {
      const { page } = await newBrowser(passkeys);
      await press(page, 'create');
      await part(page, 'review');
      return from(page);
    }

    /** Makes the account's first payment, which deploys it. */
    async function pay(account: string, passkeys: Passkeys): Promise<void> {
      await world.fund(account, { wei: ETHER });
      const { page } = await newBrowser(passkeys);
      await press(page, 'find');
      await press(page, 'approve');
      await part(page, 'done');
    }
    test('it holds money and does not exist on-chain yet: a new browser with the passkey finds it, and pays', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(passkeys);
      await world.fund(account, { wei: ETHER });
      const { page, to } = await newBrowser(passkeys);
      await press(page, 'find');
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
      expect(shown).toContain('Not enough balance');
    });

    test('it holds nothing but the token of the payment, which the vault does not list', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(passkeys);
      const token = '0x00000000000000000000000000000000c0b1ed00';
      await placeUsdc(world.chain.rpc, token);
      await mintUsdc(world.chain.rpc, account as `0x${string}`, 5n, token);
      const { page } = await newBrowser(passkeys, { token, amount: '5' });
      await press(page, 'find');
      expect(await part(page, 'review')).toContain(account);
    });

    test('it was never used: the chain cannot tell, so a second signature does', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(passkeys);
      const { page } = await newBrowser(passkeys);
      await press(page, 'find');
      await awaitSelector(page, '#setup-notice');
      expect(await part(page, 'setup')).toContain('Confirm it once more');
      await press(page, 'find');
      expect(await part(page, 'review')).toContain(account);
    });

    test("an unproven record that leads the passkey to another's account names no payer", async () => {
      const [mallorys, passkeys] = [createPasskeys(), createPasskeys()];
      const theirs = await makeAccount(mallorys);
      await pay(theirs, mallorys);
      const account = await makeAccount(passkeys);
      const [credentialId = ''] = passkeys.ids();
      const did = `did:pkh:eip155:84532:${theirs}`;
      const { didRegistry: registry } = world.contracts;
      const data = registerForData({ registry, controller: theirs, didHash: didHash(did) }) as Hex.Hex;
      const { privateKey } = devAccount('registrar');
      const { transactionHash: txHash } = await sendTransaction(world.chain.rpc, privateKey, { to: registry, data });
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
  });
}
