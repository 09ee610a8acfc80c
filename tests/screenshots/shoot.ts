import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { toIndexed } from './png.ts';

const IMAGES = join(import.meta.dir, '../../docs/images');

/** Which pictures are taken of a screen. */
export interface Shot {
  readonly name: string;
  /** Takes every screen there, in three widths, light and dark; without it those that documents show are taken. */
  readonly folder: string | undefined;
  /** What stands before the name of a picture of the documents. */
  readonly prefix?: string;
  /** The width of the picture in the documents; absent where they show none. */
  readonly shownWidth?: number | undefined;
  /** Called before each picture, once the page has its width. */
  readonly settle?: () => Promise<unknown>;
}

/** One picture for the documents, or all variants for the eyes. */
export async function shoot(page: Page, { name, folder, prefix = '', shownWidth, settle }: Shot): Promise<void> {
  const variants = folder
    ? [360, 768, 1280].flatMap((width) => ['light', 'dark'].map((scheme) => ({ width, scheme })))
    : shownWidth !== undefined
      ? [{ width: shownWidth, scheme: 'light' }]
      : [];
  for (const { width, scheme } of variants) {
    await page.setViewport({ width, height: 640, deviceScaleFactor: 1 });
    const still = { name: 'prefers-reduced-motion', value: 'reduce' };
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }, still]);
    const path = folder ? join(folder, `${name}-${width}-${scheme}.png`) : join(IMAGES, `${prefix}${name}.png`);
    await settle?.();
    const size = await Bun.write(path, toIndexed(await page.screenshot({ fullPage: true })));
    console.log(`${path}  ${size} bytes`);
  }
}
