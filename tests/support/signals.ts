import type { Page } from 'puppeteer-core';

const NAMES = ['signalAllAcceptedCredentials', 'signalCurrentUserDetails', 'signalUnknownCredential'];

/** Hears every signal that the pages of a tab give to passkey managers; answers those so far, by name and ids. */
export async function hearSignals(page: Page): Promise<() => Promise<readonly string[]>> {
  const told: string[] = [];
  await page.exposeFunction('noteSignal', (said: string) => void told.push(said));
  await page.evaluateOnNewDocument(wrapSignals, NAMES);
  await page.evaluate(wrapSignals, NAMES);
  return async () => {
    // Behind all that the page has told before.
    await page.evaluate('0');
    return told;
  };
}

/** Runs in the page. */
function wrapSignals(names: readonly string[]): void {
  if (!('PublicKeyCredential' in globalThis)) return;
  const { noteSignal } = globalThis as unknown as { noteSignal: (said: string) => Promise<void> };
  const signals = PublicKeyCredential as unknown as Record<string, (options: object) => Promise<void>>;
  for (const name of names) {
    const signal = signals[name]?.bind(PublicKeyCredential);
    signals[name] = async (options) => {
      void noteSignal(`${name} ${JSON.stringify(options)}`);
      await signal?.(options);
    };
  }
}
