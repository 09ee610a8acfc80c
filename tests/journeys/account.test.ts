import { beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import {
  accountPages,
  addHere,
  confirm,
  createHere,
  type Device,
  keyNames,
  makeHere,
  openDevice,
  pressNamed,
  signIn,
} from '../support/account-page.ts';
import { awaitSelector, type PayWorld, press } from '../support/pay.ts';
import { keepSent } from '../support/pay-windows.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: PayWorld;
  const { open: device, keysOf } = accountPages((opened) => {
    world = opened;
  });
  /** One device with one account, test after test. */
  let here: Device;
  let account: string;
  beforeAll(async () => {
    here = await openDevice(world);
    account = await createHere(world, here);
  });

  describe('an account and its passkeys', () => {
    test('a new account says what it has, and warns that its only passkey lives on one device', async () => {
      await here.page.reload();
      const text = await here.screen('home');
      expect(text).toContain('Your only passkey lives on this one device.');
      expect(text).toContain('nobody can open this account any more');
      expect(text).toContain('First passkey');
      await here.page.waitForFunction(() => document.getElementById('money')?.textContent?.includes('12.5'));
      expect(await here.page.$eval('#money', (list) => list.textContent)).toBe('ETH1USDC12.5');
    });

    test('at another name of the machine the page goes to the one whose passkeys it can use', async () => {
      const here = await device();
      await here.page.goto(`${world.origin.replace('localhost', '127.0.0.1')}/account?lang=de#recover`);
      await here.screen('mail');
      expect(here.page.url()).toBe(`${world.origin}/account?lang=de#recover`);
    });

    test('a browser without passkeys says so, before anything is asked', async () => {
      const prepare = (page: Page) => page.evaluateOnNewDocument('delete globalThis.PublicKeyCredential');
      const here = await device({ prepare });
      const come = async (hash: string) => {
        await here.go(hash);
        await here.page.reload();
      };
      for (const hash of ['', 'recover', `join=${'a'.repeat(43)}`]) {
        await come(hash);
        expect(await here.screen('problem')).toContain('This browser cannot use passkeys here');
      }
      // The owner of the address stops a recovery without one.
      await come(`stop=0x${'11'.repeat(20)}`);
      expect(await here.screen('start')).toContain('I have none here: stop it by email');
    });

    test('it stays signed in over a reload, until it is signed out', async () => {
      await here.page.reload();
      await here.screen('home');
      expect(await here.page.$eval('#full', (element) => element.textContent)).toBe(account);
      await press(here.page, 'sign-out');
      await here.screen('start');
      await here.page.reload();
      await here.screen('start');
      await signIn(here.page);
      await here.screen('home');
      expect(await here.page.$eval('#full', (element) => element.textContent)).toBe(account);
    });

    test('a change goes on after a reload, and is done once', async () => {
      await makeHere(here);
      const { operations, release } = keepSent(world);
      await press(here.page, 'confirm-go');
      await awaitSelector(here.page, '#step-block[aria-current]');
      expect(operations).toHaveLength(1);
      await here.page.reload();
      await awaitSelector(here.page, '#step-block[aria-current]');
      await release();
      expect(await here.screen('done')).toContain('Added');
      expect(await keysOf(account)).toHaveLength(2);
      await press(here.page, 'done-go');
      await here.screen('home');
    });

    test('a passkey that is added signs by itself; the first is removed, and opens nothing any more', async () => {
      await addHere(here, 'Security key');
      expect(await keyNames(here.page)).toEqual(['First passkey', 'Another', 'Security key']);
      expect(await keysOf(account)).toMatchObject([
        { index: 0, addedAt: null, label: null },
        { index: 1, label: 'Another' },
        { index: 2, label: 'Security key', synced: false },
      ]);
      // The same account by the other passkey alone, on a browser that knows nothing.
      const later = await device({ passkeys: here.passkeys.only(2) });
      await signIn(later.page);
      await later.screen('home');
      expect(await later.page.$eval('#full', (element) => element.textContent)).toBe(account);
      expect(await later.page.$eval('#keys', (list) => list.textContent)).toContain('Security keyYou use it now');
      await pressNamed(later.page, 'Change First passkey');
      expect(await later.screen('key')).toContain('First passkey');
      await press(later.page, 'remove');
      expect(await later.screen('confirm')).toContain('Remove “First passkey”?');
      expect(await confirm(later)).toContain('Removed');
      await later.screen('home');
      expect(await keyNames(later.page)).toEqual(['Another', 'Security key']);
      // The address follows from the key that is gone: the file names no other one for it.
      await press(later.page, 'export');
      await later.screen('take');
      const file = JSON.parse(await later.page.$eval('#take-text', (element) => element.textContent ?? ''));
      expect(file.createdBy).toBeNull();
      const gone = await device({ passkeys: here.passkeys.only(0) });
      await press(gone.page, 'sign-in');
      expect(await gone.screen('start-notice')).toContain('confirm once more');
      await press(gone.page, 'sign-in');
      await gone.page.waitForFunction(
        () => !document.getElementById('start-notice')?.textContent?.includes('confirm once more'),
      );
      expect(await gone.screen('start-notice')).toContain('This passkey does not open an account here.');
      expect((await keysOf(account)).map(({ index }: { index: number }) => index)).toEqual([1, 2]);
    });
  });
});
