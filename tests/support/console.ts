import type { Browser, Page } from 'puppeteer-core';
import { waitLimitMs } from './limits.ts';

/** The operator's console in a real browser, as a person sees and drives it. */
export interface ConsolePage {
  readonly page: Page;
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
  /** Waits until an element's text matches. */
  says(selector: string, pattern: RegExp): Promise<void>;
}

/** Opens the console in a tab of its own. */
export async function openConsole(browser: Browser, url: string): Promise<ConsolePage> {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.evaluateOnNewDocument(WATCH);
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(`${url}/console`);
  const text = (selector: string) => page.$eval(selector, (element) => element.textContent ?? '');
  return {
    page,
    faults,
    text,
    async signIn(secret) {
      await page.type('#secret', secret);
      await page.keyboard.press('Enter');
    },
    async view(name) {
      await page.$eval(`#rail a[href="#/${name}"]`, (link) => (link as HTMLElement).click());
      await page.waitForFunction(`document.activeElement.id === 'title-${name}'`);
    },
    async lookUp(by, value) {
      await page.select('#registrations-by', by);
      await page.$eval('#registrations-value', (input) => Object.assign(input, { value: '' }));
      await page.type('#registrations-value', value);
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
    async says(selector, pattern) {
      const isSaid = `${pattern}.test(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '')`;
      await page.waitForFunction(isSaid, { polling: 50 }).catch(async () => {
        throw new Error(`${selector} says ${JSON.stringify(await text(selector).catch(String))}, not ${pattern}`);
      });
    },
  };
}

/** Waits until what is asked for is so; the last answer is in the error. */
export async function until<T>(ask: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  const end = performance.now() + waitLimitMs();
  let found = await ask();
  while (!isSo(found)) {
    if (performance.now() > end) throw new Error(`it stays ${JSON.stringify(found)}`);
    await Bun.sleep(50);
    found = await ask();
  }
  return found;
}

/** Notes every state of the stream, and what the page's policy refuses. */
const WATCH = `
  const watched = { phases: [] };
  new MutationObserver(() => {
    const phase = document.documentElement?.dataset.stream;
    if (phase && watched.phases.at(-1) !== phase) watched.phases.push(phase);
  }).observe(document, { attributes: true, attributeFilter: ['data-stream'], subtree: true, attributeOldValue: true });
  document.addEventListener('securitypolicyviolation', (event) => {
    throw new Error('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
  });
`;
