// The pages of docs/x402.md, as an app serves them that lies at another origin than the API: a person reads the price on
// the vault's page, and the packages do the rest.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import type { PaymentSigner } from '../../client/vault/payment-signer.ts';
import { toolPath } from '../../scripts/testing/tools.ts';
import type { X402Signer } from '../tools/x402.ts';
import { type AppWorld, openAsPayer } from './client-app.ts';
import { confirmWindow, findAccount, type Passkeys, part, press } from './pay.ts';
import { PAYEE } from './payers.ts';
import { documentedBlock, startX402, type X402World } from './x402.ts';

const API = 'https://api.example.com/weather';
const PRICE = 10_000n;

/** The tests of the pages of docs/x402.md: `@x402/fetch`, `@x402/hono`, `@x402/evm` and `@x402/core` do all as they are. */
export function testX402Pages(worldOf: () => AppWorld): void {
  let world: AppWorld;
  let x402: X402World;
  beforeAll(async () => {
    world = worldOf();
    x402 = await startX402(world.chain, world.origin, world.shop);
    await putPage(world, '/page', x402.weather);
  });
  afterAll(() => x402.stop());

  /** Somebody with a dollar, at the documented page. */
  async function person() {
    const one = await openAsPayer(world, '/page', 1_000_000n);
    expect(await codeOf(one.account)).toBe('0x');
    return one;
  }
  const codeOf = (account: string) => world.chain.rpc('eth_getCode', [account, 'latest']);
  const paidBy = async (account: string) => [
    1_000_000n - (await world.balanceOf(account, 'usdc')),
    await world.balanceOf(PAYEE, 'usdc'),
  ];
  /** Clicks once the page's script is ready, and waits for the vault's window. */
  async function ask(page: Page, passkeys: Passkeys): Promise<Page> {
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
    const [, earned = 0n] = await paidBy(account);
    for (const times of [1n, 2n]) {
      const window = await ask(page, passkeys);
      // The page asks for nobody: the vault's page finds the account, and knows it afterwards.
      if (times === 1n) await findAccount(window, 2);
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
    const { page, passkeys, account, payer } = await person();
    await putLibraryPage(world, '/library', x402.weather, payer);
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
    const before = await paidBy(account);
    const window = await ask(page, passkeys);
    await findAccount(window, 2);
    await press(window, 'cancel');
    expect(await said(page)).toBe('cancelled');
    expect([await paidBy(account), await codeOf(account)]).toEqual([before, '0x']);
  });

  test('the signer of the client is one of @x402/evm', () => {
    const asTaken = (signer: PaymentSigner): X402Signer => signer;
    expect(asTaken).toBeFunction();
  });
}

/** Serves the page that pays by the client alone. */
async function putPage(world: AppWorld, path: string, weather: string): Promise<void> {
  world.put(path, (await documentedBlock('vault.pay', 'html')).replaceAll(API, weather));
}

/** Serves a page with the script that pays by `@x402/fetch`, put together as a bundler does it. */
async function putLibraryPage(world: AppWorld, path: string, weather: string, person: object): Promise<void> {
  const script = (await documentedBlock('fetchPaid', 'js')).replaceAll(API, weather);
  // Beside the packages that it imports.
  const folder = mkdtempSync(toolPath('.x402-page-'));
  try {
    const known = `const person = ${JSON.stringify(person)};\nconst vault = await ${world.client};\n`;
    writeFileSync(join(folder, 'page.js'), known + script);
    const { outputs } = await Bun.build({ entrypoints: [join(folder, 'page.js')], target: 'browser', minify: true });
    const text = ((await outputs[0]?.text()) ?? '').replaceAll('</script', '<\\/script');
    const parts = '<title>Weather</title><button id="ask" type="button">Ask</button><output id="says"></output>';
    world.put(path, `<!doctype html><meta charset="utf-8">${parts}<script type="module">${text}</script>`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
