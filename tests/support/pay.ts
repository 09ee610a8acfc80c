import type { BrowserContext, Frame, Page, Target } from 'puppeteer-core';
import { systemClock } from '../../lib/base/clock.ts';
import type { Mailer } from '../../lib/delivery/smtp.ts';
import type { Env } from '../../lib/env.ts';
import { type OwnBrowser, startBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { createPasskeys, type Passkeys } from '../../scripts/dev-stack/browser-passkeys.ts';
import { type Chain, type ChainOptions, startChain } from '../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { mintUsdc, placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import { LOCAL_MONEY, startSponsoredBundler } from './bundler.ts';
import { chainVars } from './chain-vars.ts';
import { waitLimitMs } from './limits.ts';
import { startVault, type TestVault } from './vault.ts';

export { createPasskeys, type Passkeys };

/** Payment data, as a shop gives it. */
export type PayData = Readonly<Record<string, unknown>>;

/** What the shop's page told of one payment. */
export interface Told {
  readonly methodName?: string;
  readonly details?: Readonly<Record<string, string | number>>;
  readonly error?: string;
  readonly message?: string;
}

/** Chain, bundler, paymaster, vault, a shop on another origin, and Chromium with a passkey in software. */
export interface PayWorld {
  readonly chain: Chain;
  readonly contracts: Deployment;
  readonly t: TestVault;
  readonly own: OwnBrowser;
  /** The vault's origin, as a browser sees it. */
  readonly origin: string;
  readonly shop: string;
  /** What the shop's pages are, by path; `/` is a button that a test gives its work. */
  readonly pages: Map<string, string>;
  /** What stands between the vault and its bundler may be told to fail. */
  readonly upstream: Upstream;
  balanceOf(address: string, token: 'native' | 'usdc'): Promise<bigint>;
  fund(address: string, funds: { wei?: bigint; usdc?: bigint }): Promise<void>;
  /** Moves the vault's clock and the chain's on; pages that are opened from then on follow. */
  later(seconds: number): Promise<void>;
  /** How far they are ahead of this machine's, in milliseconds. */
  shift(): number;
  stop(): Promise<void>;
}

/**
 * The line to the bundler: `down` answers 503, `deaf` passes on and loses the answer, `refusing` answers a JSON-RPC
 * error; of some methods.
 */
export interface Upstream {
  mode: 'up' | 'down' | 'deaf' | 'refusing';
  methods: readonly string[];
  readonly calls: { readonly method: string; readonly params: readonly unknown[] }[];
  /** Answers a call in the bundler's place, by `{ result }` or `{ error }`; `pass` asks the bundler. */
  answer: ((call: UpstreamCall) => Promise<object | undefined>) | undefined;
  /** Sets both; without arguments all is well again. */
  set(mode?: Upstream['mode'], ...methods: string[]): void;
}

/** What a world has besides its chain: further settings of the vault, and what sends its mail over SMTP. */
interface PayWorldOptions extends ChainOptions {
  readonly more?: Readonly<Record<string, string>>;
  readonly mail?: Mailer;
  readonly operatorFiles?: Env['operatorFiles'];
  readonly documentFetch?: Env['documentFetch'];
  /** Whether its browser shows pages only, and no payment handler. */
  readonly pagesOnly?: boolean;
  /** Whether nobody sends an operation there: then there is no bundler, and who asks it fails the file. */
  readonly relayOnly?: boolean;
}

/** A call to the bundler. */
export interface UpstreamCall {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly pass: () => Promise<object>;
}

/** Starts it all; about three seconds. */
export async function startPayWorld(given: PayWorldOptions = {}): Promise<PayWorld> {
  const { more = {}, mail, operatorFiles, documentFetch, pagesOnly = false, relayOnly = false, ...options } = given;
  const chain = await startChain(options);
  const contracts = await deployContracts(chain.rpc);
  await placeUsdc(chain.rpc);
  const sponsored = relayOnly ? undefined : await startSponsoredBundler(chain);
  const line = startLine(sponsored?.url);
  let shiftMs = 0;
  const now = () => systemClock.now() + shiftMs;
  const clock = {
    ...systemClock,
    now,
    // Time passes, also for the database (`timedBy`): beside one whose time of day alone jumps, nothing moves.
    monotonic: now,
    advance: () => Promise.reject(new Error('this clock goes by itself')),
  };
  const vars = {
    ...chainVars(chain.url, contracts),
    BUNDLER_URL: line.url,
    ...LOCAL_MONEY,
    RATE_LIMIT_PROXY_PER_IP: '100000',
  };
  const t = await startVault({ ...vars, ...more }, { clock, mail, operatorFiles, documentFetch });
  const shop = startShop();
  const own = await (pagesOnly ? startShell() : startBrowser());
  return {
    chain,
    contracts,
    t,
    own,
    origin: t.url.replace('127.0.0.1', 'localhost'),
    shop: shop.url,
    pages: shop.pages,
    upstream: line.upstream,
    async balanceOf(address, token) {
      const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
      if (token === 'native') return BigInt((await chain.rpc('eth_getBalance', [address, 'latest'])) as string);
      return BigInt((await chain.rpc('eth_call', [{ to: USDC, data }, 'latest'])) as string);
    },
    async fund(address, { wei, usdc }) {
      if (wei !== undefined) await chain.rpc('anvil_setBalance', [address, `0x${wei.toString(16)}`]);
      if (usdc !== undefined) await mintUsdc(chain.rpc, address as `0x${string}`, usdc);
    },
    shift: () => shiftMs,
    async later(seconds) {
      shiftMs += seconds * 1000;
      await chain.rpc('evm_increaseTime', [seconds]);
      await chain.rpc('anvil_mine', ['0x2']);
    },
    async stop() {
      await own.close();
      await shop.stop();
      await t.stop();
      await line.stop();
      await sponsored?.stop();
      await chain.stop();
      const asked = line.upstream.calls.map(({ method }) => method);
      if (relayOnly && asked.length > 0) throw new Error(`a bundler that is not there was asked ${asked}`);
    },
  };
}

/** A shop on an origin of its own. */
export function startShop() {
  const pages = new Map([['/', '<!doctype html><title>Shop</title><button id="buy">Buy</button>']]);
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const page = pages.get(new URL(request.url).pathname);
      if (page === undefined) return new Response(null, { status: 404 });
      return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    },
  });
  return { url: `http://localhost:${server.port}`, pages, stop: () => server.stop(true) };
}

