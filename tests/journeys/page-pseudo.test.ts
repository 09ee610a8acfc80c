import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { USDC } from '../../scripts/dev-stack/usdc.ts';
import { createHere, type Device, makeHere, openDevice } from '../support/account-page.ts';
import {
  awaitSelector,
  closeWindows,
  createPasskeys,
  type PayWorld,
  part,
  press,
  startPayWorld,
} from '../support/pay.ts';
import { speakPseudo, wordless } from '../support/pseudo-language.ts';

describe.skipIf(!chromium)('no text is without its words, on the screens of', () => {
  let world: PayWorld;
  const [passkeys, payers] = [createPasskeys(), createPasskeys()];
  const open: Device[] = [];
  beforeAll(async () => {
    world = await startPayWorld({ pagesOnly: true });
  });
  afterAll(() => world.stop());
  afterEach(async () => {
    for (const device of open.splice(0)) await device.close();
    await closeWindows(world);
    world.upstream.set();
  });

  test('/account', async () => {
    const here = await openDevice(world, { passkeys, prepare: speakPseudo });
    open.push(here);
    await here.screen('start');
    await here.page.click('#start summary');
    expect(['start', await wordless(here.page)]).toEqual(['start', []]);
    await createHere(world, here);
    await here.page.waitForFunction(() => document.getElementById('money')?.childElementCount === 2);
    const screens: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['home', async () => undefined],
      ['pick', () => press(here.page, 'add')],
      ['qr', () => here.go('qr')],
      ['key', () => here.page.click('#keys button')],
      ['confirm', () => makeHere(here)],
      ['take', () => press(here.page, 'export')],
      ['mail', () => here.go('recover')],
      ['problem', () => here.go('join=no')],
    ];
    for (const [name, reach] of screens) {
      await here.go('');
      await here.screen('home');
      await reach();
      await here.screen(name);
      await here.page.$$eval('details', (all) => {
        for (const one of all) one.open = true;
      });
      expect([name, await wordless(here.page, [/\bAnother\b/])]).toEqual([name, []]);
    }
  });

  test('/account, where a token cannot be read', async () => {
    const here = await openDevice(world, {
      passkeys,
      prepare: async (page) => {
        await speakPseudo(page);
        await page.evaluateOnNewDocument(() => {
          const ask = window.fetch.bind(window);
          window.fetch = ((input: RequestInfo, init?: RequestInit) =>
            String(input).startsWith('/pay/token')
              ? Promise.reject(new TypeError('no'))
              : ask(input, init)) as typeof fetch;
        });
      },
    });
    open.push(here);
    await here.screen('start');
    await press(here.page, 'create');
    await here.page.waitForFunction(() => document.getElementById('money')?.childElementCount === 2);
    expect(await wordless(here.page)).toEqual([]);
  });

  const pay = async (more: object): Promise<Page> => {
    const data = { to: `0x${'a1'.repeat(20)}`, amount: '1000', token: 'native', chainId: 84532, ...more };
    const text = JSON.stringify({ id: crypto.randomUUID(), data, returnUrl: world.shop });
    const request = encodeURIComponent(Buffer.from(text).toString('base64'));
    const page = await world.own.browser.newPage();
    await payers.attach(page);
    await speakPseudo(page);
    await page.goto(`${world.origin}/pay/confirm?mode=redirect&request=${request}`);
    return page;
  };

  test('/pay', async () => {
    const first = await pay({});
    await part(first, 'setup');
    expect(['setup', await wordless(first)]).toEqual(['setup', []]);
    await press(first, 'newcomer');
    await part(first, 'new');
    expect(['new', await wordless(first)]).toEqual(['new', []]);
    await press(first, 'create');
    await awaitSelector(first, '#add');
    const address = await first.$eval('#from', (one) => one.textContent ?? '');
    await world.fund(address, { wei: 10n ** 18n });
    expect(['lacks', await wordless(first)]).toEqual(['lacks', []]);
    await press(first, 'add');
    await awaitSelector(first, '#funds-code path');
    expect(['funds', await wordless(first)]).toEqual(['funds', []]);
    const refused = await pay({ chainId: 1 });
    await part(refused, 'problem');
    expect(['problem', await wordless(refused)]).toEqual(['problem', []]);
    const unknown = await pay({});
    await awaitSelector(unknown, '#approve:not([disabled])');
    await unknown.$$eval('details', (all) => {
      for (const one of all) one.open = true;
    });
    expect(['review', await wordless(unknown)]).toEqual(['review', []]);
    await press(unknown, 'other');
    await awaitSelector(unknown, '#accounts button');
    expect(['accounts', await wordless(unknown)]).toEqual(['accounts', []]);
    await press(unknown, 'setup-back');
    await awaitSelector(unknown, '#approve:not([disabled])');
    await press(unknown, 'approve');
    await awaitSelector(unknown, '#receipt dd');
    expect(['receipt', await wordless(unknown)]).toEqual(['receipt', []]);
  });

  test('/approve', async () => {
    const here = await openDevice(world, { passkeys: createPasskeys() });
    open.push(here);
    await createHere(world, here, { usdc: 2_000_000n });
    // The account's name is this person's.
    const named = [/\bAccount\b/];
    const at = Math.floor(Date.now() / 1000);
    const follow = async (id: string, asked: object) => {
      const request = Buffer.from(JSON.stringify({ id, returnUrl: world.shop, ...asked })).toString('base64url');
      await here.page.goto(`${world.origin}/approve?mode=redirect&request=${request}`);
    };
    const transferOf = (value: string) => ({
      form: 'transfer-authorization',
      token: { chainId: 84532, address: USDC },
      authorization: {
        ...{ to: `0x${'a1'.repeat(20)}`, value, nonce: `0x${'c3'.repeat(32)}` },
        ...{ validAfter: '0', validBefore: String(at + 600) },
      },
    });
    await speakPseudo(here.page);
    await follow('text', { text: '0x00', expires: new Date((at + 600) * 1000).toISOString() });
    await awaitSelector(here.page, '#approve:not([disabled])');
    expect(['text', await wordless(here.page, named)]).toEqual(['text', []]);
    await follow('transfer', transferOf('1250000'));
    await awaitSelector(here.page, '#approve:not([disabled])');
    await here.page.$$eval('details', (all) => {
      for (const one of all) one.open = true;
    });
    expect(['transfer', await wordless(here.page, named)]).toEqual(['transfer', []]);
    await follow('lacks', transferOf('2000001'));
    await awaitSelector(here.page, '#recheck');
    expect(['lacks', await wordless(here.page, named)]).toEqual(['lacks', []]);
    await follow('refused', transferOf('0'));
    await part(here.page, 'problem');
    expect(['problem', await wordless(here.page, named)]).toEqual(['problem', []]);
  });
});
