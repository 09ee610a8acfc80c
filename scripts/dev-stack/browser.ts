import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser } from 'puppeteer-core';

/**
 * Chromium's executable: `CHROMIUM`, else where Debian puts it; undefined where there is none. Tests that need it are
 * left out then, with a line that says so.
 */
export const chromium = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);

if (!chromium) console.log('no Chromium on this machine: what is tried in a browser is left out (set CHROMIUM)');

/** A headless browser with a fresh profile, which contacts only the pages it opens. */
export interface OwnBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

/** Starts Chromium. Throws if it is not installed. */
export async function startBrowser(...flags: string[]): Promise<OwnBrowser> {
  if (!chromium) throw new Error('there is no Chromium');
  const profile = mkdtempSync(join(tmpdir(), 'vault-browser-'));
  const browser = await puppeteer.launch({
    executablePath: chromium,
    headless: true,
    userDataDir: profile,
    args: [...FLAGS, ...flags],
  });
  return {
    browser,
    async close() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
