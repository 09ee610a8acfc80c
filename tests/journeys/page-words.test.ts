import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { HTTPRequest, Page } from 'puppeteer-core';
import type { Mail } from '../../lib/delivery/mail.ts';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { contrasts } from '../support/accessible.ts';
import { SVG } from '../support/brand.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const FILES: Readonly<Record<string, string>> = {
  '/etc/brands.json': JSON.stringify({
    tea: { name: 'Tea House', logo: 'tea.svg', color: ['#7a1fa2', '#d9a3ff'], support: 'help@tea.example' },
    wide: { logo: 'wide.svg' },
  }),
  '/etc/wide.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="100"><path d="M0 0h400v100H0z"/></svg>',
  '/etc/tea.svg': SVG,
  '/etc/words/he/account.json': JSON.stringify({
    page: 'החשבון שלך',
    'start.sign_in': 'כניסה עם מפתח גישה',
    'start.create': 'יצירת חשבון',
    'start.lost': 'איבדתי את מפתח הגישה',
    'passkey.what': 'מה זה מפתח גישה?',
    'start.words': 'היכנסו כדי לראות את הכסף, את מפתחות הגישה ואת הדרך חזרה.',
  }),
  '/etc/words/he/pay.json': JSON.stringify({
    'no_request.title': 'אין כאן מה לשלם',
    'no_request.text': 'בקשת החנות כבר אינה קיימת. חזרו לחנות ונסו שוב.',
    close: 'סגירה',
  }),
};
const operatorFiles = {
  read: (path: string) => (FILES[path] === undefined ? undefined : new TextEncoder().encode(FILES[path])),
  list: () => ['he'],
};

const ABOUT_PASSKEYS =
  'A key that your phone, computer or password manager keeps for you. You unlock it with your fingerprint, face or PIN. It works on localhost only and is never sent to us.';

/** No colour is measured on its way to another. */
const STILL = [{ name: 'prefers-reduced-motion', value: 'reduce' }];

describe.skipIf(!chromium)('the words and the brand of /account and /pay, in Chromium', () => {
  let own: OwnBrowser;
  let t: TestVault;
  let page: Page;
  const mails: Mail[] = [];
  beforeAll(async () => {
    own = await startShell();
    const vars = { APPS: 'tea,wide', BRANDS: '/etc/brands.json', WORDS_DIR: '/etc/words' };
    const mail = { send: async (one: Mail) => void mails.push(one) };
    const smtp = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'codes@example.net', SMTP_URL: 'smtp://127.0.0.1:1' };
    t = await startVault({ ...vars, ...smtp }, { operatorFiles, mail });
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
    ['fr', 'Votre compte', 'Se connecter avec une clé d’accès', 'Elle ne fonctionne que sur localhost et ne nous est'],
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

  test('/pay itself, as a person who opens the identifier sees it', async () => {
    await page.setExtraHTTPHeaders({ 'Accept-Language': 'fr' });
    await page.goto(new URL('/pay?app=tea', t.url.replace('127.0.0.1', 'localhost')).href);
    await page.waitForFunction(() => document.documentElement.lang === 'fr');
    expect([await textOf('h1'), await textOf('.brand'), await page.title()]).toEqual([
      'Un moyen de paiement pour les boutiques en ligne',
      'Tea House',
      'Paiements pour les boutiques · Tea House',
    ]);
  });

  test.each(['lang=de_DE', 'lang=de_DE&app=Tea', 'lang=german+language', `lang=${'x'.repeat(300)}`])(
    '/pay works with %s in its address',
    async (query) => {
      await open(`/pay/confirm?mode=redirect&${query}`, 'problem', 'de');
      expect(await textOf('#problem-title')).toBe('Hier gibt es nichts zu bezahlen');
    },
  );

  test('from right to left, addresses and codes are typed from left to right', async () => {
    await open('/account', 'start', 'he');
    const directions = await page.$$eval('#email, #code, #owner, #which-address', (all) =>
      all.map((one) => getComputedStyle(one).direction),
    );
    expect(directions).toEqual(['ltr', 'ltr', 'ltr', 'ltr']);
    expect(await page.$eval('#key-name', (one) => getComputedStyle(one).direction)).toBe('rtl');
  });

  test('on a phone the brand has the first line, and the network the next; a main network is not named', async () => {
    await open('/account', 'start');
    const { brand, pill } = await page.evaluate(() => {
      const brand = document.querySelector('.brand') as HTMLElement;
      brand.textContent = 'Teehaus am Marktplatz, Freiburg';
      const box = (one: Element) => one.getBoundingClientRect().toJSON() as DOMRect;
      const isCut = brand.scrollWidth > brand.clientWidth;
      return { brand: { ...box(brand), isCut }, pill: box(document.querySelector('#chain') as Element) };
    });
    expect([brand.isCut, pill.top >= brand.bottom, pill.width > 0]).toEqual([false, true, true]);
    const main = (request: HTTPRequest) =>
      new URL(request.url()).pathname === '/pay/config'
        ? void fetch(request.url()).then(async (answer) =>
            request.respond({ body: JSON.stringify({ ...((await answer.json()) as object), chainId: 8453 }) }),
          )
        : void request.continue();
    await page.setRequestInterception(true);
    page.on('request', main);
    await open('/account', 'start');
    expect(await page.$eval('#chain', (one) => (one as HTMLElement).hidden)).toBe(true);
    page.off('request', main);
    await page.setRequestInterception(false);
  });

  test('a logo keeps its proportions, and is the icon of the tab', async () => {
    await open('/account?app=wide', 'start');
    await page.waitForFunction(() => document.querySelector('img')?.naturalWidth === 400);
    const { width, height } = await page.$eval('header img', (one) => one.getBoundingClientRect().toJSON());
    expect([width, height]).toEqual([112, 28]);
    expect(await page.$eval('[rel=icon]', (one) => one.getAttribute('href'))).toBe('/brand/logo?app=wide');
  });

  test('a mail that /account asks for, and its passkeys, have the page’s language and brand', async () => {
    await open('/account?app=tea&lang=fr', 'start', 'en');
    // The browser's own: what a test sets would stand over what the page says.
    await page.setExtraHTTPHeaders({});
    await page.evaluate(() => {
      location.hash = 'recover';
    });
    await page.waitForSelector('#mail-form:not([hidden])');
    await page.type('#email', 'fleur@example.com');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#code-form:not([hidden])');
    expect(mails.map(({ subject, from }) => [subject, from])).toEqual([
      [
        'Récupérer votre compte chez Tea House\u00a0: votre code, valable 90\u00a0secondes',
        '"Tea House" <codes@example.net>',
      ],
    ]);
    expect(mails[0]?.text).toContain('/pass?app=tea&lang=fr#');
    expect(await page.evaluate(async () => (await (await fetch('/pay/config?app=tea')).json()).rpName)).toBe(
      'Tea House',
    );
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
    // What nobody has translated is English, and keeps its order.
    const english = await page.$$eval(`#${part} [lang="en"][dir="ltr"]`, (all) => all.map((one) => one.textContent));
    expect(english).toContain(part === 'start' ? ABOUT_PASSKEYS : 'Try again');
    expect(await page.$$eval('[lang="en"] [lang="en"], title [lang]', (all) => all.length)).toBe(0);
    expect(await page.title()).not.toMatch(/[\u2066-\u2069]/);
    const [picture = 0, brand = 0] = await page.$$eval('header > *', (parts) =>
      parts.map((one) => one.getBoundingClientRect().left),
    );
    expect(picture).toBeGreaterThan(brand);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await shoot(`${part}-he`);
  });
});
