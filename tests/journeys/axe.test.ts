import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { createHere, type Device, makeHere, openDevice, pressNamed } from '../support/account-page.ts';
import { violations } from '../support/axe.ts';
import { openConsole } from '../support/console.ts';
import { createPasskeys, part, press } from '../support/pay.ts';
import { type RegisterWorld, startRegisterWorld, visit } from '../support/register-page.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const OPERATOR_SECRET = VAULT_SECRET.replace('00', 'ff');

if (chromium) {
  describe('axe-core finds nothing wrong on 360 pixels, light and dark', () => {
    let world: RegisterWorld;
    const passkeys = createPasskeys();
    let here: Device;
    beforeAll(async () => {
      world = await startRegisterWorld({ SUPPORT_ADDRESS: 'help@tea.example', BRAND_NAME: 'Tea House' });
      here = await openDevice(world, { passkeys });
    });
    afterAll(() => world.stop());

    /** Looks at what is shown, and closes nothing. */
    const expectSound = async (screen: string, page: Page) =>
      expect([screen, await violations(page)]).toEqual([screen, []]);

    test('a page that is wrong is found so', async () => {
      const page = await world.own.browser.newPage();
      await page.setContent('<!doctype html><html><title>T</title><img src="x"><input><p style="color:#ccc">pale</p>');
      const found = (await violations(page)).join('\n');
      for (const rule of ['image-alt', 'label', 'html-has-lang', 'color-contrast']) expect(found).toContain(rule);
      await page.close();
    });

    test('/', async () => {
      const page = await world.own.browser.newPage();
      await page.goto(`${world.origin}/`);
      await page.waitForSelector('[data-offer="register"]:not([hidden])');
      await page.waitForFunction(() => document.querySelector('#state')?.textContent !== '');
      await expectSound('/', page);
      await page.close();
    });

    test('/register', async () => {
      const visitor = await visit(world);
      const { page, screen } = visitor;
      await screen('start');
      await expectSound('start', page);
      await visitor.enter('nonsense');
      await screen('address-fault');
      await expectSound('fault', page);
      await visitor.enter('axe@example.com');
      await screen('code');
      await expectSound('code', page);
      await visitor.typeCode('axe@example.com');
      await screen('passkey');
      await expectSound('passkey', page);
      await press(page, 'passkey-go');
      await visitor.arrive();
      const again = await visit(world, undefined, { passkeys: visitor.passkeys, context: visitor.context });
      await again.screen('start');
      await expectSound('start of somebody known', again.page);
      const forgetful = await visit(world, undefined, { passkeys: visitor.passkeys });
      await forgetful.enter('axe@example.com');
      await forgetful.typeCode('axe@example.com');
      await forgetful.screen('passkey-known');
      await expectSound('passkey of somebody known', forgetful.page);
      await forgetful.close();
      await page.goto(world.app.link({ code_challenge_method: 'plain' }));
      await screen('problem');
      await expectSound('problem', page);
      await visitor.close();
    });

    test('/account', async () => {
      const { page, screen, go } = here;
      await screen('start');
      await expectSound('start', page);
      await createHere(world, here);
      await screen('home');
      await page.waitForFunction(() => document.getElementById('money')?.childElementCount === 2);
      await expectSound('home', page);
      const SCREENS: readonly (readonly [string, () => Promise<unknown>])[] = [
        ['pick', () => press(page, 'add')],
        ['qr-code', () => go('qr')],
        ['take', () => go('take')],
        ['mail', () => go('recover')],
        ['problem', () => go('join=no')],
      ];
      for (const [name, reach] of SCREENS) {
        await go('');
        await screen('home');
        await reach();
        await screen(name);
        await expectSound(name, page);
      }
      await go('');
      await screen('home');
      await pressNamed(page, 'Change First passkey');
      await screen('key');
      await expectSound('key', page);
      await go('');
      await makeHere(here);
      await expectSound('confirm', page);
    });

    test('/pay', async () => {
      const page = await world.own.browser.newPage();
      await page.goto(`${world.origin}/pay`);
      await expectSound('/pay', page);
      await page.close();
      const buyer = await openDevice(world, { passkeys: createPasskeys() });
      const confirm = buyer.page;
      const ask = async (id: string, more: object = {}) => {
        const data = {
          to: `0x${'a1'.repeat(20)}`,
          amount: '1000',
          token: 'native',
          chainId: 84532,
          label: 'Tea',
          ...more,
        };
        const request = Buffer.from(JSON.stringify({ id, data, returnUrl: world.shop })).toString('base64');
        await confirm.goto(`${world.origin}/pay/confirm?mode=redirect&request=${encodeURIComponent(request)}`);
      };
      await ask('axe-1');
      await part(confirm, 'setup');
      await expectSound('setup', confirm);
      await press(confirm, 'newcomer');
      await part(confirm, 'new');
      await expectSound('new', confirm);
      await press(confirm, 'create');
      await part(confirm, 'review');
      await expectSound('review without funds', confirm);
      await press(confirm, 'add');
      await confirm.waitForSelector('#funds-code path');
      await expectSound('funds', confirm);
      const account = await confirm.$eval('#from', (element) => element.textContent ?? '');
      await world.fund(account, { wei: 10n ** 18n });
      await ask('axe-2');
      await confirm.waitForSelector('#approve:not([disabled])', { visible: true });
      await expectSound('review', confirm);
      await press(confirm, 'approve');
      await part(confirm, 'done');
      await expectSound('done', confirm);
      await ask('axe-3', { chainId: 1 });
      await part(confirm, 'problem');
      await expectSound('problem', confirm);
      await buyer.close();
    });

    test('/console', async () => {
      const { page, signIn, phase, view } = await openConsole(world.own.browser, world.t.url);
      await expectSound('sign-in', page);
      await signIn(OPERATOR_SECRET);
      await phase('live');
      await page.waitForSelector('#events tr');
      for (const name of await page.$$eval('#views a', (all) => all.map((one) => one.hash.slice(2)))) {
        await view(name);
        await page.waitForFunction(() => document.querySelector('[aria-busy]') === null);
        await expectSound(name, page);
      }
      await page.$eval('#more', (button) => (button as HTMLElement).click());
      await expectSound('the opened bar', page);
      await page.$eval('#help', (dialog) => (dialog as HTMLDialogElement).showModal());
      await expectSound('keys', page);
      await page.close();
    });
  });
}
