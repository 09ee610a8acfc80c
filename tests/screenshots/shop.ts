// bun tests/screenshots/shop.ts [FOLDER]: makes docs/images/shop-*.png and inbox.png, the shop and the inbox of npm
// start against a real chain; with a folder it takes every screen there, in three widths, light and dark. Run it when
// the pages change.
import type { Page } from 'puppeteer-core';
import { confirmWindow, press } from '../support/pay.ts';
import { screen, sendAddress, startShopWorld } from '../support/shop-world.ts';
import { shoot as shootPage } from './shoot.ts';

const FOLDER = process.argv[2];

const world = await startShopWorld({ BRAND_NAME: 'Tea House', BRAND_COLOR: '#0a6b48,#57d9a3' });

async function shoot(page: Page, name: string, shown?: { readonly width: number }): Promise<void> {
  await page.bringToFront();
  // The frame of a mail is as high as the mail is at this width.
  const settle = () => Bun.sleep(FOLDER ? 150 : 500);
  await shootPage(page, { name, folder: FOLDER, shownWidth: shown?.width, settle });
}

try {
  const { page: inbox, context } = await world.come({}, world.inbox.url);
  await screen(inbox, 'empty');
  await shoot(inbox, 'inbox-empty');
  const { page, passkeys } = await world.come();
  await sendAddress(page, 'nonsense');
  await page.waitForSelector('#who-fault:not([hidden])');
  await shoot(page, 'shop-fault');
  await sendAddress(page, '+14155550123');
  await screen(page, 'code');
  await press(page, 'code-other');
  const email = 'alice@example.com';
  await sendAddress(page, email);
  await screen(page, 'code');
  await shoot(page, 'shop-code');
  const [code = ''] = /\b\d{6}\b/.exec((await world.mail.waitFor(email)).text) ?? [];
  await inbox.waitForSelector('#list li:nth-child(2)');
  await shoot(inbox, 'inbox', { width: 1000 });
  await inbox.click('#list li:nth-child(2) a');
  await shoot(inbox, 'inbox-sms');
  await inbox.evaluate(() => {
    location.hash = '#list';
  });
  await page.bringToFront();
  await page.type('#digits', code === '111111' ? '222222' : '111111');
  await page.waitForSelector('#digits-fault:not([hidden])');
  await shoot(page, 'shop-wrong');
  await world.chain.rpc('evm_setAutomine', [false]);
  await page.type('#digits', code);
  await screen(page, 'working');
  await shoot(page, 'shop-working');
  await world.chain.rpc('evm_setAutomine', [true]);
  await world.chain.rpc('anvil_mine', ['0x1']);
  await screen(page, 'money');
  await shoot(page, 'shop-money');
  await press(page, 'money-go');
  await screen(page, 'pay');
  await shoot(page, 'shop-pay', { width: 440 });
  await page.bringToFront();
  await page.evaluate('delete window.PaymentRequest');
  await press(page, 'pay-go');
  const confirm = await confirmWindow(world, passkeys);
  await press(confirm, 'cancel');
  await screen(page, 'pay-notice');
  await shoot(page, 'shop-cancelled');
  await page.bringToFront();
  await press(page, 'pay-go');
  const again = await confirmWindow(world, passkeys);
  await world.chain.rpc('evm_setAutomine', [false]);
  await press(again, 'approve');
  await Bun.sleep(2_000);
  await again.close();
  await screen(page, 'waiting');
  await shoot(page, 'shop-waiting');
  await world.chain.rpc('evm_setAutomine', [true]);
  await world.chain.rpc('anvil_mine', ['0x1']);
  await screen(page, 'receipt');
  await shoot(page, 'shop-receipt', { width: 440 });
  await page.click('#receipt summary');
  await shoot(page, 'shop-details');
  await context.close();
} finally {
  await world.stop();
}
