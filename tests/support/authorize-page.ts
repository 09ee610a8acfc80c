// Apps with a link to `/authorize`, and people with browsers who follow it.
import { afterAll, afterEach, beforeAll } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { Hex } from 'ox';
import type { BrowserContext, Page } from 'puppeteer-core';
import { createHeldPasskey, withoutSuggestions } from '../../scripts/dev-stack/browser-passkeys.ts';
import { proveRegistration } from '../../scripts/dev-stack/passkey-proof.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { keepWorking } from './background.ts';
import { chainVars } from './chain-vars.ts';
import { clientsFile, partsOf } from './openid.ts';
import { awaitSelector, createPasskeys, type Passkeys, type PayWorld, press, startPayWorld } from './pay.ts';
import { secondAddress } from './second-account.ts';
import { originOf } from './touch.ts';
import { until } from './until.ts';
import { startVault } from './vault.ts';

const WORK_MS = 200;

/** Who came back to an app, as the claims of the ID token say; or the error of the exchange. */
export interface Arrival {
  readonly query: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly answer?: Readonly<Record<string, unknown>>;
}

/** An app with a server, whose whole integration is a link and an exchange. */
export interface App {
  readonly origin: string;
  readonly redirectUri: string;
  readonly arrivals: readonly Arrival[];
  /** Pages of its own, by path. */
  readonly pages: Map<string, string>;
  /** A link as the app makes it, with something changed. */
  link(change?: Readonly<Record<string, string | undefined>>): string;
}

/** The payment world with a registrar, an app that the vault knows, and another origin that it does not know. */
export interface AuthorizeWorld extends PayWorld {
  readonly app: App;
  /** Another app that the vault knows. */
  readonly other: App;
  /** Starts another vault on the chain, that of the apps until it stops. They share a registrar: one at a time sends. */
  beside(more: Readonly<Record<string, string>>): Promise<AuthorizeWorld>;
}

/** Starts it all, perhaps with other clients of CLIENTS or no bundler; the vault's background work goes on by itself. */
export async function startAuthorizeWorld(
  more: Readonly<Record<string, string>> = {},
  clients?: Readonly<Record<string, { readonly redirect_uris: readonly string[] }>>,
  { relayOnly = false } = {},
): Promise<AuthorizeWorld> {
  let vault = '';
  const apps = ['tea', 'books'].map((name) => startApp(name, () => vault));
  const [app, other] = apps.map((one) => one.app) as [App, App];
  const settings = {
    APPS: 'tea,books',
    CLIENTS: 'clients.json',
    REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
    // All the people share this machine's address.
    MAX_VERIFY_SENDS_PER_IP: '1000',
    MAX_REGISTRATIONS_PER_IP: '1000',
    RELAY_DAILY_MAX: '1000000',
    ...more,
  };
  const files = clientsFile(
    clients ?? {
      tea: { redirect_uris: [app.redirectUri, `${app.origin}/page`] },
      books: { redirect_uris: [other.redirectUri] },
    },
  );
  const world = await startPayWorld({ pagesOnly: true, relayOnly, more: settings, ...files });
  vault = world.origin;
  const endWork = keepWorking(world.t, WORK_MS);
  const all: AuthorizeWorld = {
    ...world,
    app,
    other,
    async beside(others) {
      const ofChain = chainVars(world.chain.url, world.contracts);
      const vars = { ...ofChain, ...settings, ...others };
      const t = await startVault(vars, { clock: world.t.clock, ...files });
      const endOwn = keepWorking(t, WORK_MS);
      vault = t.url.replace('127.0.0.1', 'localhost');
      const stop = async () => {
        vault = world.origin;
        await endOwn();
        await t.stop();
      };
      return { ...all, t, origin: vault, stop };
    },
    async stop() {
      await endWork();
      await world.stop();
      for (const { stop } of apps) await stop();
    },
  };
  return all;
}

