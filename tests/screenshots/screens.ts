// bun tests/screenshots/screens.ts FOLDER [WORD]: takes every screen of tests/journeys/accessible.test.ts, or those with
// the word in their name, on a phone and on a desk, light and dark, side by side in one picture each. For the eyes, not
// for the documents.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { startAuthorizeWorld } from '../support/authorize-page.ts';
import { setWidth } from '../support/axe.ts';
import { allScreens } from '../support/screens/all.ts';

const [folder, word = ''] = process.argv.slice(2);
if (folder === undefined) throw new Error('bun tests/screenshots/screens.ts FOLDER [WORD]');
await mkdir(folder, { recursive: true });

const world = await startAuthorizeWorld({ SUPPORT_ADDRESS: 'help@tea.example', BRAND_NAME: 'Tea House' });
const sheet = await world.own.browser.newPage();

/** The screen in both widths and themes, as pictures in base64. */
async function shotsOf(page: Page): Promise<string[]> {
  const shots: string[] = [];
  await page.bringToFront();
  for (const width of [360, 1280]) {
    await setWidth(page, width);
    for (const value of ['light', 'dark']) {
      const still = { name: 'prefers-reduced-motion', value: 'reduce' };
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }, still]);
      shots.push(await page.screenshot({ fullPage: true, encoding: 'base64' }));
    }
  }
  return shots;
}

try {
  for (const { name, reach } of allScreens(() => world).filter((screen) => screen.name.includes(word))) {
    const shots = await shotsOf(await reach());
    const images = shots.map((shot) => `<img src="data:image/png;base64,${shot}">`).join('');
    await sheet.setViewport({ width: 3_400, height: 800 });
    await sheet.setContent(
      `<style>body { background: #888 } img { margin: 8px; vertical-align: top }</style>${images}`,
    );
    const path = join(folder, `${name.replace(/\W+/g, '-').replace(/^-|-$/g, '')}.png`);
    await Bun.write(path, await sheet.screenshot({ fullPage: true }));
    console.log(path);
  }
} finally {
  await world.stop();
}
