// npm run demo -- --browser: somebody signs up at the shop of npm start, pays, adds a second passkey, loses the first,
// and comes back. Chromium's virtual authenticator has the passkeys: nobody has to touch anything.
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { startShell, startWindow } from '../dev-stack/browser.ts';
import { createPasskeys, type Passkeys } from '../dev-stack/browser-passkeys.ts';
import { chromium } from '../dev-stack/chromium.ts';
import { STACK_FILE, type Stack } from '../start.ts';
import { mailFor } from './waiting.ts';

const SIZE = { width: 440, height: 760 };
/** The height of a window's own bar. */
const BAR = 90;
/** How long each scene stays in the window for the viewer. */
const LOOK_MS = 1_500;
const NO_BROWSER = `there is no Chromium or Chrome where this looks for one.
Install one, or say where it is:  CHROMIUM=/path/to/chrome npm run demo -- --browser`;

/** Shows a scene: its words, and a picture of it, or time to look. */
type Show = (page: Page, name: string, words: string) => Promise<void>;

/**
 * Plays the demo in a window. With a folder for pictures, or without a screen, it plays without a window and takes six
 * pictures. Throws where there is no browser.
 */
export async function playInBrowser(stack: Stack, wanted: { readonly pictures: string | undefined }): Promise<void> {
  if (!chromium) throw new Error(NO_BROWSER);
  const pictures = wanted.pictures ?? (hasScreen() ? undefined : join(dirname(STACK_FILE), 'demo'));
  const own = await (pictures === undefined
    ? startWindow(`--window-size=${SIZE.width},${SIZE.height + BAR}`)
    : startShell());
  const begun = performance.now();
  try {
    await play(stack, own.browser, await showing(pictures));
    console.log(`\nDone in ${Math.round((performance.now() - begun) / 1000)} s.`);
    if (pictures !== undefined) return console.log(`Six pictures: ${pictures}`);
    console.log('Look around, then close the window.');
    await new Promise((resolve) => own.browser.once('disconnected', resolve));
  } finally {
    await own.close();
  }
}

function hasScreen(): boolean {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY);
}

async function showing(pictures: string | undefined): Promise<Show> {
  if (pictures !== undefined) await mkdir(pictures, { recursive: true });
  let count = 0;
  return async (page, name, words) => {
    console.log(`${++count}. ${words}`);
    await page.bringToFront();
    if (pictures === undefined) return Bun.sleep(LOOK_MS);
    const path = join(pictures, `${count}-${name}.png`) as `${string}.png`;
    await page.screenshot({ path });
    console.log(`   ${path}`);
  };
}

async function play(stack: Stack, browser: Browser, show: Show): Promise<void> {
  const who = `maya-${crypto.randomUUID().slice(0, 4)}@example.com`;
  const account = `${stack.vault.replace('127.0.0.1', 'localhost')}/account`;
  const passkeys = createPasskeys();
  const laptop = await browser.createBrowserContext();
  const shop = await open(laptop, passkeys, stack.shop);
  await signUp(stack, shop, who, show);
  await pay(browser, shop, passkeys, show);
  const page = await open(laptop, passkeys, account);
  await addKey(page, show);
  await laptop.close();
  const phone = await open(await browser.createBrowserContext(), passkeys.only(1), account);
  await comeBack(phone, show);
}

async function open(context: BrowserContext, passkeys: Passkeys, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.setViewport(SIZE);
  // A payment opens as a window: the browser's own sheet cannot be driven.
  await page.evaluateOnNewDocument(() => Reflect.deleteProperty(window, 'PaymentRequest'));
  await passkeys.attach(page);
  await page.goto(url);
  return page;
}

async function signUp(stack: Stack, page: Page, who: string, show: Show): Promise<void> {
  await type(page, 'who', who);
  await press(page, 'who-go');
  await seen(page, 'code');
  const [code = ''] = /\b\d{6}\b/.exec((await mailFor(stack, who)).text) ?? [];
  await page.type('#digits', code.slice(0, 5));
  await show(page, 'sign-up', `${who} signs up at a shop, with the code of a mail …`);
  await page.type('#digits', code.slice(5));
  // The passkey is made, and the account is registered.
  await press(page, 'money-go');
}

async function pay(browser: Browser, shop: Page, passkeys: Passkeys, show: Show): Promise<void> {
  const opened = browser.waitForTarget((one) => one.url().includes('/pay/confirm'));
  await press(shop, 'pay-go');
  const confirm = await (await opened).asPage();
  await confirm.setViewport(SIZE);
  await passkeys.attach(confirm);
  await seen(confirm, 'approve:not([disabled])');
  await show(confirm, 'pay', '… makes a passkey, and pays with it: two teas, 1.25 USDC of test money.');
  await press(confirm, 'approve');
  await seen(shop, 'receipt');
  await show(shop, 'receipt', 'The shop’s server has checked the payment.');
}

async function addKey(page: Page, show: Show): Promise<void> {
  await signIn(page);
  await press(page, 'add');
  await press(page, 'pick-here-more summary');
  await type(page, 'key-name', 'My phone');
  await press(page, 'pick-here');
  await press(page, 'confirm-go');
  await press(page, 'done-go');
  await seen(page, 'keys li:nth-child(2)');
  await page.$eval('#keys', (list) => list.scrollIntoView({ block: 'center' }));
  await show(page, 'second-passkey', 'A second passkey opens the same account: the one on the phone.');
}

/** The first passkey is gone with the laptop: the phone has the second alone, and nothing stored. */
async function comeBack(page: Page, show: Show): Promise<void> {
  await signIn(page);
  await seen(page, 'money .amount');
  await show(page, 'back', 'The laptop is lost. The phone opens the account, and the money is there.');
  await press(page, 'keys li:first-child button');
  await press(page, 'remove');
  await press(page, 'confirm-go');
  await seen(page, 'done');
  await show(page, 'lost-removed', 'The lost passkey is removed: a finder of the laptop cannot use it.');
}

/** Signs in with the passkey; an account that the chain does not know yet takes a second signature. */
async function signIn(page: Page): Promise<void> {
  await press(page, 'sign-in');
  const asked = await page.waitForFunction(() => {
    if (document.getElementById('home')?.hidden === false) return 'in';
    return document.getElementById('start-notice')?.checkVisibility() && 'again';
  });
  if ((await asked.jsonValue()) === 'again') await press(page, 'sign-in');
  await seen(page, 'home');
}

/** Waits until the element can be seen; the text behind the id continues the selector. */
async function seen(page: Page, id: string): Promise<void> {
  await page.waitForSelector(`#${id}`, { visible: true });
}

/** A locator tries again where a list is redrawn between the look and the click. */
async function press(page: Page, id: string): Promise<void> {
  await page.locator(`#${id}`).click();
}

async function type(page: Page, id: string, text: string): Promise<void> {
  await page.locator(`#${id}`).click({ count: 3 });
  await page.type(`#${id}`, text);
}
