import type { Page } from 'puppeteer-core';

/** Gives a page words of a language in which each message stands in ⟦…⟧, so that a text without words is seen. */
export function speakPseudo(page: Page): Promise<unknown> {
  return page.evaluateOnNewDocument(() => {
    const ask = window.fetch.bind(window);
    const marked = (message: string | Record<string, string>) =>
      typeof message === 'string'
        ? `⟦${message}⟧`
        : Object.fromEntries(Object.entries(message).map(([form, text]) => [form, `⟦${text}⟧`]));
    window.fetch = (async (input: RequestInfo, init?: RequestInit) => {
      const url = new URL(String(input), location.href);
      if (!url.pathname.startsWith('/words/')) return ask(input, init);
      url.searchParams.set('lang', 'de');
      const answer = await (await ask(url, init)).json();
      const words = Object.fromEntries(Object.entries(answer.words).map(([id, text]) => [id, marked(text as string)]));
      return Response.json({ ...answer, words });
    }) as typeof fetch;
  });
}

/** What no catalogue has: addresses, hosts, symbols, amounts, the brand, and times, which `Intl` writes. */
const VALUES = [
  /https?:\/\/\S+/g,
  /0x[0-9a-f…]+/gi,
  /\b(?:ETH|USDC|DID|QR|localhost|127\.0\.0\.1|anvil|Vault|Base Sepolia|did:[\w:]+)(?::\d+)?\b/g,
  /\b\p{L}{2,4}\.? \d{4}\b/gu,
  /\d\d:\d\d(?::\d\d)?(?: [A-Z]{2,5}\S*)?/g,
  /[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}/g,
];

/** The texts, labels and placeholders that are shown without being a message, or what is left of them. */
export async function wordless(page: Page, more: readonly RegExp[] = []): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = [document.title];
    const inline = ['SPAN', 'STRONG', 'B', 'BDI', 'A', 'CODE'];
    for (const one of document.body.querySelectorAll('*')) {
      if (!one.checkVisibility() || one.closest('noscript, script, style, pre')) continue;
      found.push(one.getAttribute('aria-label') ?? '', one.getAttribute('placeholder') ?? '');
      // A sentence with elements inside is one text, whose brackets are around all of it.
      const isPart = inline.includes(one.tagName) && one.parentElement?.textContent?.includes('⟦');
      const hasText = [...one.childNodes].some((node) => node instanceof Text && node.data.trim() !== '');
      if (hasText && !isPart) found.push(one.textContent ?? '');
    }
    return found;
  });
  const rest = (text: string): string => {
    const inner = text.replace(/⟦[^⟦⟧]*⟧/g, '');
    return inner === text ? [...VALUES, ...more].reduce((left, one) => left.replace(one, ''), text) : rest(inner);
  };
  return [...new Set(texts.map(rest).filter((text) => /\p{L}/u.test(text)))].map((text) => text.trim());
}
