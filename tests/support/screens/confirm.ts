import type { Page } from 'puppeteer-core';
import { awaitSelector, press } from '../pay.ts';
import type { ScreenWants } from './faults.ts';
import { ownerOf, strangerOf } from './people.ts';
import { type Screen, type World, walk } from './screen.ts';

/** The confirm page, for a browser without an account, and for one whose account has funds. */
export function confirmScreens(world: World): readonly Screen[] {
  let id = 0;
  const ask = async (page: Page, more: object) => {
    const data = { to: `0x${'a1'.repeat(20)}`, amount: '1000', token: 'native', chainId: 84532, label: 'Tea', ...more };
    const text = JSON.stringify({ id: `seen-${id++}`, data, returnUrl: world().shop });
    const request = encodeURIComponent(Buffer.from(text).toString('base64'));
    await page.goto(`${world().origin}/pay/confirm?mode=redirect&request=${request}`);
  };
  const [newcomer, payer] = [strangerOf(world), ownerOf(world)];
  interface Way {
    readonly who: () => Promise<{ readonly page: Page }>;
    /** What the page's scripts find changed. */
    readonly before?: string;
    readonly order?: object;
  }
  interface Shown {
    readonly buttons?: readonly string[];
    readonly shown: string;
  }
  type At = readonly [name: string, shown: Shown, wants: ScreenWants];
  const follow = ({ who, before = '', order = {} }: Way, ...screens: readonly At[]) =>
    walk(
      async () => {
        const person = await who();
        const { identifier } = await person.page.evaluateOnNewDocument(before);
        await ask(person.page, order);
        await person.page.removeScriptToEvaluateOnNewDocument(identifier);
        return person;
      },
      screens.map(([name, { buttons = [], shown }, wants]) => ({
        ...wants,
        name: `/pay/confirm: ${name}`,
        async go({ page }) {
          for (const button of buttons) await press(page, button);
          await awaitSelector(page, shown);
        },
      })),
    );
  return [
    ...follow(
      { who: newcomer },
      [
        'which account',
        { shown: '#find' },
        {
          part: 'setup',
          tabs: ['setup-title', 'find', 'newcomer', 'setup-cancel'],
          words: ['heading: Pay with your passkey', 'button: Use my passkey', 'button: Cancel'],
        },
      ],
      [
        'a new account',
        { buttons: ['newcomer'], shown: '#create' },
        {
          part: 'new',
          tabs: ['name', 'create', 'new-back'],
          words: ['heading: A new, empty account', 'textbox: Name of a new account', 'button: Create an account'],
        },
      ],
    ),
    ...follow(
      { who: payer, order: { label: 'W'.repeat(80) } },
      [
        'review',
        { shown: '#approve:not([disabled])' },
        {
          part: 'review',
          tabs: ['review-title', '', 'approve', 'other', 'cancel'],
          words: [
            'heading: Pay 0.000000000000001 ETH',
            'alert:',
            'list:',
            'listitem:',
            'term:',
            'definition:',
            'status:',
          ],
        },
      ],
      [
        'other accounts',
        { buttons: ['other'], shown: '#accounts button' },
        { part: 'setup', words: ['button: Rename '] },
      ],
      ['done', { buttons: ['setup-back', 'approve'], shown: '#receipt dd' }, { part: 'done' }],
    ),
    ...follow(
      { who: payer, order: { amount: String(10n ** 30n) } },
      ['review without funds', { shown: '#add' }, { part: 'review' }],
      [
        'funds',
        { buttons: ['add'], shown: '#funds-code path' },
        { part: 'funds', tabs: ['funds-title'], words: ['image: QR code of the address'] },
      ],
    ),
    ...follow({ who: payer, order: { chainId: 1 } }, ['problem', { shown: '#leave-link' }, { part: 'problem' }]),
    ...follow({ who: newcomer, before: 'delete globalThis.PublicKeyCredential' }, [
      'a browser without passkeys',
      { shown: '#leave-link' },
      { part: 'problem', words: ['heading: This browser cannot use passkeys here'] },
    ]),
  ];
}
