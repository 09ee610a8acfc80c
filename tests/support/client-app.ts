// Pages of an app on an origin of its own, in a browser with passkeys in software, and the vault that they use.
import { Hex } from 'ox';
import type { BrowserContext, Page } from 'puppeteer-core';
import type { OwnBrowser } from '../../scripts/dev-stack/browser.ts';
import { createHeldPasskey } from '../../scripts/dev-stack/browser-passkeys.ts';
import { keepWorking } from './background.ts';
import { closeWindows, createPasskeys, type Passkeys, type PayWorld, startPayWorld } from './pay.ts';
import { secondAddress } from './second-account.ts';

/** The world of an app. */
export interface AppWorld extends PayWorld {
  /** Serves a page of the app, in which the vault of the documents is this one. */
  put(path: string, html: string): void;
  /** Serves `/blank`, whose policy allows the vault's origin alone, as docs/client.md says it must. */
  putBlank(moreScripts?: string): void;
  /** Opens a page of the app, in a browser that has nothing stored: a profile of the world's, or of another one. */
  open(
    path: string,
    own?: OwnBrowser,
    passkeys?: Passkeys,
  ): Promise<{ readonly page: Page; readonly passkeys: Passkeys }>;
  closePages(): Promise<void>;
  /** An expression of a page: a client. */
  readonly client: string;
}

const VAULT = 'https://vault.example.com';

/** Starts it, with settings of the vault. */
export async function startAppWorld(
  more: Readonly<Record<string, string>> = {},
  kind: { readonly pagesOnly?: boolean; readonly relayOnly?: boolean } = {},
): Promise<AppWorld> {
  const world = await startPayWorld({ ...kind, more: { MAX_VERIFY_SENDS_PER_IP: '1000', ...more } });
  const { own, origin, shop, pages, t } = world;
  const endWork = keepWorking(t, 100);
  const contexts: BrowserContext[] = [];
  const put = (path: string, html: string) => void pages.set(path, html.replaceAll(VAULT, origin));
  return {
    ...world,
    put,
    putBlank(moreScripts = '') {
      const policy = `default-src 'none'; script-src ${origin}${moreScripts}; connect-src ${origin}`;
      const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
      put('/blank', `<!doctype html>${meta}<title>App</title><button id="buy">Buy</button>`);
    },
    async open(path, { browser } = own, passkeys = createPasskeys()) {
      const context = await browser.createBrowserContext();
      contexts.push(context);
      const page = await context.newPage();
      await passkeys.attach(page);
      await page.goto(shop + path);
      return { page, passkeys };
    },
    async closePages() {
      await closeWindows(world);
      for (const context of contexts.splice(0)) await context.close();
    },
    client: clientAt(origin),
    async stop() {
      await endWork();
      await world.stop();
    },
  };
}

/** An expression of a page: a client of the vault at this origin. */
function clientAt(origin: string): string {
  return `import('${origin}/client.js').then(({ createClient }) => createClient({ url: '${origin}' }))`;
}

/** Clicks the button of a shop's page, which pays an order by the client; `window.paid` is what comes of it. */
export async function clickToPay(shop: Page, origin: string, order: object): Promise<void> {
  const words = JSON.stringify(order);
  await shop.evaluate(
    `${clientAt(origin)}.then((vault) => { buy.onclick = () => { window.paid = vault.pay(${words}); }; })`,
  );
  await shop.bringToFront();
  await shop.click('#buy');
}

/** Opens a page of the app as somebody with a passkey and some USDC, whose account does not exist yet. */
export async function openAsPayer(world: AppWorld, path: string, usdc: bigint) {
  const passkeys = createHeldPasskey();
  const { key } = passkeys.twin();
  const account = await secondAddress(world.chain.rpc, world.contracts, key);
  await world.fund(account, { usdc });
  const [credentialId = ''] = passkeys.ids();
  const payer = { credentialId, account, pubKeyX: Hex.fromBytes(key.x), pubKeyY: Hex.fromBytes(key.y) };
  return { ...(await world.open(path, world.own, passkeys)), account, payer };
}

/** Signs up at the plain example app, which asks by the browser's own prompts; answers the DID. */
export async function signUp(
  { t }: Pick<PayWorld, 't'>,
  page: Page,
  email: string,
  codeFor: (question: string) => string = () => t.codeFor(email),
): Promise<string> {
  const answer = (message: string) => (message.includes('email') ? email : codeFor(message));
  page.on('dialog', (dialog) => void dialog.accept(answer(dialog.message())));
  await pressJoin(page);
  const shown = await page.waitForFunction(() => /did:\S+/.exec(document.body.textContent ?? '')?.[0]);
  return (await shown.jsonValue()) as string;
}

/** Presses Sign up there: its script asks for the vault's state first, and the page counts as loaded before that. */
async function pressJoin(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector<HTMLElement>('#join')?.onclick != null);
  await page.click('#join');
}
