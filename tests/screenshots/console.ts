// bun tests/screenshots/console.ts: docs/images/console-*.png, from a vault and a chain of its own, driven in Chromium.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { startBrowser } from '../../scripts/dev-stack/browser.ts';
import { testClock } from '../support/clock.ts';
import { openConsole } from '../support/console.ts';
import { startTestChain, type TestChain } from '../support/onchain.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';
import { toIndexed } from './png.ts';

const IMAGES = join(import.meta.dir, '../../docs/images');
const OPERATOR_SECRET = VAULT_SECRET.replace('00', 'ff');
const MINUTE_MS = 60_000;
const ROUNDS = 45;

/** A folder for a picture of every view, light, dark and narrow: to look at, not for the documents. */
const every = process.argv[2] === '--every' ? process.argv[3] : undefined;

const [own, chain] = await Promise.all([startBrowser(), startTestChain()]);
const vars = { ...chain.vars, FOLLOWER: 'true', MAX_VERIFY_SENDS_PER_IP: '3' };
const t = await startVault(vars, { clock: testClock(Date.UTC(2026, 0, 15, 9, 30)) });
try {
  await mkdir(IMAGES, { recursive: true });
  const { page, signIn, phase, view } = await openConsole(own.browser, t.url);
  await page.emulateTimezone('UTC');
  await page.setViewport({ width: 960, height: 560 });
  await show(page, 'light');
  await save(page, 'console-sign-in');
  await t.work();
  for (let round = 0; round < ROUNDS; round++) {
    await live(round);
    await t.clock.advance(MINUTE_MS);
    await t.work();
  }
  await signIn(OPERATOR_SECRET);
  await phase('live');
  await page.waitForSelector('[data-chart="latency"] .line');
  await page.setViewport({ width: 1200, height: 760 });
  await save(page, 'console-light');
  await show(page, 'dark');
  await view('health');
  await save(page, 'console-dark');
  await page.setViewport({ width: 400, height: 760 });
  await view('events');
  await save(page, 'console-narrow');
  if (every !== undefined) await saveEvery(page, view, every);
} finally {
  await Promise.all([own.close(), t.stop(), chain.stop()]);
}

async function saveEvery(page: Page, view: (name: string) => Promise<void>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const names = await page.$$eval('#views a', (all) => all.map((one) => one.hash.slice(2)));
  for (const name of names) {
    await view(name);
    await page.waitForFunction(() => document.querySelector('[aria-busy]') === null);
    for (const [width, theme] of [
      [1280, 'light'],
      [1280, 'dark'],
      [360, 'light'],
      [360, 'dark'],
    ] as const) {
      await page.setViewport({ width, height: 760 });
      await show(page, theme);
      await Bun.write(join(folder, `${name}-${width}-${theme}.png`), await page.screenshot({ fullPage: true }));
    }
  }
}

async function show(page: Page, theme: 'light' | 'dark'): Promise<void> {
  // At rest: a colour that still changes is no picture's.
  const still = { name: 'prefers-reduced-motion', value: 'reduce' };
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }, still]);
}

async function save(page: Page, name: string): Promise<void> {
  const bytes = toIndexed(await page.screenshot());
  await Bun.write(join(IMAGES, `${name}.png`), bytes);
  console.log(`docs/images/${name}.png  ${(bytes.length / 1_000).toFixed(1)} KB`);
}

/** A minute of a vault's life: people come in waves, some mistype, and one address asks too often. */
async function live(round: number): Promise<void> {
  const people = Math.round(2 + 2 * Math.sin(round / 4));
  for (let i = 0; i < people; i++) await register(t, chain, `person${round}${i === 0 ? '' : `x${i}`}`, round % 3 === i);
  if (round % 9 === 4) {
    for (let i = 0; i < 3; i++) {
      const who = { identifier: `again${round}@example.com`, channel: 'email' };
      await t.from('203.0.113.7').call('POST /api/verify/send', who);
    }
  }
}

async function register({ from, codeFor }: TestVault, { register: mine }: TestChain, name: string, mistypes: boolean) {
  const client = from(`198.51.100.${[...name].reduce((sum, char) => sum + char.charCodeAt(0) * 7, 0) % 250}`);
  const who = { identifier: `${name}@example.com`, channel: 'email' };
  if ((await client.call('POST /api/verify/send', who)).status !== 200) return;
  if (mistypes) await client.call('POST /api/verify/check', { ...who, code: '000000' });
  const { body } = await client.call('POST /api/verify/check', { ...who, code: codeFor(who.identifier) });
  const did = `did:key:z6Mk${Buffer.from(name).toString('hex')}`;
  await client.call('POST /api/sessions', { ...who, did });
  const { txHash } = await mine({ did });
  const credentialId = Buffer.from(name.padEnd(32, '.')).toString('base64url');
  await client.call('POST /api/dids', { ...who, did, credentialId, txHash, attestation: body.attestation });
}
