import { afterAll, beforeAll, expect } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { temporaryFolder } from './databases.ts';
import { untilSo } from './until.ts';
import { startVault, type TestVault } from './vault.ts';

/** The operator's console in a real browser, as a person sees and drives it. */
export interface ConsolePage {
  readonly page: Page;
  /** Goes to the console of another vault, in a window like a new one. */
  moveTo(url: string): Promise<void>;
  /** Gives the window the size and the colours of a new one. */
  atRest(): Promise<void>;
  /** Faults of the page so far: exceptions, and what its policy refused. */
  readonly faults: readonly string[];
  signIn(secret: string): Promise<void>;
  /** Opens a view by its name in the rail. */
  view(name: string): Promise<void>;
  /** Looks up registrations in their view. */
  lookUp(by: 'identifier' | 'credentialId' | 'did', value: string): Promise<void>;
  /** The ids of the events in the list, oldest first. */
  ids(): Promise<readonly number[]>;
  /** How many events came in all, also such as would have been shown twice. */
  received(): Promise<number>;
  text(selector: string): Promise<string>;
  /** Waits until the stream stands there. */
  phase(phase: string): Promise<void>;
  /** Where the stream stood so far, in order. */
  phases(): Promise<readonly string[]>;
  /** How many streams it has opened so far: one for each token. */
  streams(): Promise<number>;
  /** Waits until one stream alone is left, and is open: none is being renewed. */
  renewed(): Promise<void>;
  /** Waits until an element's text matches. */
  says(selector: string, pattern: RegExp): Promise<void>;
}

const SIZE = { width: 1280, height: 900 };

/** Opens the console in a tab of its own; without `url` an empty tab, for `moveTo`. */
export async function openConsole(browser: Browser, url?: string): Promise<ConsolePage> {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.evaluateOnNewDocument(WATCH);
  await page.setViewport(SIZE);
  if (url !== undefined) await page.goto(`${url}/console`);
  const atRest = async () => {
    await page.emulateMediaFeatures();
    await page.setViewport(SIZE);
  };
  const text = (selector: string) => page.$eval(selector, (element) => element.textContent ?? '');
  const streamStates = async () => JSON.parse((await page.evaluate(STREAM_STATES)) as string) as number[];
  return {
    page,
    faults,
    text,
    async moveTo(other) {
      await atRest();
      faults.length = 0;
      await page.goto(`${other}/console`);
    },
    atRest,
    async signIn(secret) {
      await page.focus('#secret');
      // At one stroke, as a paste does it.
      await page.keyboard.sendCharacter(secret);
      await page.keyboard.press('Enter');
    },
    async view(name) {
      await page.$eval(`#rail a[href="#/${name}"]`, (link) => (link as HTMLElement).click());
      await page.waitForFunction(`document.activeElement.id === 'title-${name}'`);
    },
    async lookUp(by, value) {
      await page.select('#registrations-by', by);
      await page.$eval('#registrations-value', (input) => Object.assign(input, { value: '' }));
      await page.focus('#registrations-value');
      // At one stroke, as a paste does it.
      await page.keyboard.sendCharacter(value);
      await page.keyboard.press('Enter');
      await page.waitForFunction(`!document.querySelector('#view-registrations [aria-busy]')`);
    },
    ids: () =>
      page.$$eval('#events tr', (rows) => rows.map((row) => Number((row as HTMLElement).dataset['id'])).reverse()),
    received: async () => Number(/^[\d,]+/.exec(await text('#state-events'))?.[0].replaceAll(',', '') ?? -1),
    async phase(phase) {
      await page.waitForSelector(`html[data-stream="${phase}"]`);
    },
    phases: async () => JSON.parse((await page.evaluate(`JSON.stringify(watched.phases)`)) as string) as string[],
    streams: async () => (await streamStates()).length,
    async renewed() {
      await untilSo(streamStates, (all) => all.at(-1) === OPEN && all.slice(0, -1).every((state) => state === CLOSED));
    },
    async says(selector, pattern) {
      const isSaid = `${pattern}.test(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '')`;
      await page.waitForFunction(isSaid, { polling: 50 }).catch(async () => {
        throw new Error(`${selector} says ${JSON.stringify(await text(selector).catch(String))}, not ${pattern}`);
      });
    },
  };
}

/** A vault, and its console in a browser of its own. */
export interface Desk {
  readonly own: OwnBrowser;
  readonly t: TestVault;
  readonly c: ConsolePage;
  /** The text of the only file of this kind that the page has saved, once it is there. */
  saved(ending: string): Promise<string>;
}

/** One desk for the tests of a file, with settings of the vault and an operator, who has signed in. */
export function desk(
  begin: (opened: Desk) => void,
  vars: Readonly<Record<string, string>>,
  secretAt: (t: TestVault) => string | Promise<string>,
): void {
  const downloads = temporaryFolder();
  let opened: Desk;
  beforeAll(async () => {
    const [own, t] = [await startShell(), await startVault(vars)];
    const secret = await secretAt(t);
    const c = await openConsole(own.browser, t.url);
    const session = await own.browser.target().createCDPSession();
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads.path });
    await c.signIn(secret);
    await c.phase('live');
    const files = async (ending: string) => readdirSync(downloads.path).filter((one) => one.endsWith(ending));
    const saved = async (ending: string) => {
      const [name = ''] = await untilSo(
        () => files(ending),
        (names) => names.length === 1,
      );
      return readFileSync(join(downloads.path, name), 'utf8');
    };
    opened = { own, t, c, saved };
    begin(opened);
  });
  afterAll(async () => {
    expect(opened.c.faults).toEqual([]);
    await opened.own.close();
    await opened.t.stop();
    downloads.remove();
  });
}

/** An EventSource's states (HTML, 9.2.2). */
const [OPEN, CLOSED] = [1, 2];
const STREAM_STATES = 'JSON.stringify(watched.streams.map((stream) => stream.readyState))';

/** Notes every state of the stream, each EventSource, and what the page's policy refuses. */
const WATCH = `
  const watched = { phases: [], streams: [] };
  window.EventSource = class extends EventSource {
    constructor(url) {
      super(url);
      watched.streams.push(this);
    }
  };
  new MutationObserver(() => {
    const phase = document.documentElement?.dataset.stream;
    if (phase && watched.phases.at(-1) !== phase) watched.phases.push(phase);
  }).observe(document, { attributes: true, attributeFilter: ['data-stream'], subtree: true, attributeOldValue: true });
  document.addEventListener('securitypolicyviolation', (event) => {
    throw new Error('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
  });
`;
