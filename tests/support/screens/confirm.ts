import type { Page } from 'puppeteer-core';
import { awaitSelector, press } from '../pay.ts';
import type { ScreenWants } from './faults.ts';
import { ownerOf, strangerOf } from './people.ts';
import type { Screen, World } from './screen.ts';

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
    readonly buttons?: readonly string[];
    readonly shown: string;
  }
  const at = (
    name: string,
    { who, before = '', order = {}, buttons = [], shown }: Way,
    wants: ScreenWants,
  ): Screen => ({
    ...wants,
    name: `/pay/confirm: ${name}`,
    async reach() {
      const { page } = await who();
      const { identifier } = await page.evaluateOnNewDocument(before);
      await ask(page, order);
      await page.removeScriptToEvaluateOnNewDocument(identifier);
      for (const button of buttons) await press(page, button);
      await awaitSelector(page, shown);
      return page;
    },
  });
  const order = { amount: String(10n ** 30n) };
  return [
    at(
      'which account',
      { who: newcomer, shown: '#find' },
      {
        part: 'setup',
        tabs: ['setup-title', 'find', 'newcomer', 'setup-cancel'],
        words: ['heading: Pay with your passkey', 'button: Use my passkey', 'button: Cancel'],
      },
    ),
    at(
      'a new account',
      { who: newcomer, buttons: ['newcomer'], shown: '#create' },
      {
        part: 'new',
        tabs: ['name', 'create', 'new-back'],
        words: ['heading: A new, empty account', 'textbox: Name of a new account', 'button: Create an account'],
      },
    ),
    at(
      'review',
      { who: payer, order: { label: 'W'.repeat(80) }, shown: '#approve:not([disabled])' },
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
    ),
    at('review without funds', { who: payer, order, shown: '#add' }, { part: 'review' }),
    at(
      'funds',
      { who: payer, order, buttons: ['add'], shown: '#funds-code path' },
      { part: 'funds', tabs: ['funds-title'], words: ['image: QR code of the address'] },
    ),
    at(
      'other accounts',
      { who: payer, buttons: ['other'], shown: '#accounts button' },
      { part: 'setup', words: ['button: Rename '] },
    ),
    at('done', { who: payer, buttons: ['approve'], shown: '#receipt dd' }, { part: 'done' }),
    at('problem', { who: payer, order: { chainId: 1 }, shown: '#leave-link' }, { part: 'problem' }),
    at(
      'a browser without passkeys',
      { who: newcomer, before: 'delete globalThis.PublicKeyCredential', shown: '#leave-link' },
      { part: 'problem', words: ['heading: This browser cannot use passkeys here'] },
    ),
  ];
}
