import type { Page } from 'puppeteer-core';

/**
 * Every text that can be seen, with how much it stands out from what is behind it (WCAG 2.2, section 1.4.3), also where
 * one shines through the other. What is disabled is dim on purpose.
 */
export function contrasts(page: Page): Promise<{ text: string; ratio: number }[]> {
  return page.evaluate(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
    const paint = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
    const known = new Map<string, number>();
    /** The luminance of these colours, each laid over those before it, the last one as opaque as this. */
    const luminance = (layers: readonly string[], opacity = 1) => {
      const key = [...layers, opacity].join();
      const before = known.get(key);
      if (before !== undefined) return before;
      for (const [i, color] of layers.entries()) {
        paint.globalAlpha = i === layers.length - 1 ? opacity : 1;
        paint.fillStyle = color;
        paint.fillRect(0, 0, 1, 1);
      }
      const [r = 0, g = 0, b = 0] = Array.from(paint.getImageData(0, 0, 1, 1).data, (value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      const made = 0.2126 * r + 0.7152 * g + 0.0722 * b;
      known.set(key, made);
      return made;
    };
    const upFrom = (element: Element | null): Element[] => (element ? [element, ...upFrom(element.parentElement)] : []);
    /** What is behind it: where it is in the window, by what is painted there. */
    const behind = (element: Element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const there = document.elementsFromPoint(left + width / 2, top + height / 2);
      const around = upFrom(element);
      return around.every((one) => there.includes(one)) ? there.slice(there.indexOf(element)) : around;
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: { text: string; ratio: number }[] = [];
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      const text = textContent?.trim() ?? '';
      if (!parentElement?.checkVisibility() || text === '') continue;
      if (parentElement.closest('script, :disabled, [aria-disabled=true]')) continue;
      const opacity = upFrom(parentElement).reduce(
        (product, one) => product * Number(getComputedStyle(one).opacity),
        1,
      );
      if (opacity === 0) continue;
      const grounds = behind(parentElement).map((one) => getComputedStyle(one).backgroundColor);
      const layers = ['white', ...grounds.toReversed()];
      const [ground, ink] = [luminance(layers), luminance([...layers, getComputedStyle(parentElement).color], opacity)];
      found.push({ text, ratio: (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05) });
    }
    return found;
  });
}

/** The ids that the Tab key leads to, from the part's heading on, until it leaves the page or has been everywhere. */
export async function tabOrder(page: Page, count: number): Promise<(string | undefined)[]> {
  const ids: (string | undefined)[] = [];
  for (let i = 0; i < count; i++) {
    await page.keyboard.press('Tab');
    ids.push(await page.evaluate(() => document.activeElement?.id));
  }
  return ids;
}

/** Roles and names, as a screen reader gets them. */
export async function spoken(page: Page): Promise<string[]> {
  const all: string[] = [];
  const walk = (node: { role: string; name?: string; children?: object[] }) => {
    all.push(`${node.role}: ${node.name ?? ''}`);
    for (const child of node.children ?? []) walk(child as typeof node);
  };
  walk((await page.accessibility.snapshot({ interestingOnly: false })) as never);
  return all;
}
