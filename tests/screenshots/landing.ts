// bun tests/screenshots/landing.ts [FOLDER]: makes docs/images/landing.png; with a folder it takes the page there, in
// three widths, light and dark, in English and German, whole and of a vault that offers little. Run it when the page
// changes.
import { join } from 'node:path';
import { startBrowser } from '../../scripts/dev-stack/browser.ts';
import { OFFERS_ALL, OFFERS_HOST } from '../support/landing.ts';
import { startVault, type TestVault } from '../support/vault.ts';
import { toIndexed } from './png.ts';

const IMAGES = join(import.meta.dir, '../../docs/images');
const FOLDER = process.argv[2];

/** The snippet of the page names this origin. */
const PUBLIC = { BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: 'none', ALLOW_LOG_DELIVERY: 'true' };

const [own, whole, bare] = await Promise.all([
  startBrowser(),
  startVault({ ...OFFERS_ALL, ...PUBLIC }, OFFERS_HOST),
  startVault(),
]);

/** The page of a vault, in a width, a scheme and a language. */
async function shoot({ url }: TestVault, path: string, width: number, scheme: string, lang: string): Promise<void> {
  const page = await own.browser.newPage();
  await page.setViewport({ width, height: 640 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(`${url}/?lang=${lang}`);
  await page.waitForFunction(() => document.querySelector('#state')?.textContent !== '');
  const size = await Bun.write(path, toIndexed(await page.screenshot({ fullPage: true })));
  console.log(`${path}  ${size} bytes`);
  await page.close();
}

try {
  if (!FOLDER) await shoot(whole, join(IMAGES, 'landing.png'), 1120, 'light', 'en');
  for (const width of FOLDER ? [360, 768, 1280] : [])
    for (const scheme of ['light', 'dark'])
      for (const lang of ['en', 'de']) {
        await shoot(whole, join(FOLDER ?? '', `whole-${width}-${scheme}-${lang}.png`), width, scheme, lang);
        await shoot(bare, join(FOLDER ?? '', `bare-${width}-${scheme}-${lang}.png`), width, scheme, lang);
      }
} finally {
  await Promise.all([own.close(), whole.stop(), bare.stop()]);
}
