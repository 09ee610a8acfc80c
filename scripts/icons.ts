// bun scripts/icons.ts: draws assets/icons/vault-*.png from vault.svg with Chromium. Run it when the drawing changes;
// the files are committed.
import { join } from 'node:path';
import { startBrowser } from './dev-stack/browser.ts';

const ICONS = join(import.meta.dir, '../assets/icons');
const SIZES = [48, 192, 512];

const svg = await Bun.file(join(ICONS, 'vault.svg')).text();
const { browser, close } = await startBrowser();
try {
  const page = await browser.newPage();
  for (const size of SIZES) {
    await page.setViewport({ width: size, height: size });
    await page.setContent(
      `<!doctype html><style>*{margin:0}svg{display:block;width:${size}px;height:${size}px}</style>${svg}`,
    );
    await page.screenshot({ path: join(ICONS, `vault-${size}.png`) as `${string}.png`, omitBackground: true });
    console.log(`assets/icons/vault-${size}.png`);
  }
} finally {
  await close();
}
