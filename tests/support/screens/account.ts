import { type Device, makeHere, pressNamed, type } from '../account-page.ts';
import { awaitRow } from '../authorize-page.ts';
import { awaitSelector, press } from '../pay.ts';
import { knownOf, ownerOf, strangerOf } from './people.ts';
import type { Screen, World } from './screen.ts';

/** The account page, on its first visit and for somebody with funds. */
export function accountScreens(world: World): readonly Screen[] {
  const [stranger, owner] = [strangerOf(world), ownerOf(world)];
  const at = (part: string, go: (here: Device) => Promise<unknown>, shown = part): Screen => ({
    name: `/account: ${part}`,
    part,
    async reach() {
      const here = await owner();
      await here.go('');
      await here.screen('home');
      await go(here);
      await here.screen(shown);
      return here.page;
    },
  });
  const start = async () => {
    const { page, screen } = await stranger();
    await page.goto(`${world().origin}/account`);
    await screen('start');
    return page;
  };
  const isRich = () => document.getElementById('money')?.childElementCount === 2;
  return [
    {
      name: '/account: start',
      part: 'start',
      tabs: ['start-title', 'sign-in', 'create', 'lost-link'],
      words: ['heading: Your account', 'button: Sign in with a passkey', 'button: I lost my passkey'],
      reach: start,
    },
    at('home', ({ page }) => page.waitForFunction(isRich)),
    at('pick', ({ page }) => press(page, 'add')),
    at('qr', ({ go }) => go('qr'), 'qr-code'),
    at('key', ({ page }) => pressNamed(page, 'Change First passkey')),
    at('confirm', (here) => makeHere(here)),
    at('take', ({ page }) => press(page, 'export')),
    at('mail', ({ go }) => go('recover')),
    at('problem', ({ go }) => go('join=no')),
  ];
}

/** Its statement, for somebody with an address. Time passes on the way, which the windows of others do not know. */
export function statementScreens(world: World): readonly Screen[] {
  const known = knownOf(world);
  const stated = async () => {
    const { page, screen } = await known();
    if (new URL(page.url()).pathname !== '/account') await page.goto(`${world().origin}/account`);
    await awaitSelector(page, ['start', 'home', 'statement'].map((id) => `#${id}:not([hidden])`).join());
    if (await page.$('#start:not([hidden])')) {
      await press(page, 'sign-in');
      await screen('home');
    }
    await page.evaluate(() => {
      location.hash = 'statement';
    });
    await screen('statement');
    return page;
  };
  return [
    {
      name: '/account: statement',
      part: 'statement',
      words: ['heading: Show that an address is yours'],
      reach: stated,
    },
    {
      name: '/account: statement, its faults',
      part: 'statement',
      async reach() {
        const page = await stated();
        await page.keyboard.press('Enter');
        return page;
      },
    },
    {
      name: '/account: statement, made',
      part: 'statement',
      words: ['heading: Show that an address is yours', 'button: Save the file'],
      async reach() {
        const page = await stated();
        const { who, did } = await known();
        await awaitRow(world(), 'SELECT 1 FROM registrations WHERE did = :did AND final = 1', { did });
        await type(page, 'state-address', who);
        await type(page, 'state-for', 'shop.example/contact');
        await type(page, 'state-nonce', 'heron 48');
        await page.keyboard.press('Enter');
        await awaitSelector(page, '#state-made');
        return page;
      },
    },
  ];
}
