import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type } from '../support/account-page.ts';
import { setWidth } from '../support/axe.ts';
import { clientsFile } from '../support/openid.ts';
import { address, type ShopWorld, screen, sendAddress, startShopWorld } from '../support/shop-world.ts';
import { untilSo } from '../support/until.ts';

const ROOT = join(import.meta.dir, '../..');
const GUARDIAN_KEY = `0x${'48'.repeat(32)}`;
const BACK = 'http://localhost:9/back';
const LINK = new URLSearchParams({
  client_id: 'tea',
  redirect_uri: BACK,
  response_type: 'code',
  scope: 'openid email',
  state: 'any',
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
});

/** A page with a code field: its source, its URL, how a person comes to the field, and the field. */
interface Place {
  readonly source: string;
  readonly url: (world: ShopWorld) => string;
  readonly reach: (page: Page) => Promise<unknown>;
  readonly field: string;
}

const PLACES: readonly Place[] = [
  {
    source: 'assets/authorize/index.html',
    url: ({ origin }) => `${origin}/authorize?${LINK}`,
    reach: async (page) => {
      await screen(page, 'start');
      await type(page, 'address', address());
      await page.keyboard.press('Enter');
    },
    field: '#digits',
  },
  {
    source: 'assets/account/index.html',
    url: ({ origin }) => `${origin}/account#recover`,
    reach: async (page) => {
      await screen(page, 'mail');
      await type(page, 'email', address());
      await page.keyboard.press('Enter');
    },
    field: '#code',
  },
  {
    source: 'scripts/dev-stack/shop/index.html',
    url: ({ shop }) => shop.url,
    reach: (page) => sendAddress(page, address()),
    field: '#digits',
  },
];

/** What the field looks like with the focus in it. */
const look = (page: Page, selector: string) =>
  page.$eval(selector, (element) => {
    const field = element as HTMLInputElement;
    const box = field.parentElement as HTMLElement;
    const { borderTopColor, borderTopWidth, backgroundImage, outlineStyle } = getComputedStyle(box);
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'var(--edge)';
    const edge = getComputedStyle(probe).color;
    probe.remove();
    const card = getComputedStyle(field.closest('.card') as HTMLElement);
    const room = Number.parseFloat(card.width) - 2 * Number.parseFloat(card.paddingLeft) - 2;
    const { fontSize, letterSpacing, direction } = getComputedStyle(field);
    return {
      field: { value: field.value, hasFocus: document.activeElement === field, scrollLeft: field.scrollLeft },
      fills: Math.round(box.getBoundingClientRect().width) === Math.round(room),
      style: {
        hasEdge: borderTopColor === edge && borderTopWidth !== '0px' && backgroundImage.includes(edge),
        ring: outlineStyle,
        width: Math.round(box.getBoundingClientRect().width),
        height: Math.round(box.getBoundingClientRect().height),
        ...{ fontSize, letterSpacing, direction, clipped: getComputedStyle(box).overflowX },
      },
    };
  });

describe.skipIf(!chromium)('a code field', () => {
  let world: ShopWorld;
  beforeAll(async () => {
    world = await startShopWorld(
      {
        GUARDIAN_PRIVATE_KEY: GUARDIAN_KEY,
        APPS: 'tea',
        CLIENTS: 'clients.json',
      },
      { ...clientsFile({ tea: { redirect_uris: [BACK] } }), pagesOnly: true },
    );
  });
  afterAll(() => world.stop());
  /** The window that each place is shown in, and what it has sent there. */
  const windows = new Map<Place, { readonly page: Page; readonly sent: unknown[] }>();
  const openFor = async (place: Place) => {
    const { page } = await world.come({}, 'about:blank');
    const sent: unknown[] = [];
    page.on('request', (request) => {
      if (!request.url().endsWith('/api/verify/check') || request.method() !== 'POST') return void request.continue();
      sent.push(JSON.parse(request.postData() ?? '{}').code);
    });
    // Long before the code: Chromium lets requests pass for a moment after it says that it keeps them back.
    await page.setRequestInterception(true);
    const opened = { page, sent };
    windows.set(place, opened);
    return opened;
  };
  /** Comes to the field on a page that keeps back what it sends once the code is whole; answers what was sent. */
  const come = async (place: Place, width: number, dir = 'ltr') => {
    const { url, reach, field } = place;
    const { page, sent } = windows.get(place) ?? (await openFor(place));
    // It would go on with the code that it has sent; and where the hash alone differs, it would stay.
    if (page.url() !== 'about:blank') await page.evaluate(() => sessionStorage.clear());
    await page.goto('about:blank');
    sent.length = 0;
    await page.setViewport({ width, height: 700 });
    await page.goto(url(world));
    await page.evaluate((value) => {
      document.documentElement.dir = value;
    }, dir);
    await reach(page);
    await page.waitForSelector(field, { visible: true });
    await page.waitForFunction((selector) => document.activeElement?.matches(selector), {}, field);
    return { page, sent };
  };

  test('each page that has one is tried here', () => {
    const folders = ['assets', 'scripts/dev-stack'];
    const pages = folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    );
    const found = pages.filter(
      (name) => name.endsWith('.html') && readFileSync(join(ROOT, name), 'utf8').includes('one-time-code'),
    );
    expect(found.toSorted()).toEqual(PLACES.map(({ source }) => source).toSorted());
  });

  // Once as a paste or the browser's own filling in has it: at one stroke, with what stands between the digits.
  const ways: readonly (readonly [string, readonly number[], (page: Page) => Promise<void>])[] = [
    ['filled in', [320], (page) => page.keyboard.sendCharacter(' 868-877 ')],
    ['typed', [360, 1280], (page) => page.keyboard.type('868877')],
  ];
  test.each(ways)('shows six digits while they are %s, and looks alike, at %j pixels', async (_, widths, fill) => {
    const styles = new Map<number, unknown[]>(widths.map((width) => [width, []]));
    for (const place of PLACES) {
      const { page } = await come(place, widths[0] ?? 0);
      await fill(page);
      for (const width of widths) {
        await setWidth(page, width);
        const { field, fills, style } = await look(page, place.field);
        expect([place.source, field]).toEqual([place.source, { value: '868877', hasFocus: true, scrollLeft: 0 }]);
        expect([place.source, style.hasEdge, style.ring]).toEqual([place.source, true, 'solid']);
        expect([place.source, fills]).toEqual([place.source, true]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        styles.get(width)?.push(style);
      }
    }
    for (const all of styles.values()) expect(all).toEqual(PLACES.map(() => all[0]));
  });

  test('the sixth digit sends it, also among blanks and dashes, and from right to left', async () => {
    for (const place of PLACES) {
      const { page, sent } = await come(place, 360, 'rtl');
      await page.keyboard.type('86-88 7');
      expect(sent).toEqual([]);
      await page.keyboard.type('7');
      await untilSo(
        async () => sent.length,
        (count) => count > 0,
      );
      expect([place.source, sent]).toEqual([place.source, ['868877']]);
      const { field } = await look(page, place.field);
      expect(field).toEqual({ value: '868877', hasFocus: true, scrollLeft: 0 });
    }
  });
});
