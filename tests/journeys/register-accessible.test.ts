import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { contrasts, spoken, tabOrder } from '../support/accessible.ts';
import { press } from '../support/pay.ts';
import { type RegisterWorld, startRegisterWorld, type Visitor, visit } from '../support/register-page.ts';

if (chromium) {
  describe('the sign-up page for everybody', () => {
    let world: RegisterWorld;
    const visitors: Visitor[] = [];
    beforeAll(async () => {
      world = await startRegisterWorld();
    });
    afterAll(() => world.stop());
    afterEach(async () => {
      for (const visitor of visitors.splice(0)) await visitor.close();
    });
    let people = 0;
    const address = () => `a.rather.long.name.of.person${++people}@mail.some-company.example.com`;
    const come = async (url?: string) => {
      const visitor = await visit(world, url);
      visitors.push(visitor);
      return visitor;
    };
    const atCode = async (visitor: Visitor) => {
      const email = address();
      await visitor.enter(email);
      await visitor.screen('code');
      return email;
    };
    /** Each screen of the page, and how a person comes to it. */
    const SCREENS: readonly (readonly [string, (visitor: Visitor) => Promise<unknown>])[] = [
      ['start', ({ screen }) => screen('start')],
      ['code', atCode],
      [
        'passkey',
        async (visitor) => {
          await visitor.typeCode(await atCode(visitor));
          await visitor.screen('passkey');
        },
      ],
      [
        'problem',
        async (visitor) => {
          await visitor.page.goto(world.app.link({ code_challenge_method: 'plain' }));
          await visitor.screen('problem');
        },
      ],
    ];
    const width = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

    test('a whole sign-up by the keyboard alone', async () => {
      const [email, { page, ...visitor }] = [address(), await come()];
      await visitor.screen('start');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('start-title');
      expect(await tabOrder(page, 5)).toEqual(['address', 'address-go', 'sign-in', 'shared', 'cancel']);
      await page.focus('#address');
      await page.keyboard.type(email);
      await page.keyboard.press('Enter');
      await visitor.screen('code');
      // The field has the keyboard already.
      await page.keyboard.type(world.t.codeFor(email));
      await visitor.screen('passkey');
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('passkey-go');
      await page.keyboard.press('Enter');
      expect((await visitor.arrive()).status).toBe(200);
    });

    test.each(SCREENS)('%s: it has the keyboard, and no control is without a name', async (part, reach) => {
      const visitor = await come();
      await reach(visitor);
      const focused = await visitor.page.evaluate(
        (id) => document.getElementById(id)?.contains(document.activeElement) === true,
        part,
      );
      expect(focused).toBe(true);
      const words = await spoken(visitor.page);
      expect(words.filter((one) => /^(button|link|textbox|heading|image): $/.test(one))).toEqual([]);
      expect(words.filter((one) => one.startsWith('heading: '))).toHaveLength(1);
    });

    test('a fault is tied to its field', async () => {
      const visitor = await come();
      await visitor.enter('nonsense');
      await visitor.screen('address-fault');
      const found = await visitor.page.$eval('#address', (field) => [
        field.getAttribute('aria-invalid'),
        document.getElementById((field.getAttribute('aria-describedby') ?? '').split(' ')[0] ?? '')?.textContent,
        document.activeElement === field,
      ]);
      expect(found).toEqual(['true', expect.stringContaining('Enter an email address'), true]);
    });

    test.each(['light', 'dark'])('all text can be read on each screen, %s', async (scheme) => {
      for (const [part, reach] of SCREENS) {
        const visitor = await come();
        // Without motion: a colour that is still changing is none of the page's.
        const still = { name: 'prefers-reduced-motion', value: 'reduce' };
        await visitor.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }, still]);
        await reach(visitor);
        const all = await contrasts(visitor.page);
        // A button that waits is dim on purpose (WCAG 1.4.3, inactive components).
        const low = all.filter(({ ratio, text }) => ratio < 4.5 && !text.startsWith('Send a new code in'));
        expect([part, all.length > 3, low]).toEqual([part, true, []]);
      }
    });

    test.each(['ltr', 'rtl'])('on 320 pixels nothing is cut off, %s', async (dir) => {
      for (const [part, reach] of SCREENS) {
        const visitor = await come();
        await visitor.page.setViewport({ width: 320, height: 600 });
        await reach(visitor);
        await visitor.page.evaluate((value) => {
          document.documentElement.dir = value;
          for (const one of document.querySelectorAll('details')) one.open = true;
        }, dir);
        expect([part, (await width(visitor.page)) <= 320]).toEqual([part, true]);
      }
    });

    test.each(['de', 'fr', 'es'])('on 320 pixels nothing is cut off in %s', async (lang) => {
      const visitor = await come(world.app.link({ lang }));
      await visitor.page.setViewport({ width: 320, height: 600 });
      for (const [part, reach] of SCREENS.slice(0, 3)) {
        await visitor.page.goto(world.app.link({ lang }));
        await reach(visitor);
        expect([part, (await width(visitor.page)) <= 320]).toEqual([part, true]);
      }
    });

    test('every button and field is at least 44 pixels high', async () => {
      for (const [part, reach] of SCREENS) {
        const visitor = await come();
        await reach(visitor);
        const low = await visitor.page.$$eval('button, input:not([type="checkbox"]), .choice', (all) =>
          all.flatMap((one) => (one.checkVisibility() && one.clientHeight < 42 ? [one.id] : [])),
        );
        expect([part, low]).toEqual([part, []]);
      }
    });

    test('nothing turns for a person who wants no motion', async () => {
      const { page, screen } = await come();
      await screen('start');
      const motion = async (value: string) => {
        await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value }]);
        return page.$eval('.spinner', (element) => getComputedStyle(element).animationName);
      };
      expect([await motion('no-preference'), await motion('reduce')]).toEqual(['turn', 'none']);
    });

    test.each(['en', 'de', 'es', 'fr'])(
      'what the app gets is one sentence, apart from the choice below, %s',
      async (language) => {
        const { page, screen } = await come(`${world.app.link()}&lang=${language}`);
        await page.setViewport({ width: 360, height: 700 });
        await screen('start');
        expect(await page.$eval('html', ({ lang }) => lang)).toBe(language);
        const seen = await page.evaluate(() => {
          const hints = Array.from(document.querySelectorAll<HTMLElement>('#start .hint')).filter((one) =>
            one.checkVisibility(),
          );
          const range = document.createRange();
          range.selectNodeContents(document.querySelector('#start .choice span') as Element);
          const box = (document.getElementById('shared') as HTMLElement).getBoundingClientRect();
          return {
            hints: hints.length,
            sentences: hints[0]?.textContent?.match(/\.(?: |$)/g)?.length,
            gap: range.getBoundingClientRect().top - (hints[0]?.getBoundingClientRect().bottom ?? 0),
            box: [box.width, box.height],
          };
        });
        expect(seen).toEqual({ hints: 1, sentences: 1, gap: expect.any(Number), box: [20, 20] });
        expect(seen.gap).toBeGreaterThanOrEqual(8);
      },
    );

    test('the browser may fill in the address and the code', async () => {
      const visitor = await come(world.app.link({ channel: 'email', login_hint: 'hint@example.com' }));
      await visitor.screen('start');
      const fields = () =>
        visitor.page.$$eval('input:not([type="checkbox"])', (all) =>
          all.map(({ type, autocomplete, inputMode, value }) => [type, autocomplete, inputMode, value]),
        );
      expect(await fields()).toEqual([
        ['email', 'email', 'email', 'hint@example.com'],
        ['text', 'one-time-code', 'numeric', ''],
      ]);
      await press(visitor.page, 'address-go');
      await visitor.typeCode('hint@example.com');
      await visitor.screen('passkey');
    });
  });
}
