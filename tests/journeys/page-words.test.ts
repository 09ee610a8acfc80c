import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium, type OwnBrowser, startBrowser } from '../../scripts/dev-stack/browser.ts';
import { contrasts } from '../support/accessible.ts';
import { SVG } from '../support/brand.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const FILES: Readonly<Record<string, string>> = {
  '/etc/brands.json': JSON.stringify({
    tea: { name: 'Tea House', logo: 'tea.svg', color: ['#7a1fa2', '#d9a3ff'], support: 'help@tea.example' },
  }),
  '/etc/tea.svg': SVG,
  '/etc/words/he/account.json': JSON.stringify({
    'Your account': 'החשבון שלך',
    'Sign in with a passkey': 'כניסה עם מפתח גישה',
    'Create an account': 'יצירת חשבון',
    'I lost my passkey': 'איבדתי את מפתח הגישה',
    'What is a passkey?': 'מה זה מפתח גישה?',
    'Sign in to see your money, your passkeys, and your way back if you lose them.':
      'היכנסו כדי לראות את הכסף, את מפתחות הגישה ואת הדרך חזרה.',
  }),
  '/etc/words/he/pay.json': JSON.stringify({
    'no_request.title': 'אין כאן מה לשלם',
    'no_request.text': 'בקשת החנות כבר אינה קיימת. חזרו לחנות ונסו שוב.',
    Close: 'סגירה',
  }),
};
const operatorFiles = {
  read: (path: string) => (FILES[path] === undefined ? undefined : new TextEncoder().encode(FILES[path])),
  list: () => ['he'],
};

/** No colour is measured on its way to another. */
const STILL = [{ name: 'prefers-reduced-motion', value: 'reduce' }];

if (chromium) {
  describe('the words and the brand of /account and /pay, in Chromium', () => {
    let own: OwnBrowser;
    let t: TestVault;
    let page: Page;
    beforeAll(async () => {
      own = await startBrowser();
      t = await startVault({ APPS: 'tea', BRANDS: '/etc/brands.json', WORDS_DIR: '/etc/words' }, { operatorFiles });
      page = await own.browser.newPage();
      await page.setViewport({ width: 360, height: 740 });
      await page.emulateMediaFeatures(STILL);
    });
    afterAll(async () => {
      await page.close();
      await own.close();
      await t.stop();
    });

    const open = async (path: string, shown: string, language = 'en') => {
      await page.setExtraHTTPHeaders({ 'Accept-Language': language });
      await page.goto('about:blank');
      await page.goto(new URL(path, t.url.replace('127.0.0.1', 'localhost')).href);
      await page.waitForSelector(`#${shown}:not([hidden])`);
    };
    const textOf = (selector: string) =>
      page.$eval(selector, (part) => (part.textContent ?? '').replace(/\s+/g, ' ').trim());
    const shoot = async (name: string) => {
      if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/${name}.png` });
    };

    test.each([
      ['de', 'Ihr Konto', 'Mit Passkey anmelden', 'Er funktioniert nur auf localhost und wird nie an uns gesendet.'],
      [
        'fr',
        'Votre compte',
        'Se connecter avec une clé d’accès',
        'Elle ne fonctionne que sur localhost et ne nous est',
      ],
      ['es', 'Su cuenta', 'Iniciar sesión con una llave de acceso', 'Solo funciona en localhost y nunca se nos envía.'],
      ['en', 'Your account', 'Sign in with a passkey', 'It works on localhost only and is never sent to us.'],
    ])('/account in %s', async (language, title, button, sentence) => {
      await open('/account', 'start', language);
      expect([await textOf('#start-title'), await textOf('#sign-in')]).toEqual([title, button]);
      expect(await page.title()).toStartWith(`${title} · localhost`);
      await page.click('#start details summary');
      expect(await textOf('#start details p')).toContain(sentence);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
      await shoot(`account-${language}`);
    });

    test.each([
      ['de', 'Hier gibt es nichts zu bezahlen', 'Die Anfrage des Shops ist nicht mehr da.', 'Schließen'],
      ['fr', 'Il n’y a rien à payer ici', 'La demande de la boutique n’existe plus.', 'Fermer'],
      ['es', 'Aquí no hay nada que pagar', 'La solicitud de la tienda ya no existe.', 'Cerrar'],
      ['en', 'There is nothing to pay here', 'The shop’s request is gone.', 'Close'],
    ])('/pay in %s', async (language, title, words, button) => {
      await open('/pay/confirm?mode=redirect', 'problem', language);
      expect([await textOf('#problem-title'), await textOf('#leave')]).toEqual([title, button]);
      expect(await textOf('#problem-words')).toStartWith(words);
      await shoot(`pay-${language}`);
    });

    test.each([
      ['/account?app=tea&lang=de', 'start', '#sign-in'],
      ['/pay/confirm?mode=redirect&app=tea&lang=de', 'setup', '#create'],
    ])('%s wears the brand of the app', async (path, part, button) => {
      await open(path, part === 'setup' ? 'problem' : part);
      expect(await textOf('.brand')).toBe('Tea House');
      expect(await textOf('footer')).toBe('Fragen? Schreiben Sie uns: help@tea.example');
      const accent = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent'));
      expect(accent).toBe('light-dark(#7a1fa2, #d9a3ff)');
      if (part === 'start')
        expect(await page.$eval(button, (one) => getComputedStyle(one).backgroundColor)).toBe('rgb(122, 31, 162)');
      for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([...STILL, { name: 'prefers-color-scheme', value: scheme }]);
        expect((await contrasts(page)).filter(({ ratio }) => ratio < 4.5)).toEqual([]);
        await shoot(`${part}-tea-${scheme}`);
      }
      await page.emulateMediaFeatures(STILL);
    });

    test.each([
      ['/account', 'start', 'החשבון שלך', '#start-title'],
      ['/pay/confirm?mode=redirect', 'problem', 'אין כאן מה לשלם', '#problem-title'],
    ])('%s from right to left', async (path, part, title, heading) => {
      await open(path, part, 'he');
      expect(await page.$eval('html', ({ lang, dir }) => [lang, dir])).toEqual(['he', 'rtl']);
      expect(await textOf(heading)).toBe(title);
      const [picture = 0, brand = 0] = await page.$$eval('header > *', (parts) =>
        parts.map((one) => one.getBoundingClientRect().left),
      );
      expect(picture).toBeGreaterThan(brand);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
      await shoot(`${part}-he`);
    });
  });
}
