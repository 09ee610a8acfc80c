import type { Page } from 'puppeteer-core';
import { USDC } from '../../../scripts/dev-stack/usdc.ts';
import type { Device } from '../account-page.ts';
import { awaitSelector, press } from '../pay.ts';
import type { ScreenWants } from './faults.ts';
import { ownerOf, strangerOf } from './people.ts';
import type { Screen, World } from './screen.ts';

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
  interface Way {
    readonly who: () => Promise<Person>;
    readonly asked?: () => object;
    /** On the way to what is shown. */
    readonly go?: (here: Person) => Promise<unknown>;
    readonly shown: string;
  }
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
  const at = (name: string, { who, asked = textOf(TEXT), go, shown }: Way, wants: ScreenWants): Screen => ({
    ...wants,
    name: `/approve: ${name}`,
    async reach() {
      const here = await who();
      const { page } = here;
      await follow(page, { id: 'payout-17', ...asked() });
      await go?.(here);
      await awaitSelector(page, shown);
      return page;
    },
  });
  return [
    at(
      'which account',
      { who: newcomer, shown: '#find' },
      {
        part: 'setup',
        tabs: ['setup-title', 'find', 'setup-cancel'],
        words: ['heading: Which account approves?', 'button: Use my passkey', 'button: Cancel'],
      },
    ),
    at(
      'review',
      { who: approver, shown: '#approve:not([disabled])' },
      {
        part: 'review',
        tabs: ['review-title', '', 'approve', 'other', 'cancel'],
        words: ['heading: Approve this?', 'alert:', 'term:', 'definition:'],
      },
    ),
    at(
      'a passkey that was not used',
      {
        who: approver,
        go: async ({ page, passkeys }) => {
          await passkeys.allow(false);
          await press(page, 'approve');
          await awaitSelector(page, '#review-notice');
          await passkeys.allow(true);
        },
        shown: '#approve:not([disabled])',
      },
      { part: 'review', words: ['heading: Approve this?', 'alert:'] },
    ),
    at(
      'the accounts of a browser',
      { who: approver, go: ({ page }) => press(page, 'other'), shown: '#accounts' },
      { part: 'setup', words: ['heading: Which account approves?', 'button: Use a passkey I have', 'button: Back'] },
    ),
    at(
      'a transfer',
      { who: approver, asked: transferOf('1250000'), shown: '#approve:not([disabled])' },
      {
        part: 'review',
        tabs: ['review-title', '', 'approve', 'other', 'cancel'],
        words: ['heading: Pay 1.25 USDC', 'alert:', 'button: Pay 1.25 USDC to'],
      },
    ),
    at(
      'a transfer of more than there is',
      { who: approver, asked: transferOf('123456789012345678'), shown: '#recheck' },
      {
        part: 'review',
        tabs: ['review-title', '', 'recheck', 'other', 'cancel'],
        words: ['heading: Pay 123,456,789,012.345678 USDC', 'alert:', 'button: Check again'],
      },
    ),
    at(
      'a problem',
      { who: approver, asked: textOf('Pay \u202eboB'), shown: '#problem' },
      { part: 'problem', tabs: ['problem-title', 'leave'], words: ['heading: This cannot be approved'] },
    ),
  ];
}
