import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { chromium } from './chromium.ts';

/** Chromium without its own windows, where Debian puts it. */
const shell = ['/usr/bin/chromium-headless-shell'].find(existsSync);

/** A headless browser with a fresh profile, which contacts only the pages it opens. */
export interface OwnBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

/** Starts Chromium. Throws if it is not installed. */
export function startBrowser(...flags: string[]): Promise<OwnBrowser> {
  return launch(chromium, flags);
}

/**
 * Starts Chromium without its own windows, for pages that ask for no payment: a third less processor time. It is
 * Chromium itself where the other is not installed. Throws if neither is.
 */
export function startShell(...flags: string[]): Promise<OwnBrowser> {
  return launch(shell ?? chromium, flags);
}

/** Starts Chromium in a window that a person can see. Throws if it is not installed. */
export function startWindow(...flags: string[]): Promise<OwnBrowser> {
  return launch(chromium, flags, false);
}

async function launch(
  executablePath: string | undefined,
  flags: readonly string[],
  headless = true,
): Promise<OwnBrowser> {
  if (!executablePath) throw new Error('there is no Chromium');
  patience ??= bePatient();
  await patience;
  const profile = mkdtempSync(join(tmpdir(), 'vault-browser-'));
  const browser = await puppeteer.launch({
    executablePath,
    headless,
    // It ends with the program that started it, killed or not.
    pipe: true,
    userDataDir: profile,
    timeout: waitMs(),
    args: [...FLAGS, ...(headless ? UNSEEN_FLAGS : []), ...flags],
  });
  return {
    browser,
    async close() {
      await browser.close();
      // A process of the browser's may write until it is gone as well.
      rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** How long a page is waited for where a call does not say. */
const waitMs = () => Number(process.env['TEST_WAIT_MS'] ?? 120_000);

let patience: Promise<void> | undefined;

/**
 * Puppeteer waits half a minute, which a busy machine takes, and lets it be set for one page at a time alone. And it
 * looks before each frame: that has an idle page draw sixty a second, for three times the processor time of a timer.
 */
async function bePatient(): Promise<void> {
  const { TimeoutSettings } = await import('puppeteer-core/internal/common/TimeoutSettings.js' as string);
  for (const name of ['timeout', 'navigationTimeout']) {
    const own = TimeoutSettings.prototype[name];
    TimeoutSettings.prototype[name] = function wait() {
      return Math.max(waitMs(), own.call(this));
    };
  }
  const { Realm } = await import('puppeteer-core/internal/api/Realm.js' as string);
  const { waitForFunction } = Realm.prototype;
  Realm.prototype.waitForFunction = function look(act: unknown, options: WaitForFunction = {}, ...given: unknown[]) {
    const polling = (options.polling ?? 'raf') === 'raf' ? LOOK_MS : options.polling;
    return waitForFunction.call(this, act, { ...options, polling }, ...given);
  };
}

type WaitForFunction = Parameters<Page['waitForFunction']>[1];

/** A frame's time: no state that is drawn goes unseen. */
const LOOK_MS = 16;

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Nobody sees what moves; a test that looks at motion asks for it. */
const UNSEEN_FLAGS = ['--force-prefers-reduced-motion'];
