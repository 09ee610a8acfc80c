import { type Visitor, visit } from '../authorize-page.ts';
import { press } from '../pay.ts';
import { address, once, type Screen, type World } from './screen.ts';

/** The page of sign-ins by the app's link, for somebody new. */
export function newcomerScreens(world: World, change: Readonly<Record<string, string>> = {}): readonly Screen[] {
  const newcomer = once(() => visit(world()));
  const at = (name: string, part: string, go: (visitor: Visitor) => Promise<unknown>): Screen => ({
    name: `/authorize: ${name}`,
    part,
    async reach() {
      const visitor = await newcomer();
      await visitor.page.goto(world().app.link(change));
      await go(visitor);
      await visitor.screen(part);
      return visitor.page;
    },
  });
  return [
    at('start', 'start', async () => undefined),
    at('a fault', 'start', async (visitor) => {
      await visitor.enter('nonsense');
      await visitor.screen('address-fault');
    }),
    at('no passkey here', 'start', async ({ page, screen }) => {
      await press(page, 'sign-in');
      await screen('start-notice');
    }),
    at('code', 'code', (visitor) => visitor.enter(address())),
    at('passkey', 'passkey', (visitor) => prove(visitor, address())),
  ];
}

async function prove(visitor: Visitor, who: string): Promise<void> {
  await visitor.enter(who);
  await visitor.typeCode(who);
}

/** The same for somebody whom the browser or the vault knows, and by a link with a mistake. */
export function knownScreens(world: World): readonly Screen[] {
  const known = once(async () => {
    const [visitor, who] = [await visit(world()), address()];
    await prove(visitor, who);
    await press(visitor.page, 'passkey-go');
    await visitor.arrive();
    return { who, passkeys: visitor.passkeys, context: visitor.context };
  });
  return [
    {
      name: '/authorize: start of somebody known',
      part: 'start',
      async reach() {
        const again = await visit(world(), undefined, await known());
        await again.screen('start');
        return again.page;
      },
    },
    {
      name: '/authorize: an address of another account',
      part: 'owned',
      words: [
        'heading: This address belongs to another account',
        'button: Sign in with a passkey',
        'button: Register it again',
      ],
      async reach() {
        const { who, passkeys } = await known();
        const forgetful = await visit(world(), undefined, { passkeys });
        await forgetful.enter(who);
        await forgetful.screen('owned');
        return forgetful.page;
      },
    },
    {
      name: '/authorize: an address that the app asks for',
      part: 'give',
      words: ['heading: Choose an address', 'button: Add a phone number'],
      async reach() {
        const { page, screen } = await visit(world(), world().app.link({ scope: 'openid email phone' }), await known());
        await press(page, 'sign-in');
        await screen('give');
        return page;
      },
    },
    {
      name: '/authorize: an address to add',
      part: 'add',
      words: ['heading: Add a phone number'],
      async reach() {
        const { page, screen } = await visit(world(), world().app.link({ scope: 'openid phone' }), await known());
        await press(page, 'sign-in');
        await press(page, 'give-add-sms');
        await screen('add');
        return page;
      },
    },
    {
      name: '/authorize: problem',
      part: 'problem',
      async reach() {
        const { page, screen } = await visit(world(), world().app.link({ client_id: 'other' }));
        await screen('problem');
        return page;
      },
    },
  ];
}
