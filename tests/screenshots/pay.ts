// bun tests/screenshots/pay.ts: makes docs/images/pay-*.png, the confirm page against a real chain and bundler. Run it
// when the page changes; the files are committed.
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { USDC } from '../../scripts/dev-stack/usdc.ts';
import { confirmWindow, createPasskeys, openShop, part, press, startPayWorld } from '../support/pay.ts';
import { toIndexed } from './png.ts';

const IMAGES = join(import.meta.dir, '../../docs/images');
const WIDTH = 440;
const NARROW = 320;
const TEA = {
  to: '0x52908400098527886E0F7030069857D2E4169EE7',
  amount: '1250000',
  token: USDC,
  chainId: 84532,
  label: 'Two teas',
};
const TOTAL = { label: 'Two teas', amount: { currency: 'USD', value: '1.25' } };

const world = await startPayWorld();
const passkeys = createPasskeys();
let id = 0;

/** Opens the page for a payment as a popup, in this scheme and width. */
async function open(
  more: object = {},
  { width = WIDTH, scheme = 'light', total = TOTAL }: { width?: number; scheme?: string; total?: object } = {},
): Promise<{ page: Page; close: () => Promise<void> }> {
  const shop = await openShop(world);
  await shop.evaluate(
    (url, message, origin) => {
      const popup = window.open(url, 'vault-pay', 'popup');
      addEventListener('message', () => popup?.postMessage(message, origin));
    },
    `${world.origin}/pay/confirm?mode=popup&origin=${encodeURIComponent(world.shop)}`,
    { vault: 'pay', type: 'request', id: `image-${id++}`, data: { ...TEA, ...more }, total },
    world.origin,
  );
  const page = await confirmWindow(world, passkeys);
  // Tall enough for the bar of buttons to stand where it belongs.
  await page.setViewport({ width, height: 1100, deviceScaleFactor: 1 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const close = async () => {
    await page.close();
    await shop.close();
  };
  return { page, close };
}

async function shoot(page: Page, name: string): Promise<void> {
  const path = join(IMAGES, `pay-${name}.png`);
  const { width = WIDTH } = page.viewport() ?? {};
  const height = await page.$eval('section:not([hidden])', (one) => Math.ceil(one.getBoundingClientRect().bottom) + 16);
  const shot = await page.screenshot({ clip: { x: 0, y: 0, width, height } });
  const size = await Bun.write(path, toIndexed(shot));
  console.log(`docs/images/pay-${name}.png  ${size} bytes`);
}

/** The approve button is drawn as it is once it answers. */
const armed = (page: Page) => page.waitForSelector('#approve:not([disabled])', { visible: true });

try {
  const first = await open();
  await part(first.page, 'setup');
  await shoot(first.page, 'setup');
  await press(first.page, 'newcomer');
  await first.page.$eval('#name', (field) => ((field as HTMLInputElement).value = 'Tea money'));
  await press(first.page, 'create');
  await press(first.page, 'add');
  await first.page.waitForSelector('#funds-code path');
  await shoot(first.page, 'funds');
  const account = await first.page.$eval('#from', (element) => element.textContent ?? '');
  await first.close();
  await world.fund(account, { wei: 10n ** 18n, usdc: 100_000_000n });
  for (const [name, options] of [
    ['light', {}],
    ['dark', { scheme: 'dark' }],
    ['narrow', { width: NARROW }],
  ] as const) {
    const { page, close } = await open({}, options);
    await armed(page);
    await shoot(page, name);
    await close();
  }
  const warned = await open(
    { amount: '50000000' },
    { total: { label: 'Two teas', amount: { currency: 'USD', value: '0.50' } } },
  );
  await armed(warned.page);
  await shoot(warned.page, 'warning');
  await warned.close();
  world.upstream.set('down', 'eth_sendUserOperation');
  const failed = await open();
  await press(failed.page, 'approve');
  await part(failed.page, 'pending');
  await failed.page.$eval('#pending details', (details) => ((details as HTMLDetailsElement).open = false));
  await shoot(failed.page, 'pending');
  await failed.close();
  world.upstream.set();
  const paid = await open();
  await press(paid.page, 'approve');
  await part(paid.page, 'done');
  await shoot(paid.page, 'done');
  await paid.close();
} finally {
  await world.stop();
}
