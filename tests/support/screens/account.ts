import { createHere, type Device, makeHere, openDevice, pressNamed, type } from '../account-page.ts';
import { awaitRow, goThrough, visit } from '../authorize-page.ts';
import { awaitSelector, createPasskeys, press } from '../pay.ts';
import { address, once, type Screen, type World } from './screen.ts';

/** The account page, on its first visit and for somebody with funds. */
export function accountScreens(world: World): readonly Screen[] {
  const owner = once(async () => {
    const here = await openDevice(world(), { passkeys: createPasskeys() });
    await createHere(world(), here);
    return here;
  });
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
    const { page, screen } = await openDevice(world());
    await screen('start');
    return page;
  };
  const holder = once(async () => {
    const [email, visitor] = [address(), await visit(world())];
    const did = String((await goThrough(visitor, email)).answer?.['did']);
    return { email, did, ...(await visit(world(), `${world().origin}/account`, visitor)) };
  });
  const stated = async () => {
    const { page, screen } = await holder();
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
        const { email, did } = await holder();
        await awaitRow(world(), 'SELECT 1 FROM registrations WHERE did = :did AND final = 1', { did });
        await type(page, 'state-address', email);
        await type(page, 'state-for', 'shop.example/contact');
        await type(page, 'state-nonce', 'heron 48');
        await page.keyboard.press('Enter');
        await awaitSelector(page, '#state-made');
        return page;
      },
    },
    at('problem', ({ go }) => go('join=no')),
  ];
}
