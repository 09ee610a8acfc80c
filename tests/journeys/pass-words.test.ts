import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { contrasts } from '../support/accessible.ts';
import { SVG } from '../support/brand.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const EVIL = '<img src=x onerror=alert(1)>';
const FILES: Readonly<Record<string, string>> = {
  '/etc/brands.json': JSON.stringify({
    tea: { name: 'Tea & Häuser', logo: 'tea.svg', color: ['#0a6b48', '#57d9a3'], support: 'help@tea.example' },
  }),
  '/etc/tea.svg': SVG,
  '/etc/words/he/pass.json': JSON.stringify({
    'ask.title': 'לאפשר למכשיר הזה לבקש קוד?',
    'ask.go': 'לאפשר למכשיר',
    'ask.label': 'אחרי {0}, סוף הקישור בהודעה',
  }),
  '/etc/words/de/pass.json': JSON.stringify({ 'ask.go': EVIL }),
};
const operatorFiles = {
  read: (path: string) => (FILES[path] === undefined ? undefined : new TextEncoder().encode(FILES[path])),
  list: () => ['de', 'he'],
};

describe.skipIf(!chromium)('the words and the brand of /pass, in Chromium', () => {
  let own: OwnBrowser;
  let t: TestVault;
  let page: Page;
  beforeAll(async () => {
    own = await startShell();
    t = await startVault({ APPS: 'tea', BRANDS: '/etc/brands.json', WORDS_DIR: '/etc/words' }, { operatorFiles });
    page = await own.browser.newPage();
  });
  afterAll(async () => {
    await page.close();
    await own.close();
    await t.stop();
  });

  const open = async (path: string, language = 'en') => {
    await page.setExtraHTTPHeaders({ 'Accept-Language': language });
    await page.goto(new URL(path, t.url).href, { waitUntil: 'networkidle0' });
  };
  const textOf = (selector: string) => page.$eval(selector, (part) => part.textContent?.trim());
  const root = () => page.$eval('html', ({ lang, dir }) => [lang, dir]);

  test.each([
    ['fr', 'Autoriser cet appareil à demander un code\u00a0?', 'La fin du lien du message, après #'],
    ['es', '¿Permitir que este dispositivo solicite un código?', 'El final del enlace del mensaje, después de #'],
    ['en', 'Let this device ask for a code?', 'The end of the link in the message, after #'],
  ])('a browser in %s reads it so, the sentence around the sign included', async (language, heading, label) => {
    await open('/pass', language);
    expect(await root()).toEqual([language, 'ltr']);
    expect([await textOf('h1'), await textOf('label')]).toEqual([heading, label]);
    expect(await page.$eval('label code', (sign) => sign.textContent)).toBe('#');
  });

  test('an app’s brand dresses it, and it stays in language and brand after the button', async () => {
    await open('/pass?lang=fr&app=tea#x-y');
    expect([await textOf('.brand'), await page.title()]).toEqual([
      'Tea & Häuser',
      'Demander un code depuis cet appareil · Tea & Häuser',
    ]);
    expect(await page.$eval('header img', (picture) => (picture as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
    expect(await page.$eval('button', (button) => getComputedStyle(button).backgroundColor)).toBe('rgb(10, 107, 72)');
    expect(await page.$eval('footer a', (link) => (link as HTMLAnchorElement).href)).toBe('mailto:help@tea.example');
    await Promise.all([page.waitForNavigation({ waitUntil: 'networkidle0' }), page.click('button')]);
    expect([new URL(page.url()).pathname, await textOf('.brand')]).toEqual(['/pass/ended', 'Tea & Häuser']);
    expect(await textOf('h1')).toBe('Ce lien n’est plus valable');
  });

  test('words of the operator are text, never HTML', async () => {
    await open('/pass', 'de');
    expect(await textOf('button')).toBe(EVIL);
    expect(await page.$$('main img')).toEqual([]);
  });

  test('a language from right to left turns the page, without a sideways scroll, and can be read', async () => {
    await page.setViewport({ width: 320, height: 640 });
    await open('/pass', 'he');
    expect(await root()).toEqual(['he', 'rtl']);
    const [picture = 0, brand = 0] = await page.$$eval('header > *', (parts) =>
      parts.map((one) => one.getBoundingClientRect().left),
    );
    expect(picture).toBeGreaterThan(brand);
    expect(await textOf('label')).toBe('אחרי #, סוף הקישור בהודעה');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    expect((await contrasts(page)).filter(({ ratio }) => ratio < 4.5)).toEqual([]);
    if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/pass-he.png` });
  });
});
