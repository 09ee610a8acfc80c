// For people who set their own colours or larger text: checks that hold for each screen of each page.
import type { CDPSession, Page } from 'puppeteer-core';
import { setWidth } from '../axe.ts';

/** The session that each page is told its colours by. It stays: its end would take the focus from the page, too. */
const sessions = new WeakMap<Page, CDPSession>();

/** What is lost where the colours are the person's own (forced-colors), on a light and on a dark ground. */
export async function faultsInForcedColors(page: Page): Promise<readonly string[]> {
  // Puppeteer knows no such feature.
  const session = sessions.get(page) ?? (await page.createCDPSession());
  sessions.set(page, session);
  const found: string[] = [];
  await page.evaluate(markEdges);
  for (const value of ['light', 'dark']) {
    const features = [
      { name: 'forced-colors', value: 'active' },
      { name: 'prefers-color-scheme', value },
    ];
    await session.send('Emulation.setEmulatedMedia', { features });
    await page.waitForFunction(`matchMedia('(forced-colors) and (prefers-color-scheme: ${value})').matches`);
    found.push(...(await page.evaluate(findLost)).map((one) => `forced colours, ${value}: ${one}`));
  }
  await session.send('Emulation.setEmulatedMedia', { features: [] });
  await page.$$eval('[data-has-edge]', (all) => {
    for (const one of all) one.removeAttribute('data-has-edge');
  });
  await page.waitForFunction(`!matchMedia('(forced-colors)').matches`);
  return found;
}

/** Runs in the page: marks fields, and buttons that are not text alone. */
function markEdges(): void {
  const isSeen = (color: string) => !/^rgba\(.*, 0\)$|transparent/.test(color);
  for (const one of document.querySelectorAll('button, .button, input:not([type=radio], [type=checkbox]), select')) {
    const { backgroundColor, borderTopColor, borderTopWidth } = getComputedStyle(one);
    const isBox = isSeen(backgroundColor) || (borderTopWidth !== '0px' && isSeen(borderTopColor));
    one.toggleAttribute('data-has-edge', isBox || one.matches('input, select'));
  }
}

/** Runs in the page. */
function findLost(): string[] {
  const found: string[] = [];
  const seen = (selector: string) =>
    Array.from(document.querySelectorAll<HTMLElement>(selector)).filter((one) => one.checkVisibility());
  const nameOf = (one: Element) => (one.id ? `#${one.id}` : one.outerHTML.slice(0, 80));
  const hasEdge = ({ borderBlockEndStyle, borderBlockEndWidth, textDecorationLine }: CSSStyleDeclaration) =>
    (borderBlockEndStyle !== 'none' && borderBlockEndWidth !== '0px') || textDecorationLine !== 'none';
  for (const one of seen('[data-has-edge]')) {
    const field = one.closest('.cells') ?? one;
    if (field.getBoundingClientRect().width > 1 && !hasEdge(getComputedStyle(field)))
      found.push(`no edge: ${nameOf(one)}`);
  }
  for (const one of seen('.cells'))
    if (getComputedStyle(one).backgroundImage === 'none') found.push(`no cells: ${nameOf(one)}`);
  for (const one of seen('.spinner')) {
    const { borderBlockStartColor, borderBlockEndColor } = getComputedStyle(one);
    if (borderBlockStartColor === borderBlockEndColor) found.push(`seems to stand still: ${nameOf(one)}`);
  }
  const chosen = '[aria-current], [aria-selected=true], [aria-pressed=true], .primary';
  const looks = ['color', 'backgroundColor', 'fontWeight', 'textDecorationLine', 'outlineStyle', 'border'] as const;
  const lookOf = (one: Element) => {
    const [own, before] = [getComputedStyle(one), getComputedStyle(one, '::before')];
    return [...looks.map((look) => own[look]), before.content, before.border, before.backgroundColor].join();
  };
  for (const one of seen(chosen)) {
    const around = one.closest('ul, ol, nav, [role=tablist]') ?? one.parentElement;
    const others = Array.from(around?.querySelectorAll(one.tagName) ?? []).filter((other) => !other.matches(chosen));
    if (others.some((other) => lookOf(other) === lookOf(one))) found.push(`looks like any other: ${nameOf(one)}`);
  }
  const luminance = (color: string) => {
    const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => (Number(part) / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (element: Element | null): string => {
    if (!element) return getComputedStyle(document.body).backgroundColor;
    const { backgroundColor } = getComputedStyle(element);
    return /^rgba\(.*, 0\)$/.test(backgroundColor) ? groundOf(element.parentElement) : backgroundColor;
  };
  for (const picture of seen('svg')) {
    const ground = luminance(groundOf(picture));
    const inks = Array.from(picture.querySelectorAll('path, circle, line, polyline'), (one) => getComputedStyle(one))
      .flatMap(({ fill, stroke }) => [fill, stroke])
      .filter((ink) => ink !== 'none' && !/^rgba\(.*, 0\)$/.test(ink))
      .map(luminance);
    const best = Math.max(...inks.map((ink) => (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05)));
    if (inks.length > 0 && best < 1.5) found.push(`a picture that cannot be seen: ${nameOf(picture)}`);
  }
  return [...new Set(found)];
}

/** What does not grow, or has no room, with text of twice the size (WCAG 2.2, section 1.4.4), in both directions. */
export async function faultsAtDoubleText(page: Page): Promise<readonly string[]> {
  await setWidth(page, WIDE);
  const faults = await page.evaluate((width) => {
    const root = document.documentElement;
    const texts = Array.from(document.querySelectorAll<HTMLElement>('body :not(svg *)')).filter(
      (one) =>
        one.checkVisibility() &&
        [...one.childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent?.trim()),
    );
    const sizes = texts.map((one) => Number.parseFloat(getComputedStyle(one).fontSize));
    root.style.fontSize = '200%';
    const found: string[] = [];
    for (const [i, one] of texts.entries()) {
      const { fontSize, overflowX, overflowY, textOverflow } = getComputedStyle(one);
      const name = one.id || one.outerHTML.slice(0, 80);
      if (Number.parseFloat(fontSize) < 1.9 * (sizes[i] ?? 0)) found.push(`does not grow: ${name}`);
      const isCut = /hidden|clip/.test(overflowX + overflowY) && textOverflow !== 'ellipsis' && one.clientWidth > 1;
      if (isCut && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1))
        found.push(`is cut off: ${name}`);
    }
    for (const dir of ['rtl', 'ltr']) {
      root.dir = dir;
      if (root.scrollWidth > width) found.push(`${root.scrollWidth} pixels wide, ${dir}`);
    }
    root.style.fontSize = '';
    return found;
  }, WIDE);
  return faults.map((one) => `at 200 %: ${one}`);
}

/** A window of 1280 pixels at 200 %, the text once more as large. */
const WIDE = 640;
