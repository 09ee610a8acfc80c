import axe from 'axe-core';
import type { Page } from 'puppeteer-core';

/** How pages are looked at: the narrow width of a phone, in both themes, at rest. */
const WIDTH = 360;
const SCHEMES = ['light', 'dark'] as const;

/** What axe-core finds wrong with what a page shows now, by rule and element. */
export async function violations(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  const before = page.viewport();
  await page.setViewport({ width: WIDTH, height: 740 });
  for (const value of SCHEMES) {
    // A colour that is still changing is none of the page's.
    const still = { name: 'prefers-reduced-motion', value: 'reduce' };
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }, still]);
    // The page's policy is for the page; this comes by the browser's own protocol.
    await page.evaluate(axe.source);
    const results = (await page.evaluate('axe.run()')) as axe.AxeResults;
    if (results.passes.length === 0) throw new Error('axe-core looked at nothing');
    for (const { id, nodes } of results.violations)
      found.push(
        ...nodes.map(({ target, failureSummary }) => `${value} ${id}: ${target.join(' ')}: ${failureSummary}`),
      );
  }
  if (before) await page.setViewport(before);
  return found;
}
