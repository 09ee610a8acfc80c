import type { Page } from 'puppeteer-core';
import { USDC } from '../../../scripts/dev-stack/usdc.ts';
import type { Device } from '../account-page.ts';
import { awaitSelector, press } from '../pay.ts';
import type { ScreenWants } from './faults.ts';
import { ownerOf, strangerOf } from './people.ts';
import { type Screen, type World, walk } from './screen.ts';

const TEXT = `Pay out 250.00 EUR to Bob Example.\n\nPayout 17\n${'W'.repeat(60)} `.repeat(3).trim();

/** The page of approvals, for a browser without an account, and for one that has one. */
export function approveScreens(world: World): readonly Screen[] {
  const follow = async (page: Page, asked: object) => {
    const text = JSON.stringify({ ...asked, returnUrl: world().shop });
    const request = encodeURIComponent(Buffer.from(text).toString('base64'));
    await page.goto(`${world().origin}/approve?mode=redirect&request=${request}`);
  };
  const [newcomer, approver] = [strangerOf(world), ownerOf(world)];
  type Person = Pick<Device, 'page' | 'passkeys'>;
  /** Its name, what is done on the way to it, and what is shown then. */
  type At = readonly [name: string, go: (here: Person) => Promise<unknown>, shown: string, wants: ScreenWants];
  const nothing = async () => undefined;
  const textOf = (text: string) => () => ({ text, expires: new Date(Date.now() + 600_000).toISOString() });
  const transferOf = (value: string) => () => ({
    form: 'transfer-authorization',
    token: { chainId: 84532, address: USDC },
    authorization: {
      ...{ to: `0x${'a1'.repeat(20)}`, value, validAfter: '0' },
      ...{ validBefore: String(Math.floor(Date.now() / 1000) + 600), nonce: `0x${'c3'.repeat(32)}` },
    },
    label: `https://api.example.com/${'W'.repeat(60)}`,
  });
  const asking = (who: () => Promise<Person>, asked: () => object, ...screens: readonly At[]) =>
    walk(
      async () => {
        const here = await who();
        await follow(here.page, { id: 'payout-17', ...asked() });
        return here;
      },
      screens.map(([name, go, shown, wants]) => ({
        ...wants,
        name: `/approve: ${name}`,
        async go(here) {
          await go(here);
          await awaitSelector(here.page, shown);
        },
      })),
    );
  return [
    ...asking(newcomer, textOf(TEXT), [
      'which account',
      nothing,
      '#find',
      {
        part: 'setup',
        tabs: ['setup-title', 'find', 'setup-cancel'],
        words: ['heading: Which account approves?', 'button: Use my passkey', 'button: Cancel'],
      },
    ]),
    ...asking(
      approver,
      textOf(TEXT),
      [
        'review',
        nothing,
        '#approve:not([disabled])',
        {
          part: 'review',
          tabs: ['review-title', '', 'approve', 'other', 'cancel'],
          words: ['heading: Approve this?', 'alert:', 'term:', 'definition:'],
        },
      ],
      [
        'a passkey that was not used',
        async ({ page, passkeys }) => {
          await passkeys.allow(false);
          await press(page, 'approve');
          await awaitSelector(page, '#review-notice');
          await passkeys.allow(true);
        },
        '#approve:not([disabled])',
        { part: 'review', words: ['heading: Approve this?', 'alert:'] },
      ],
      [
        'the accounts of a browser',
        ({ page }) => press(page, 'other'),
        '#accounts',
        { part: 'setup', words: ['heading: Which account approves?', 'button: Use a passkey I have', 'button: Back'] },
      ],
    ),
    ...asking(approver, transferOf('1250000'), [
      'a transfer',
      nothing,
      '#approve:not([disabled])',
      {
        part: 'review',
        tabs: ['review-title', '', 'approve', 'other', 'cancel'],
        words: ['heading: Pay 1.25 USDC', 'alert:', 'button: Pay 1.25 USDC to'],
      },
    ]),
    ...asking(approver, transferOf('123456789012345678'), [
      'a transfer of more than there is',
      nothing,
      '#recheck',
      {
        part: 'review',
        tabs: ['review-title', '', 'recheck', 'other', 'cancel'],
        words: ['heading: Pay 123,456,789,012.345678 USDC', 'alert:', 'button: Check again'],
      },
    ]),
    ...asking(approver, textOf('Pay \u202eboB'), [
      'a problem',
      nothing,
      '#problem',
      { part: 'problem', tabs: ['problem-title', 'leave'], words: ['heading: This cannot be approved'] },
    ]),
  ];
}
