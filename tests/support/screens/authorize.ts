import type { Visitor } from '../authorize-page.ts';
import { press } from '../pay.ts';
import { knownOf, strangerOf } from './people.ts';
import { address, type Screen, type Step, type World, walk } from './screen.ts';

/** The page of sign-ins by the app's link, for somebody new. */
export function newcomerScreens(world: World, change: Readonly<Record<string, string>> = {}): readonly Screen[] {
  const newcomer = strangerOf(world);
  const who = address();
  const at = (name: string, part: string, go: (visitor: Visitor) => Promise<unknown>): Step<Visitor> => ({
    name: `/authorize: ${name}`,
    part,
    async go(visitor) {
      await go(visitor);
      await visitor.screen(part);
    },
  });
  const begin = async () => {
    const visitor = await newcomer();
    await visitor.page.goto(world().app.link(change));
    return visitor;
  };
  return walk(begin, [
    at('start', 'start', async () => undefined),
    at('a fault', 'start', async (visitor) => {
      await visitor.enter('nonsense');
      await visitor.screen('address-fault');
    }),
    at('no passkey here', 'start', async ({ page, screen }) => {
      await press(page, 'sign-in');
      await screen('start-notice');
    }),
    at('code', 'code', (visitor) => visitor.enter(who)),
    at('passkey', 'passkey', (visitor) => visitor.typeCode(who)),
  ]);
}

/** The same for somebody whom the browser or the vault knows, and by a link with a mistake. */
export function knownScreens(world: World): readonly Screen[] {
  const [stranger, known] = [strangerOf(world), knownOf(world)];
  const follow = async (
    who: () => Promise<Visitor>,
    change: Readonly<Record<string, string>> = {},
    ...buttons: string[]
  ) => {
    const visitor = await who();
    await visitor.page.goto(world().app.link(change));
    for (const button of buttons) await press(visitor.page, button);
    return visitor;
  };
  const shown = async ({ page, screen }: Visitor, part: string) => {
    await screen(part);
    return page;
  };
  return [
    {
      name: '/authorize: start of somebody known',
      part: 'start',
      reach: async () => shown(await follow(known), 'start'),
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
        const visitor = await follow(stranger);
        await visitor.enter((await known()).who);
        return shown(visitor, 'owned');
      },
    },
    ...walk(
      () => follow(known, { scope: 'openid email phone' }, 'sign-in'),
      [
        {
          name: '/authorize: an address that the app asks for',
          part: 'give',
          words: ['heading: Choose an address', 'button: Add a phone number'],
          go: ({ screen }) => screen('give'),
        },
        {
          name: '/authorize: an address to add',
          part: 'add',
          words: ['heading: Add a phone number'],
          async go({ page, screen }) {
            await press(page, 'give-add-sms');
            await screen('add');
          },
        },
      ],
    ),
    {
      name: '/authorize: problem',
      part: 'problem',
      reach: async () => shown(await follow(stranger, { client_id: 'other' }), 'problem'),
    },
  ];
}
