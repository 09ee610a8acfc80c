import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'puppeteer-core';

/** The smaller of its two builds, which a page reads in half the time. */
const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** How pages are looked at: the narrow width of a phone, in both themes, at rest. */
const WIDTH = 360;
const SCHEMES = ['light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];
/** The rules on colours: what the others look at is the same in both themes, and takes most of the time. */
const OF_COLOURS = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };

/** What axe-core finds wrong with what a page shows now, by theme, rule and element. */
export function violations(page: Page): Promise<readonly string[]> {
  return keepingSize(page, () => inEachTheme(page, (scheme) => axeFindings(page, scheme)));
}

/** What a look at the page, as narrow as a phone, finds in each theme. */
export async function inEachTheme(
  page: Page,
  look: (scheme: Scheme) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const found: string[] = [];
  await setWidth(page, WIDTH);
  for (const value of SCHEMES) {
    // A colour that is still changing is none of the page's.
    const still = { name: 'prefers-reduced-motion', value: 'reduce' };
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }, still]);
    found.push(...(await look(value)).map((one) => `${value} ${one}`));
  }
  return found;
}

/** What it finds as the page is now; of the dark theme, which comes second, by the rules on colours alone. */
export async function axeFindings(page: Page, scheme: Scheme): Promise<readonly string[]> {
  // The page's policy is for the page; this comes by the browser's own protocol.
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(AXE);
  const options = { ...(scheme === 'dark' ? OF_COLOURS : {}), resultTypes: ['violations'] };
  const answer = '({ violations, passes }) => ({ violations, passed: passes.length })';
  const results = await page.evaluate(`axe.run(${JSON.stringify(options)}).then(${answer})`);
  const { violations, passed } = results as Pick<AxeResults, 'violations'> & { readonly passed: number };
  if (passed === 0) throw new Error('axe-core looked at nothing');
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `axe ${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}

/** Makes the page as wide as this, and waits until it is laid out so. */
export async function setWidth(page: Page, width: number): Promise<void> {
  // A viewport of another kind of device reloads the page.
  await page.setViewport({ ...page.viewport(), width, height: 740 });
  await page.waitForFunction(`document.documentElement.clientWidth === ${width}`);
}

/** Does it, and gives the page the size back that it had. */
export async function keepingSize<T>(page: Page, work: () => Promise<T>): Promise<T> {
  const before = page.viewport();
  const result = await work();
  if (before) await page.setViewport(before);
  return result;
}