function startLine(target?: string) {
  const upstream: Upstream = {
    mode: 'up',
    methods: [],
    calls: [],
    answer: undefined,
    set(mode = 'up', ...methods) {
      upstream.mode = mode;
      upstream.methods = methods;
      upstream.answer = undefined;
    },
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text();
      const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] };
      upstream.calls.push({ method, params });
      const isHit = upstream.methods.includes(method);
      if (target === undefined || (isHit && upstream.mode === 'down')) return new Response('down', { status: 503 });
      const error = { code: -32501, message: 'no' };
      if (isHit && upstream.mode === 'refusing') return Response.json({ jsonrpc: '2.0', id, error });
      const headers = { 'content-type': 'application/json' };
      const pass = async () => (await fetch(target, { method: 'POST', headers, body })).json() as Promise<object>;
      const own = await upstream.answer?.({ method, params, pass });
      if (own) return Response.json({ jsonrpc: '2.0', id, ...own });
      const answer = await fetch(target, { method: 'POST', headers, body });
      if (isHit && upstream.mode === 'deaf') return new Response('lost', { status: 502 });
      return new Response(await answer.text(), { headers });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, upstream, stop: () => server.stop(true) };
}

/** A page of the shop; with `context` in a browser that stores its own things. */
export async function openShop(
  { own, shop, context }: Pick<PayWorld, 'own' | 'shop'> & { readonly context?: BrowserContext },
  path = '/',
): Promise<Page> {
  const page = await (context ?? own.browser).newPage();
  await page.goto(shop + path);
  return page;
}

/** Makes an account on this browser and funds it, by a payment that is asked for and cancelled; answers its address. */
export async function makeAccount(world: PayWorld, passkeys: Passkeys): Promise<string> {
  const shop = await openShop(world);
  const to = '0x00000000000000000000000000000000000a11ce';
  await buy(shop, { method: `${world.origin}/pay`, data: { to, amount: '1', token: 'native', chainId: 84532 } });
  const page = await confirmWindow(world, passkeys);
  await makeNew(page);
  await part(page, 'review');
  const account = await page.$eval('#from', (element) => element.textContent ?? '');
  await world.fund(account, { wei: 10n ** 18n, usdc: 100_000_000n });
  await shop.close();
  await closeWindows(world);
  return account;
}

/**
 * Has the shop show a payment request when its button is clicked, and clicks it. The promise is what the shop is told
 * in the end.
 */
export async function buy(
  shop: Page | Frame,
  { method, data, total = { currency: 'USD', value: '1.00' }, id }: BuyOptions,
): Promise<{ told: Promise<Told> }> {
  const told = shop.evaluate(
    (methodNames, methodData, amount, requestId) =>
      new Promise<Told>((resolve) => {
        const act = async () => {
          try {
            const methods = methodNames.map((supportedMethods, i) => ({ supportedMethods, data: methodData[i] }));
            const request = new PaymentRequest(methods, {
              ...(requestId === null ? {} : { id: requestId }),
              total: { label: 'Total', amount },
            });
            (window as unknown as { request: PaymentRequest }).request = request;
            const response = await request.show();
            await response.complete('success');
            resolve({ methodName: response.methodName, details: response.details });
          } catch (error) {
            resolve({ error: (error as Error).name, message: (error as Error).message });
          }
        };
        const button = document.getElementById('buy');
        if (button) button.onclick = () => void act();
      }),
    [method].flat(),
    [data].flat(),
    total,
    id ?? null,
  );
  if ('bringToFront' in shop) await shop.bringToFront();
  await shop.click('#buy');
  const silence = Bun.sleep(waitLimitMs()).then((): Told => ({ error: 'silence' }));
  // A shop whose page is closed is told nothing.
  return { told: Promise.race([told, silence]).catch((error: Error) => ({ error: error.name })) };
}