function startApp(client_id: string, vault: () => string) {
  const verifiers = new Map<string, string>();
  const arrivals: Arrival[] = [];
  const pages = new Map<string, string>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const html = (body: string) => new Response(body, { headers: { 'content-type': 'text/html; charset=utf-8' } });
      const page = pages.get(pathname);
      if (page !== undefined) return html(page);
      if (pathname === '/')
        return html(`<!doctype html><title>Tea</title><a id="sign-up" href="${app.link()}">Sign up</a>`);
      if (pathname !== '/back') return new Response(null, { status: 404 });
      const query = Object.fromEntries(searchParams);
      const arrival = { query, ...(query['code'] === undefined ? {} : await redeem(query)) };
      arrivals.push(arrival);
      return html(`<!doctype html><title>Welcome</title><p id="welcome">Welcome</p>`);
    },
  });
  const redeem = async ({ code, state = '' }: Readonly<Record<string, string>>) => {
    const form = {
      client_id,
      redirect_uri: app.redirectUri,
      code: code ?? '',
      code_verifier: verifiers.get(state) ?? '',
    };
    const body = new URLSearchParams({ grant_type: 'authorization_code', ...form });
    const response = await fetch(`${vault()}/token`, { method: 'POST', body });
    const said = (await response.json()) as Record<string, unknown>;
    const answer = typeof said['id_token'] === 'string' ? partsOf(said['id_token'])[1] : said;
    return { status: response.status, answer: answer ?? {} };
  };
  const origin = `http://localhost:${server.port}`;
  const app: App = {
    origin,
    redirectUri: `${origin}/back`,
    arrivals,
    pages,
    link(change = {}) {
      const [verifier, state] = [randomBytes(32).toString('base64url'), randomBytes(9).toString('base64')];
      verifiers.set(state, verifier);
      const code_challenge = createHash('sha256').update(verifier).digest('base64url');
      const request = { client_id, redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid email did' };
      const all = { ...request, state, code_challenge, code_challenge_method: 'S256', ...change };
      const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
      return `${vault()}/authorize?${new URLSearchParams(given)}`;
    },
  };
  return { app, stop: () => server.stop(true) };
}

/** A person's browser at a page. */
export interface Visitor {
  readonly page: Page;
  readonly passkeys: Passkeys;
  readonly context: BrowserContext;
  /** What a screen of the sign-in page reads, once it is there. */
  screen(part: string): Promise<string>;
  /** Enters an address on the first screen. */
  enter(address: string): Promise<void>;
  /** Types the code that was sent there. */
  typeCode(address: string): Promise<void>;
  /** Waits until the app has the person back. */
  arrive(): Promise<Arrival>;
  close(): Promise<void>;
}

/** A new person, or one with these passkeys, who opens a page. */
export async function visit(
  { own, app, t }: AuthorizeWorld,
  url = app.link(),
  { passkeys = createPasskeys(), context }: { passkeys?: Passkeys; context?: BrowserContext } = {},
): Promise<Visitor> {
  const home = context ?? (await own.browser.createBrowserContext());
  const page = await home.newPage();
  await passkeys.attach(page);
  const before = app.arrivals.length;
  await page.goto(url);
  return {
    ...visitorAt(page, t),
    passkeys,
    context: home,
    arrive,
    close: async () => (context ? undefined : home.close()),
  };

  async function arrive(): Promise<Arrival> {
    await awaitSelector(page, '#welcome');
    const arrival = app.arrivals[app.arrivals.length - 1];
    if (!arrival || app.arrivals.length <= before) throw new Error('nobody arrived');
    return arrival;
  }
}

/** Somebody with an account, in the browser where it was made. */
export interface Member extends Visitor {
  readonly email: string;
  /** How the app had them back. */
  readonly arrival: Arrival;
}

