import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { OFFERS_ALL, OFFERS_HOST } from '../support/landing.ts';
import { startVault, type TestVault } from '../support/vault.ts';

describe.skipIf(!chromium)('the landing page in Chromium', () => {
  let own: OwnBrowser;
  let whole: TestVault;
  let bare: TestVault;
  beforeAll(async () => {
    [own, whole, bare] = await Promise.all([
      startShell(),
      startVault(OFFERS_ALL, OFFERS_HOST),
      startVault({ ADMIN_PORT: '9999' }),
    ]);
  });
  afterAll(() => Promise.all([own.close(), whole.stop(), bare.stop()]));

  const open = async ({ url }: TestVault, query = '', prepare?: (page: Page) => Promise<unknown>) => {
    const page = await own.browser.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    await prepare?.(page);
    await page.goto(`${url}/${query}`);
    await page.waitForFunction(() => document.querySelector('#state')?.textContent !== '');
    return { page, faults };
  };
  // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
  const shown = (page: Page) => page.$eval('body', (body) => body.innerText);
  const links = (page: Page) =>
    page.$$eval('a', (all) => all.flatMap((one) => (one.checkVisibility() ? [one.getAttribute('href')] : [])));

  test('leads to all that is offered, in the brand, and breaks no rule of its policy', async () => {
    const { page, faults } = await open(whole);
    expect(await links(page)).toEqual([
      '/account',
      '/pay',
      '/openapi.json',
      '/client.js',
      '/api/status',
      '/console',
      'mailto:help@tea.example',
      '/.well-known/security.txt',
    ]);
    const text = await shown(page);
    for (const words of ['Tea House', 'Running on Base Sepolia', 'Begin in the app that you want to use'])
      expect(text).toContain(words);
    expect(text).toContain(`import { createClient } from '${whole.url.replace('127.0.0.1', 'localhost')}/client.js';`);
    expect(await page.title()).toBe('What runs here · Tea House');
    expect(faults).toEqual([]);
    await page.close();
  });

  test('shows nothing that this vault does not offer', async () => {
    const { page, faults } = await open(bare);
    expect(await links(page)).toEqual(['/openapi.json', '/client.js', '/api/status']);
    for (const words of ['Begin in the app', 'For operators', 'createClient', 'Questions?'])
      expect(await shown(page)).not.toContain(words);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('says so when the vault does not answer, and still leads on', async () => {
    const { page } = await open(whole, '', async (before) => {
      await before.setRequestInterception(true);
      before.on('request', (request) => {
        const isData = request.resourceType() === 'fetch';
        void (isData ? request.abort() : request.continue());
      });
    });
    expect(await shown(page)).toContain('No answer');
    expect(await links(page)).toContain('/openapi.json');
    await page.close();
  });
});
