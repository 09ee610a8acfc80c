import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import type { PaymentSigner } from '../../client/vault/payment-signer.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { type AppWorld, signUp, startAppWorld } from '../support/client-app.ts';
import { confirmWindow, part, press } from '../support/pay.ts';
import { PAYEE } from '../support/payers.ts';
import { startX402, type X402World } from '../support/x402.ts';
import { putLibraryPage, putPage } from '../support/x402-page.ts';
import type { X402Signer } from '../tools/x402.ts';

// The pages, the API and the facilitator of docs/x402.md: a person reads the price on the vault's page, and the packages
// `@x402/fetch`, `@x402/hono`, `@x402/evm` and `@x402/core` do the rest as they are.

const PLAIN = join(import.meta.dir, '../../examples/apps/plain.html');
const PRICE = 10_000n;

describe.skipIf(!chromium)('an API that charges by x402, in Chromium', () => {
  let world: AppWorld;
  let x402: X402World;
  beforeAll(async () => {
    const more = { REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey, MAX_REGISTRATIONS_PER_IP: '100' };
    world = await startAppWorld(more, { pagesOnly: true, relayOnly: true });
    x402 = await startX402(world.chain, world.origin, world.shop);
    world.put('/plain', await Bun.file(PLAIN).text());
    await putPage(world, '/page', x402.weather);
  });
  afterAll(async () => {
    await x402?.stop();
    await world?.stop();
  });
  afterEach(() => world.closePages());

  let people = 0;
  /** Somebody who has signed up at the app, with a dollar; their account does not exist yet. */
  async function person() {
    const { page, passkeys } = await world.open('/plain');
    const account = (await signUp(world, page, `reader${people++}@example.com`)).slice(-42);
    await world.fund(account, { usdc: 1_000_000n });
    const [credentialId = ''] = passkeys.ids();
    const { body } = await world.t.call('GET /api/dids/lookup', { credentialId });
    const { pubKeyX, pubKeyY } = body as { pubKeyX: string; pubKeyY: string };
    expect(await codeOf(account)).toBe('0x');
    return { page, passkeys, account, known: { account, credentialId, pubKeyX, pubKeyY } };
  }
  const codeOf = (account: string) => world.chain.rpc('eth_getCode', [account, 'latest']);
  const paidBy = async (account: string) => [
    1_000_000n - (await world.balanceOf(account, 'usdc')),
    await world.balanceOf(PAYEE, 'usdc'),
  ];
  /** Clicks once the page's script is ready, and waits for the vault's window. */
  async function ask(page: Page, passkeys: Awaited<ReturnType<typeof person>>['passkeys']): Promise<Page> {
    await page.waitForFunction(() => document.querySelector<HTMLElement>('#ask')?.onclick != null);
    await page.evaluate(() => document.querySelector('#says')?.replaceChildren());
    await page.click('#ask');
    return confirmWindow(world, passkeys);
  }
  const said = (page: Page) =>
    page
      .waitForFunction(() => document.querySelector('#says')?.textContent)
      .then((handle) => handle.jsonValue() as Promise<string>);

  test('the documented page pays for each request, before the account exists and after', async () => {
    const { page, passkeys, account } = await person();
    await page.goto(`${world.shop}/page`);
    const [, earned = 0n] = await paidBy(account);
    for (const times of [1n, 2n]) {
      const window = await ask(page, passkeys);
      // The page asks for nobody: the vault's page finds the account, and knows it afterwards.
      if (times === 1n) await press(window, 'find');
      const shown = (await part(window, 'review')).replace(/\s+/g, ' ');
      for (const one of ['Pay 0.01 USDC', `Requested by ${world.shop}`, `To ${PAYEE}`, 'For The weather'])
        expect(shown).toContain(one);
      await press(window, 'approve');
      expect(await said(page)).toBe('sunny');
      expect(await paidBy(account)).toEqual([times * PRICE, earned + times * PRICE]);
      expect(await codeOf(account)).not.toBe('0x');
    }
  });

  test('@x402/fetch pays by the signer of the client, before the account exists and after', async () => {
    const { page, passkeys, account, known } = await person();
    await putLibraryPage(world, '/library', x402.weather, known);
    await page.goto(`${world.shop}/library`);
    const [, earned = 0n] = await paidBy(account);
    for (const times of [1n, 2n]) {
      const window = await ask(page, passkeys);
      expect(await part(window, 'review')).toContain('Pay 0.01 USDC');
      await press(window, 'approve');
      expect(await said(page)).toBe('sunny');
      expect(await paidBy(account)).toEqual([times * PRICE, earned + times * PRICE]);
    }
  });

  test('a payment that the person leaves moves nothing, and the page says so', async () => {
    const { page, passkeys, account } = await person();
    await page.goto(`${world.shop}/page`);
    const before = await paidBy(account);
    const window = await ask(page, passkeys);
    await press(window, 'find');
    await press(window, 'cancel');
    expect(await said(page)).toBe('cancelled');
    expect([await paidBy(account), await codeOf(account)]).toEqual([before, '0x']);
  });
});

test('the signer of the client is one of @x402/evm', () => {
  const asTaken = (signer: PaymentSigner): X402Signer => signer;
  expect(asTaken).toBeFunction();
});