interface BuyOptions {
  /** Identifiers, each with its own data. */
  readonly method: string | readonly string[];
  readonly data: PayData | readonly unknown[];
  readonly total?: { readonly currency: string; readonly value: string };
  readonly id?: string;
}

/** Shorter than a test's time: at its end the browser would be ended with it. */

const isConfirm = (one: Target) => /\/(?:pay\/confirm|approve)\b/.test(one.url());
/** Windows that a test has had: one that is still closing is not the next payment's. */
const had = new WeakSet<Target>();

/** The handler's window, once it is there and shows something. */
export async function confirmWindow({ own: { browser } }: Pick<PayWorld, 'own'>, passkeys?: Passkeys): Promise<Page> {
  const isNew = (one: Target) => isConfirm(one) && !had.has(one);
  const target = await browser.waitForTarget(isNew, { timeout: waitLimitMs() }).catch((cause) => {
    throw new Error(`no window among: ${browser.targets().map((one) => one.url())}`, { cause });
  });
  had.add(target);
  const page = await target.asPage();
  await passkeys?.attach(page);
  return page;
}

/** Waits until no window of the handler is left. Throws when one stays. */
export async function windowsGone({ own: { browser } }: Pick<PayWorld, 'own'>): Promise<void> {
  const end = Date.now() + waitLimitMs();
  while (browser.targets().some(isConfirm)) {
    if (Date.now() > end) throw new Error(`a window stays among: ${browser.targets().map((one) => one.url())}`);
    await Bun.sleep(20);
  }
}

/** Closes what is left of the handler's windows, so that the next test starts without any. */
export async function closeWindows(world: Pick<PayWorld, 'own'>): Promise<void> {
  for (const target of world.own.browser.targets().filter(isConfirm)) {
    // It may be closing already.
    await target
      .asPage()
      .then(
        (page) => page.close(),
        () => undefined,
      )
      .catch(() => undefined);
  }
  await windowsGone(world);
}

/** Clicks a button of the confirm page once it can be. */
export async function press(page: Page, id: string): Promise<void> {
  await awaitSelector(page, `#${id}:not([hidden]):not([disabled])`);
  // A button that closes its window may close it before the browser has answered the click.
  const closed = new Promise<boolean>((resolve) => page.once('close', () => resolve(true)));
  await page.click(`#${id}`).catch(async (error) => {
    if (!page.isClosed() && !(await Promise.race([closed, Bun.sleep(1000)]))) throw error;
  });
}

/** Has the page make a new account. */
export async function makeNew(page: Page): Promise<void> {
  await press(page, 'newcomer');
  await press(page, 'create');
}

/** Has the page find the account of a passkey. One that is not on-chain yet takes a second signature. */
export async function findAccount(page: Page, signatures: 1 | 2): Promise<void> {
  await press(page, 'find');
  if (signatures === 1) return;
  await awaitSelector(page, '#setup-notice');
  await press(page, 'find');
}

/** Waits until an element can be seen; says what is on the page instead when it does not come. */
export async function awaitSelector(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector, { visible: true }).catch(async (cause) => {
    // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
    throw new Error(`no ${selector} in: ${await page.evaluate(() => document.body.innerText)}`, { cause });
  });
}

/** What the open request of the shop's page says to `abort()`. */
export function abort(shop: Page): Promise<string> {
  return shop.evaluate(() =>
    (window as unknown as { request: PaymentRequest }).request.abort().then(
      () => 'aborted',
      (error: Error) => error.name,
    ),
  );
}

/**
 * Waits until the worker has given the window's request up: the browser then shows a message of its own, and tells the
 * shop once it was read.
 */
export async function dismissed(page: Page): Promise<void> {
  await page.evaluate(
    (timeoutMs) =>
      new Promise<void>((resolve, reject) => {
        const key = new URLSearchParams(location.search).get('request');
        const ask = () => navigator.serviceWorker.controller?.postMessage({ type: 'ready', key });
        navigator.serviceWorker.addEventListener('message', ({ data }) => (data.type === 'gone' ? resolve() : ask()));
        setTimeout(() => reject(new Error('the request is still there')), timeoutMs);
        ask();
      }),
    waitLimitMs(),
  );
}

/** Waits for a part of the confirm page, and reads it, its details too. */
export async function part(page: Page, name: string): Promise<string> {
  await awaitSelector(page, `#${name}`);
  await page.$$eval(`#${name} details`, (all) => {
    for (const one of all) (one as HTMLDetailsElement).open = true;
  });
  // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
  return page.$eval(`#${name}`, (element) => (element as HTMLElement).innerText);
}
