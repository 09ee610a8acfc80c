import type { Page } from 'puppeteer-core';
import { createViews, type Panels } from '../../../assets/console/views.ts';
import { openConsole } from '../console.ts';
import { VAULT_SECRET } from '../vault.ts';
import { address, once, type Screen, type World } from './screen.ts';

const PHONE = { width: 320, height: 640, isMobile: true, hasTouch: true };

/** The console on a phone: its sign-in, every view of the rail, and what opens above them. */
export function consoleScreens(world: World): readonly Screen[] {
  const open = once(async () => {
    const c = await openConsole(world().own.browser, world().t.url);
    await c.page.setViewport(PHONE);
    return c;
  });
  const operator = once(async () => {
    await world().t.from('10.9.0.1').call('POST /api/verify/send', { identifier: address(), channel: 'email' });
    const c = await open();
    await c.signIn(VAULT_SECRET.replace('00', 'ff'));
    await c.phase('live');
    await c.page.waitForSelector('#events tr');
    return c;
  });
  const viewOf = (name: string): Screen => ({
    name: `/console: ${name}`,
    part: `view-${name}`,
    async reach() {
      const { page, view, says } = await operator();
      // The keys may be open above.
      await page.$eval('#help', (dialog) => (dialog as HTMLDialogElement).close());
      await view(name);
      await page.waitForFunction(() => document.querySelector('[aria-busy]') === null);
      if (name === 'limits') await says('#limits-list', /Codes asked for by/);
      return page;
    },
  });
  const views = createViews({ charts: {}, registrations: {}, sessions: {} } as Panels).map(({ name }) => name);
  const above = (name: string, act: (page: Page) => Promise<unknown>): Screen => ({
    name: `/console: ${name}`,
    async reach() {
      const { page } = await operator();
      await act(page);
      return page;
    },
  });
  return [
    { name: '/console: sign-in', part: 'sign-in', reach: async () => (await open()).page },
    ...views.filter((name) => name !== 'settings').map(viewOf),
    above('the opened bar', (page) => page.$eval('#more', (button) => (button as HTMLElement).click())),
    above('keys', (page) => page.$eval('#help', (dialog) => (dialog as HTMLDialogElement).showModal())),
    // Its many rows stay in the page, where each look at a later screen would go through them.
    viewOf('settings'),
  ];
}