/** One world for the tests of a file, where visitors come to; they are gone after each, but for the member. */
export function visits(open: (world: AuthorizeWorld) => void) {
  let world: AuthorizeWorld;
  const visitors: Visitor[] = [];
  let people = 0;
  beforeAll(async () => {
    world = await startAuthorizeWorld({}, undefined, { relayOnly: true });
    open(world);
  });
  afterAll(() => world.stop());
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.close();
  });
  const address = () => `person${++people}@example.com`;
  const signUp = async (visitor?: Visitor): Promise<Member> => {
    const [email, person] = [address(), visitor ?? (await visit(world))];
    return { ...person, email, arrival: await goThrough(person, email) };
  };
  let member: Promise<Member> | undefined;
  return {
    async come(...given: Parameters<typeof visit> extends [unknown, ...infer Rest] ? Rest : never): Promise<Visitor> {
      const visitor = await visit(world, ...given);
      visitors.push(visitor);
      return visitor;
    },
    address,
    /** Signs somebody up, a new person by default, who stays until the end. */
    signUp,
    /** Somebody who has signed up, whom the tests of the file share. */
    member(): Promise<Member> {
      member ??= signUp();
      return member;
    },
  };
}

/** What a person does at a window of the sign-in page. */
export function visitorAt(page: Page, t: AuthorizeWorld['t']) {
  return {
    page,
    async screen(part: string) {
      await awaitSelector(page, `#${part}`);
      // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
      return page.$eval(`#${part}`, (element) => (element as HTMLElement).innerText);
    },
    async enter(address: string) {
      await awaitSelector(page, '#address');
      await page.click('#address', { count: 3 });
      // At one stroke, as a paste does it.
      await page.keyboard.sendCharacter(address);
      await page.keyboard.press('Enter');
    },
    async typeCode(address: string) {
      await awaitSelector(page, '#digits');
      await page.type('#digits', t.codeFor(address));
    },
  };
}

/** Gives these passkeys to a popup, once it takes a press: none in its first half second in front. */
export async function attachToPopup(popup: Page, passkeys: Passkeys): Promise<void> {
  // An authenticator that is attached before the page is there goes with the blank page before it; one that comes
  // later may take at once what the field suggests already. So the page loads again, and suggests nothing.
  await awaitSelector(popup, '#start');
  await withoutSuggestions(popup);
  await popup.reload();
  await awaitSelector(popup, '#start');
  await passkeys.attach(popup);
  await popup.waitForFunction(() =>
    document.body.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail: 1 })),
  );
}

/** Signs somebody up from the first screen on. */
export async function goThrough(visitor: Visitor, address: string): Promise<Arrival> {
  await visitor.enter(address);
  await visitor.typeCode(address);
  await press(visitor.page, 'passkey-go');
  return visitor.arrive();
}

/** Somebody who has registered an address by the API: what a browser of theirs would have done before a test begins. */
export async function register({ t, chain, contracts }: AuthorizeWorld, identifier: string) {
  const passkeys = createHeldPasskey();
  const passkey = passkeys.twin();
  const smartAccount = (await secondAddress(chain.rpc, contracts, passkey.key)).toLowerCase();
  const { body: vault } = await t.call('GET /api/contracts');
  const [credentialId = ''] = passkeys.ids();
  const who = { credentialId, identifier, channel: 'email', did: `did:pkh:eip155:84532:${smartAccount}`, smartAccount };
  const sent = { identifier, channel: 'email' };
  await t.call('POST /api/verify/send', sent);
  const checked = await t.call('POST /api/verify/check', { ...sent, code: t.codeFor(identifier) });
  const { attestation } = checked.body;
  const proof = proveRegistration(
    passkey,
    vault,
    { ...who, attestation },
    { now: t.clock.now(), ceremony: { origin: originOf(t) } },
  );
  const [pubKeyX, pubKeyY] = [Hex.fromBytes(passkey.key.x), Hex.fromBytes(passkey.key.y)];
  const { status, text } = await t.call('POST /api/dids', { ...who, pubKeyX, pubKeyY, attestation, ...proof });
  if (status !== 200) throw new Error(`no registration: ${status} ${text}`);
  return { email: identifier, did: who.did, passkeys };
}

/** Waits for a row, while time passes and a block is made for each second; the vault works in between. */
export async function awaitRow(world: AuthorizeWorld, sql: string, args: Record<string, string>): Promise<void> {
  await until(sql, async () => {
    await world.later(30);
    await world.chain.rpc('anvil_mine', ['0x1c']);
    await world.t.work();
    return (await world.t.rows(sql, args)).length > 0;
  });
}
