// An app's page on an origin of its own, in a browser with passkeys in software.
import type { Page } from 'puppeteer-core';
import type { Passkeys, PayWorld } from './pay.ts';

/** Opens a page of the app, in a browser where the vault's own pages know no account yet. */
export async function openApp(
  world: Pick<PayWorld, 'own' | 'shop' | 'origin'>,
  path: string,
  passkeys: Passkeys,
): Promise<Page> {
  const page = await world.own.browser.newPage();
  const session = await page.createCDPSession();
  await session.send('Storage.clearDataForOrigin', { origin: world.origin, storageTypes: 'indexeddb' });
  await passkeys.attach(page);
  await page.goto(world.shop + path);
  return page;
}

/** Signs up at the plain example app, which asks by the browser's own prompts; answers the DID. */
export async function signUp({ t }: Pick<PayWorld, 't'>, page: Page, email: string): Promise<string> {
  const answer = (message: string) => (message.includes('email') ? email : t.codeFor(email));
  page.on('dialog', (dialog) => void dialog.accept(answer(dialog.message())));
  await page.click('#join');
  const shown = await page.waitForFunction(() => /did:\S+/.exec(document.body.textContent ?? '')?.[0], {
    timeout: 60_000,
  });
  return (await shown.jsonValue()) as string;
}
