import type { Page } from 'puppeteer-core';

/** Every text that can be seen, with how much it stands out from what is behind it (WCAG 2.2, section 1.4.3). */
export function contrasts(page: Page): Promise<{ text: string; ratio: number }[]> {
  return page.evaluate(() => {
    const luminance = (color: string) => {
      const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
        const share = Number(part) / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const groundOf = (element: Element | null): string => {
      if (!element) return 'rgb(255, 255, 255)';
      const { backgroundColor } = getComputedStyle(element);
      return backgroundColor === 'rgba(0, 0, 0, 0)' ? groundOf(element.parentElement) : backgroundColor;
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: { text: string; ratio: number }[] = [];
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      const text = textContent?.trim() ?? '';
      if (!parentElement?.checkVisibility() || text === '' || parentElement.closest('script')) continue;
      const ink = luminance(getComputedStyle(parentElement).color);
      const ground = luminance(groundOf(parentElement));
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
