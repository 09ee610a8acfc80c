import { afterAll, afterEach, beforeAll } from 'bun:test';
import type { BrowserContext, Page } from 'puppeteer-core';
import { awaitSelector, createPasskeys, type Passkeys, type PayWorld, press, startPayWorld } from './pay.ts';

/** A device of a person: a browser that stores its own things, and its own authenticator. */
export interface Device {
  readonly page: Page;
  readonly passkeys: Passkeys;
  /** Goes to a screen of the account page by its hash, as a link does. */
  go(hash: string): Promise<void>;
  /** What the page reads, once the screen is there. */
  screen(part: string): Promise<string>;
  close(): Promise<void>;
}

/** Where a device begins, and what it has. */
export interface DeviceOptions {
  readonly hash?: string;
  readonly passkeys?: Passkeys;
  readonly context?: BrowserContext;
  /** What is done with the page before it loads. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/** The payment world's pages for the tests of a file, and the devices of each test, which end with it. */
export function accountPages(begin: (opened: PayWorld) => void) {
  let world: PayWorld;
  const devices: Device[] = [];
  beforeAll(async () => {
    world = await startPayWorld({ pagesOnly: true });
    begin(world);
  });
  afterAll(() => world.stop());
  afterEach(async () => {
    for (const device of devices.splice(0)) await device.close();
    world.upstream.set();
  });
  const open = async (options: DeviceOptions = {}): Promise<Device> => {
    const made = await openDevice(world, options);
    devices.push(made);
    return made;
  };
  return {
    open,
    /** A new device on which an account was created, with funds. */
    async owner(options?: DeviceOptions): Promise<Device & { readonly account: `0x${string}` }> {
      const here = await open(options);
      return { ...here, account: await createHere(world, here) };
    },
    keysOf: async (account: string) => (await world.t.call('GET /api/accounts/state', { account })).body.keys,
  };
}

/** A new device at the account page; with `context` another page of a browser that is there. */
export async function openDevice(
  { own, origin, shift }: Pick<PayWorld, 'own' | 'origin' | 'shift'>,
  { hash = '', passkeys = createPasskeys(), ...given }: DeviceOptions = {},
): Promise<Device> {
  const context = given.context ?? (await own.browser.createBrowserContext());
  const page = await context.newPage();
  await page.evaluateOnNewDocument((ahead) => {
    const now = Date.now.bind(Date);
    Date.now = () => now() + ahead;
  }, shift());
  await passkeys.attach(page);
  await given.prepare?.(page);
  await page.goto(`${origin}/account${hash === '' ? '' : `#${hash}`}`);
  return {
    page,
    passkeys,
    async go(to) {
      await page.evaluate((next) => {
        location.hash = next;
      }, to);
    },
    async screen(part) {
      await awaitSelector(page, `#${part}`);
      // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
      return page.$eval(`#${part}`, (element) => (element as HTMLElement).innerText);
    },
    close: () => (given.context ? page.close() : context.close()),
  };
}

/** Creates an account on the device, with funds; answers its address in lower case. */
export async function createHere(
  world: Pick<PayWorld, 'fund'>,
  { page, screen }: Device,
  funds: { wei?: bigint; usdc?: bigint } = { wei: 10n ** 18n, usdc: 12_500_000n },
): Promise<`0x${string}`> {
  await press(page, 'create');
  await screen('home');
  const address = await page.$eval('#full', (element) => element.textContent ?? '');
  await world.fund(address, funds);
  return address as `0x${string}`;
}

/** Confirms the change that is shown, waits until it is done, and goes back; answers what the last screen says. */
export async function confirm({ page, screen }: Device): Promise<string> {
  await press(page, 'confirm-go');
  const said = await screen('done');
  await press(page, 'done-go');
  return said;
}

/** Presses a button by the label that screen readers read. */
export async function pressNamed(page: Page, name: string): Promise<void> {
  await awaitSelector(page, `button[aria-label="${name}"]`);
  await page.click(`button[aria-label="${name}"]`);
}

/** Replaces what is in a field. */
export async function type(page: Page, id: string, text: string): Promise<void> {
  await awaitSelector(page, `#${id}`);
  await page.click(`#${id}`, { count: 3 });
  await page.keyboard.press('Backspace');
  await page.type(`#${id}`, text);
}

/** Proves an address at a form of the page, by the code that was sent there. */
export async function proveAddress(
  { page, screen }: Pick<Device, 'page' | 'screen'>,
  email: string,
  codeFor: (email: string) => string | Promise<string>,
): Promise<void> {
  await type(page, 'email', email);
  await page.keyboard.press('Enter');
  await screen('code-form');
  await type(page, 'code', await codeFor(email));
}

/** Makes a passkey on this device, up to the question whether it is to be added. */
export async function makeHere({ page, screen }: Device, name = 'Another'): Promise<void> {
  await press(page, 'add');
  await screen('pick');
  await page.click('#pick-here-more summary');
  await type(page, 'key-name', name);
  await press(page, 'pick-here');
  await screen('confirm');
}

/** Adds a passkey on this device. */
export async function addHere(device: Device, name: string): Promise<void> {
  await makeHere(device, name);
  await confirm(device);
  await device.screen('home');
}

/** The names of the keys that the page lists. */
export function keyNames(page: Page): Promise<string[]> {
  return page.$$eval('#keys strong', (all) => all.map((one) => one.textContent ?? ''));
}

/** Signs in with a passkey. An account that is not on-chain yet takes a second signature. */
export async function signIn(page: Page): Promise<void> {
  await press(page, 'sign-in');
  const asked = await page.waitForFunction(() => {
    const says = document.getElementById('start-notice')?.textContent?.includes('once more');
    return says ? 'again' : document.getElementById('start')?.hidden && 'done';
  });
  if ((await asked.jsonValue()) === 'again') await press(page, 'sign-in');
}

/** Presses "Check now" of a recovery that is waited for. The page looks by itself too, and may have been faster. */
export async function checkNow(page: Page): Promise<void> {
  await page.click('#waiting-check').catch(() => undefined);
}

/** The accounts that the browser of one of the vault's pages stores, by their addresses. */
export function storedAccounts(page: Page): Promise<string[]> {
  return page.evaluate(
    () =>
      new Promise<string[]>((resolve) => {
        const request = indexedDB.open('vault-pay', 3);
        request.onupgradeneeded = () => request.result.createObjectStore('accounts', { keyPath: 'address' });
        request.onsuccess = () => {
          const all = request.result.transaction('accounts').objectStore('accounts').getAll();
          all.onsuccess = () => {
            request.result.close();
            resolve(all.result.map((one: { address: string }) => one.address));
          };
        };
      }),
  );
}
