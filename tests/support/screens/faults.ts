// What keeps people from a screen: checks that hold for each screen of each page.
import type { Page } from 'puppeteer-core';
import { contrasts, spoken, tabOrder } from '../accessible.ts';
import { axeFindings, inEachTheme, keepingSize, setWidth } from '../axe.ts';
import { faultsAtDoubleText, faultsInForcedColors } from './eyes.ts';

/** What a screen says of itself. */
export interface ScreenWants {
  /** The id of the part that the keyboard is in; none on a page that a person only reads. */
  readonly part?: string;
  /** The id that has the keyboard at first, and those that the Tab key leads to. */
  readonly tabs?: readonly string[];
  /** What a screen reader reads among others: the beginnings of a role with a name. */
  readonly words?: readonly string[];
}

/** Roles that need a name. */
const NAMED = /^(button|link|combobox|textbox|searchbox|heading|radio|checkbox|slider|image): $/;

/** What keeps people from what a page shows now, in words; empty when nothing does. */
export async function faultsOf(page: Page, { part, tabs, words = [] }: ScreenWants): Promise<readonly string[]> {
  const faults: string[] = [];
  if (part !== undefined && !(await hasKeyboard(page, part))) faults.push(`the keyboard is not in #${part}`);
  if (tabs !== undefined) {
    const way = [await page.evaluate(() => document.activeElement?.id), ...(await tabOrder(page, tabs.length - 1))];
    if (way.join() !== tabs.join()) faults.push(`Tab leads from ${way.join(' to ')}`);
  }
  const read = await spoken(page);
  faults.push(...read.filter((word) => NAMED.test(word)).map((word) => `without a name: ${word}`));
  const unread = words.filter((word) => !read.some((one) => one.startsWith(word)));
  faults.push(...unread.map((word) => `not read: ${word}`));
  faults.push(...(await faultsInForcedColors(page)));
  return keepingSize(page, async () => [
    ...faults,
    ...(await inEachTheme(page, async (scheme) => [
      ...(await axeFindings(page, scheme)),
      ...(await dimTexts(page)),
      ...(await page.evaluate(findForeignLooks)),
      // Words are where they are in both.
      ...(scheme === 'light' ? await page.evaluate(findBadWords) : []),
    ])),
    ...(await faultsAtDoubleText(page)),
    ...(await faultsOfNarrow(page)),
  ]);
}

function hasKeyboard(page: Page, part: string): Promise<boolean> {
  return page.evaluate((id) => document.getElementById(id)?.contains(document.activeElement) === true, part);
}

async function dimTexts(page: Page): Promise<readonly string[]> {
  const all = await contrasts(page);
  // A button that waits is dim on purpose (WCAG 1.4.3, inactive components).
  const dim = all.filter(({ ratio, text }) => ratio < 4.5 && !text.startsWith('Send a new code in'));
  const faults = dim.map(({ text, ratio }) => `dim (${ratio.toFixed(1)}): ${text}`);
  return all.length > 3 ? faults : [...faults, 'hardly any text'];
}

/** Runs in the page: words that are broken within, and one thing in the plural. */
function findBadWords(): string[] {
  const found: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    const text = textContent ?? '';
    if (!parentElement?.checkVisibility() || parentElement.closest('script, pre, .sr, .mono')) continue;
    const many = /(?<![\d.,:])1 [a-z]{3,}[^s\W]s\b/.exec(text)?.[0];
    if (many !== undefined) found.push(`one in the plural: ${many}`);
    for (const { 0: word, index } of text.matchAll(/(?<!\S)\p{L}{2,16}(?!\S)/gu)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      const lines = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top)));
      if (lines.size > 1) found.push(`a broken word: ${word}`);
    }
  }
  return found;
}

/** Runs in the page: links and lines of support that do not look as on the other pages. */
function findForeignLooks(): string[] {
  const seen = (selector: string) =>
    Array.from(document.querySelectorAll<HTMLElement>(selector)).filter((one) => one.checkVisibility());
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = 'var(--accent)';
  const accent = getComputedStyle(probe).color;
  probe.remove();
  return [
    ...seen('main a:not(.button), footer a')
      .filter((one) => getComputedStyle(one).color !== accent)
      .map((one) => `a link of another colour: ${one.outerHTML}`),
    ...seen('[data-support]')
      .filter((one) => getComputedStyle(one).fontSize !== '13px')
      .map((one) => `support in ${getComputedStyle(one).fontSize}`),
    ...seen('main, main > .card')
      .filter((one) => one.matches('.card') && getComputedStyle(one).paddingInlineStart !== '16px')
      .map((one) => `a card of another padding: ${one.id}`),
    ...seen('main:not(.card)')
      .filter((one) => getComputedStyle(one).borderTopWidth !== '0px')
      .map(() => 'a card that is not one of the parts'),
  ];
}

/**
 * The same on 320 pixels, which is 1280 at 400 %, in both directions of writing, with all that can be opened open, for
 * a person who wants no motion.
 */
export function faultsOnSmallPhone(page: Page): Promise<readonly string[]> {
  return keepingSize(page, () => faultsOfNarrow(page));
}

async function faultsOfNarrow(page: Page): Promise<readonly string[]> {
  await setWidth(page, 320);
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
  return page.evaluate(() => {
    const root = document.documentElement;
    const all = Array.from(document.querySelectorAll<HTMLElement>('body *'));
    const found: string[] = [];
    const titles = all.filter((one) => one.matches('h1') && one.checkVisibility());
    if (titles.length !== 1) found.push(`${titles.length} titles`);
    const closed = Array.from(document.querySelectorAll<HTMLDetailsElement>('details:not([open])'));
    for (const one of closed) one.open = true;
    for (const dir of ['rtl', 'ltr']) {
      root.dir = dir;
      if (root.scrollWidth > 320) found.push(`${root.scrollWidth} pixels wide, ${dir}`);
    }
    for (const one of closed) one.open = false;
    const touched = 'button, input, select, .choice, [data-view] summary, #rail a';
    for (const one of all.filter((each) => each.matches(touched) && each.checkVisibility())) {
      const box = (one.matches('[type=radio], [type=checkbox]') && one.closest('label')) || one;
      const { width, height } = box.getBoundingClientRect();
      if (width > 1 && height < 43.5) found.push(`${height} pixels high: ${one.id || one.outerHTML}`);
    }
    // Nothing unseen makes the page longer than what is seen of it, and the bar below.
    const seen = all.filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.clientWidth > 1);
    const end = Math.max(innerHeight, ...seen.map((one) => one.getBoundingClientRect().bottom + scrollY));
    if (root.scrollHeight > end + 100) found.push(`${root.scrollHeight} pixels long, of which ${end} are seen`);
    const moving = all.filter((one) => getComputedStyle(one).animationName !== 'none');
    found.push(...moving.map((one) => `moves: ${one.id || one.className}`));
    return found;
  });
}
