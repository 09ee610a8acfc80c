// bun tests/screenshots/approve.ts [FOLDER]: makes docs/images/approve.png; with a folder it takes the review of an
// approval there, narrow and wide, light and dark, asked for in a popup and by a link. Run it when the page changes.
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { type AppWorld, startAppWorld } from '../support/client-app.ts';
import { confirmWindow, createPasskeys, makeAccount, press } from '../support/pay.ts';
import { toIndexed } from './png.ts';

const IMAGE = join(import.meta.dir, '../../docs/images/approve.png');
const FOLDER = process.argv[2];
const TEXT = 'Pay out 250.00 EUR to Bob Example.\nPayout 17';

/** Takes the page as it is. */
async function shoot(page: Page, path: string, width: number, scheme: string): Promise<void> {
  await page.setViewport({ width, height: 560 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const size = await Bun.write(path, toIndexed(await page.screenshot({ fullPage: true })));
  console.log(`${path}  ${size} bytes`);
}

/** Has an app ask, and waits for the text. */
async function asked(world: AppWorld, shop: Page): Promise<Page> {
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const request = JSON.stringify({ id: 'payout-17', text: TEXT, expires });
  await shop.evaluate(
    `${world.client}.then((vault) => (document.querySelector('#buy').onclick = () => void vault.approve(${request})))`,
  );
  await shop.click('#buy');
  const page = await confirmWindow(world);
  await page.waitForSelector('#approve:not([disabled])', { visible: true });
  return page;
}

const world = await startAppWorld();
try {
  await makeAccount(world, createPasskeys());
  const shop = await world.own.browser.newPage();
  await shop.goto(world.shop);
  const popup = await asked(world, shop);
  if (!FOLDER) await shoot(popup, IMAGE, 480, 'light');
  for (const width of FOLDER ? [320, 480, 1280] : [])
    for (const scheme of ['light', 'dark'])
      await shoot(popup, join(FOLDER ?? '', `popup-${width}-${scheme}.png`), width, scheme);
  await press(popup, 'other');
  await popup.waitForSelector('#setup:not([hidden])');
  if (FOLDER) await shoot(popup, join(FOLDER, 'setup.png'), 480, 'light');
  const text = JSON.stringify({
    id: 'payout-17',
    text: TEXT,
    expires: new Date(Date.now() + 3_600_000),
    returnUrl: world.shop,
  });
  for (const lang of FOLDER ? ['de', 'fr', 'es'] : []) {
    await shop.goto(
      `${world.origin}/approve?mode=redirect&lang=${lang}&request=${Buffer.from(text).toString('base64url')}`,
    );
    await shop.waitForSelector('#approve:not([disabled])', { visible: true });
    await shoot(shop, join(FOLDER ?? '', `link-${lang}.png`), 360, 'light');
  }
} finally {
  await world.stop();
}
