import type { BrowserContext, Page } from 'puppeteer-core';
import { awaitSelector, confirmWindow, type Passkeys, type PayData, type PayWorld, type UpstreamCall } from './pay.ts';

/** Operations that the bundler was sent and does not have. */
export interface Kept {
  readonly operations: Readonly<Record<string, string>>[];
  /** Gives them to the bundler after all, and lets everything pass from then on; answers what it says. */
  release(): Promise<object[]>;
}

/** Keeps operations from the bundler, and answers this in its place: that it took them, without more. */
export function keepSent({ upstream }: Pick<PayWorld, 'upstream'>, answer: object = TAKEN): Kept {
  const calls: UpstreamCall[] = [];
  const kept: Kept = {
    operations: [],
    release() {
      upstream.answer = undefined;
      return Promise.all(calls.map(({ pass }) => pass()));
    },
  };
  upstream.answer = async (call) => {
    if (call.method !== 'eth_sendUserOperation') return undefined;
    calls.push(call);
    kept.operations.push(call.params[0] as Readonly<Record<string, string>>);
    return answer;
  };
  return kept;
}

const TAKEN = { result: `0x${'cd'.repeat(32)}` };

/** What a shop's page asks for in a popup or by a link. */
export interface Order {
  readonly id: string;
  readonly data: PayData;
}

/** What the vault says to the page that opened its popup. */
export interface Heard {
  readonly type: string;
  readonly reason?: string;
  readonly details?: Readonly<Record<string, string | number | null>>;
}

/** Opens the confirm page in a popup of a shop's page, which keeps what it hears. */
export async function openPopup(
  world: PayWorld,
  shop: Page,
  passkeys: Passkeys,
  { order, name = 'vault-pay' }: { readonly order: Order; readonly name?: string },
): Promise<Page> {
  await shop.bringToFront();
  await shop.evaluate(
    (url, request, target) => {
      const all: unknown[] = [];
      Object.assign(window, { heard: all });
      const popup = window.open(url, target, 'popup');
      addEventListener('message', ({ source, data }) => {
        if (source !== popup) return;
        all.push(data);
        if (data.type === 'ready') popup?.postMessage({ vault: 'pay', type: 'request', ...request }, '*');
      });
    },
    `${world.origin}/pay/confirm?mode=popup&origin=${encodeURIComponent(world.shop)}`,
    order,
    name,
  );
  return confirmWindow(world, passkeys);
}

/** The messages of the popup, without `ready`. */
export async function heardBy(shop: Page): Promise<Heard[]> {
  const all = await shop.evaluate(() => (window as unknown as { heard: Heard[] }).heard);
  return all.filter(({ type }) => type !== 'ready');
}

/** Waits for a message of this type. */
export async function hears(shop: Page, type: string): Promise<Heard> {
  const found = await shop.waitForFunction(
    (wanted) => (window as unknown as { heard: Heard[] }).heard.find((one) => one.type === wanted),
    { timeout: 60_000 },
    type,
  );
  return (await found.jsonValue()) as unknown as Heard;
}

/** Opens the confirm page by a link. */
export async function openLink(
  world: PayWorld,
  passkeys: Passkeys,
  order: Order,
  browser: Pick<BrowserContext, 'newPage'> = world.own.browser,
): Promise<Page> {
  const text = btoa(JSON.stringify({ ...order, returnUrl: `${world.shop}/` }));
  const page = await browser.newPage();
  await passkeys.attach(page);
  await page.goto(`${world.origin}/pay/confirm?mode=redirect&request=${encodeURIComponent(text)}`);
  return page;
}

/** The outcome in the link back to the shop. */
export async function outcomeOf(page: Page, id: string): Promise<object> {
  await awaitSelector(page, `#${id}`);
  const href = await page.$eval(`#${id}`, (link) => (link as HTMLAnchorElement).href);
  return JSON.parse(Buffer.from(new URL(href).hash.replace('#vault-pay=', ''), 'base64url').toString());
}

/** Moves a page's own clock on. */
export function skip(page: Page, ms: number): Promise<void> {
  return page.evaluate((by) => {
    const now = Date.now;
    Date.now = () => now() + by;
  }, ms);
}

/** Every text that the page has shown since, as the person would have read it. */
export async function recordTexts(page: Page): Promise<() => Promise<string>> {
  await page.evaluate(() => {
    const seen = new Set<string>();
    Object.assign(window, { seen });
    const note = () => {
      for (const section of document.querySelectorAll('main section:not([hidden])')) {
        seen.add((section as HTMLElement).textContent ?? '');
      }
    };
    new MutationObserver(note).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
    note();
  });
  return () => page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen].join('\n'));
}
