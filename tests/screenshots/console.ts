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
const POLL_MS = 5_000;
const ROUNDS = 45;

const [own, chain] = await Promise.all([startBrowser(), startTestChain()]);
const vars = { ...chain.vars, FOLLOWER: 'true', MAX_VERIFY_SENDS_PER_IP: '3' };
const t = await startVault(vars, { clock: testClock(Date.UTC(2026, 0, 15, 9, 30)) });
try {
  await mkdir(IMAGES, { recursive: true });
  const { page, signIn, phase } = await openConsole(own.browser, t.url);
  await page.emulateTimezone('UTC');
  await page.evaluateOnNewDocument(`
    // The page reads every five seconds of the vault's time, which this script moves.
    const wait = setTimeout;
    setTimeout = (work, ms, ...rest) => wait(work, ms === ${POLL_MS} ? 100 : ms, ...rest);
  `);
  await page.reload();
  await page.setViewport({ width: 960, height: 560 });
  await show(page, 'light');
  await save(page, 'console-sign-in');
  await signIn(OPERATOR_SECRET);
  await phase('live');
  for (let round = 0; round < ROUNDS; round++) {
    await live(round);
    await t.clock.advance(POLL_MS);
    await t.work();
    await page.waitForFunction(
      `document.querySelector('#state-overview').textContent.includes(${JSON.stringify(new Date(t.clock.now()).toISOString().slice(11, 19))})`,
    );
  }
  await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)');
  await page.setViewport({ width: 1200, height: 900 });
  for (const theme of ['light', 'dark'] as const) {
    await show(page, theme);
    await save(page, `console-${theme}`);
  }
  await page.setViewport({ width: 400, height: 860 });
  await save(page, 'console-narrow');
} finally {
  await Promise.all([own.close(), t.stop(), chain.stop()]);
}

async function show(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
}

async function save(page: Page, name: string): Promise<void> {
  const bytes = toIndexed(await page.screenshot());
  await Bun.write(join(IMAGES, `${name}.png`), bytes);
  console.log(`docs/images/${name}.png  ${(bytes.length / 1_000).toFixed(1)} KB`);
}

/** Five seconds of a vault's life: people come in waves, some mistype, and one address asks too often. */
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
