import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { contrasts, spoken, tabOrder } from '../support/accessible.ts';
import { createHere, type Device, makeHere, openDevice, pressNamed, signIn } from '../support/account-page.ts';
import { createPasskeys, type PayWorld, press, startPayWorld } from '../support/pay.ts';

if (chromium) {
  describe('the account page for everybody', () => {
    let world: PayWorld;
    const passkeys = createPasskeys();
    const open: Device[] = [];
    beforeAll(async () => {
      world = await startPayWorld({ pagesOnly: true });
      const maker = await openDevice(world, { passkeys });
      await createHere(world, maker);
      await maker.close();
    });
    afterAll(() => world.stop());
    afterEach(async () => {
      for (const device of open.splice(0)) await device.close();
      world.upstream.set();
    });
    const device = async (hash = '') => {
      const made = await openDevice(world, { hash, passkeys: passkeys.only(0) });
      open.push(made);
      return made;
    };
    const signedIn = async () => {
      const here = await device();
      await signIn(here.page);
      await here.screen('home');
      await here.page.waitForFunction(() => document.getElementById('money')?.childElementCount === 2);
      return here;
    };
    /** Each screen of the page, and how a person comes to it. */
    const SCREENS: readonly (readonly [string, (here: Device) => Promise<unknown>])[] = [
      ['home', async () => undefined],
      ['pick', ({ page }) => press(page, 'add')],
      ['qr', ({ go }) => go('qr')],
      ['key', ({ page }) => pressNamed(page, 'Change First passkey')],
      ['confirm', (here) => makeHere(here)],
      ['take', ({ page }) => press(page, 'export')],
      ['mail', ({ go }) => go('recover')],
      ['problem', ({ go }) => go('join=no')],
    ];
    const width = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

    test('the first visit, by Tab and by name', async () => {
      const { page, screen } = await device();
      await screen('start');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('start-title');
      expect((await tabOrder(page, 3)).slice(0, 3)).toEqual(['sign-in', 'create', 'lost-link']);
      const words = await spoken(page);
      for (const one of ['heading: Your account', 'button: Sign in with a passkey', 'button: I lost my passkey']) {
        expect(words).toContain(one);
      }
    });

    test.each(SCREENS)('%s: its heading has the keyboard, and no control is without a name', async (part, reach) => {
      const here = await signedIn();
      await reach(here);
      await here.screen(part);
      const focused = await here.page.evaluate(
        (id) => document.getElementById(id)?.contains(document.activeElement) === true,
        part,
      );
      expect(focused).toBe(true);
      const words = await spoken(here.page);
      expect(
        words.filter((word) => /^(button|link|combobox|textbox|heading|radio|checkbox|image): $/.test(word)),
      ).toEqual([]);
      expect(words.filter((word) => word.startsWith('heading: ')).length).toBeGreaterThan(0);
    });

    test.each(['light', 'dark'])('all text can be read on each screen, %s', async (scheme) => {
      const here = await signedIn();
      await here.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      for (const [part, reach] of SCREENS) {
        await here.go('');
        await here.screen('home');
        await reach(here);
        await here.screen(part);
        const all = await contrasts(here.page);
        expect([part, all.length > 3, all.filter(({ ratio }) => ratio < 4.5)]).toEqual([part, true, []]);
      }
    });

    test.each(['ltr', 'rtl'])('on 320 pixels nothing is cut off, %s', async (dir) => {
      const here = await signedIn();
      await here.page.setViewport({ width: 320, height: 600 });
      await here.page.evaluate((value) => {
        document.documentElement.dir = value;
      }, dir);
      for (const [part, reach] of SCREENS) {
        await here.go('');
        await here.screen('home');
        await reach(here);
        await here.screen(part);
        await here.page.$$eval('details', (all) => {
          for (const one of all) one.open = true;
        });
        expect([part, (await width(here.page)) <= 320]).toEqual([part, true]);
      }
    });

    test('every button and field is at least 44 pixels high', async () => {
      const here = await signedIn();
      for (const [part, reach] of SCREENS) {
        await here.go('');
        await here.screen('home');
        await reach(here);
        await here.screen(part);
        const low = await here.page.$$eval('button, input:not([type=radio]):not([type=checkbox]), select', (all) =>
          all.flatMap((one) => (one.checkVisibility() && one.clientHeight < 42 ? [one.id || one.outerHTML] : [])),
        );
        expect([part, low]).toEqual([part, []]);
      }
    });

    test('nothing turns for a person who wants no motion', async () => {
      const { page, screen } = await device();
      await screen('start');
      const motion = async (value: string) => {
        await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value }]);
        return page.$eval('.spinner', (element) => getComputedStyle(element).animationName);
      };
      expect([await motion('no-preference'), await motion('reduce')]).toEqual(['turn', 'none']);
    });

    test('a change is confirmed by the keyboard alone', async () => {
      const here = await signedIn();
      await makeHere(here, 'By keyboard');
      await here.page.focus('#confirm-go');
      await here.page.keyboard.press('Enter');
      expect(await here.screen('done')).toContain('“By keyboard” opens this account now.');
    });
  });
}
