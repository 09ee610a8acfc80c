import { beforeEach, describe, expect, test } from 'bun:test';
import { newDevice } from '../../support/hostile/device.ts';
import { linkLine } from '../../support/pay-page/line.ts';
import { openPayPages, orderOf, type PayPages, type Person } from '../../support/pay-page/pages.ts';

let pages: PayPages;
let person: Person;
beforeEach(async () => {
  pages = await openPayPages();
  person = await pages.person();
});

const open = (returnUrl: string | undefined, order = orderOf()) =>
  pages.open(person.device, linkLine(order, returnUrl));

test.each([
  ['a script', 'javascript:alert(1)'],
  ['data', 'data:text/html,x'],
  ['a blob', 'blob:https://shop.example/9115d58c-bcda-ff47-86e5-083e9a215304'],
  ['what is not encrypted', 'http://shop.example/back'],
  ['a place with a password', 'https://user:password@shop.example/back'],
  ['an address that is too long', `https://shop.example/${'x'.repeat(2_048)}`],
  ['a path', '/back'],
  ['nowhere', undefined],
])('to return to %s is refused', async (_, returnUrl) => {
  const window = open(returnUrl);
  expect(await window.shows('problem')).toContain('There is nothing to pay here');
  expect(window.text('leave-link')).toBe('');
});

test.each(['', 'e30', '%', 'bm90aGluZw', Buffer.from('[1]').toString('base64url')])(
  'a request of %p has nothing to pay',
  async (text) => {
    const line = { ...linkLine({}, undefined), query: `mode=redirect&request=${text}` };
    expect(await pages.open(person.device, line).shows('problem')).toContain('There is nothing to pay here');
  },
);

describe('a link', () => {
  test('does not speak for the shop that it names, and returns there by a click alone, with the outcome in the fragment', async () => {
    const order = orderOf();
    const url = 'https://shop.example/?order=1#old';
    const window = open(url, order);
    const text = await window.shows('review');
    expect(text).toContain('You followed a link. The receipt goes to shop.example');
    expect(text).toContain('Anyone can make a link like the one you followed');
    await window.press('approve');
    expect(await window.shows('done')).toContain('Return to shop.example');
    const { href } = window.document.byId.get('return') ?? { href: '' };
    expect(href).toStartWith('https://shop.example/?order=1#vault-pay=');
    expect(window.outcomeIn('return')).toMatchObject({ id: order.id, account: person.account, chainId: 84532 });
    expect(window.went).toEqual([]);
    window.close();
    // The same link once more is the receipt.
    await open(url, order).shows('done');
    expect(pages.vault.sent).toHaveLength(1);
  });

  test('may name any shop: the page names none as the asker, in no bold letters, and says that nobody vouches for it', async () => {
    const window = open('https://www.amazon.com/thanks', orderOf({ label: 'Amazon order 111' }));
    const text = await window.shows('review');
    expect(text).toContain('nobody vouches for it');
    expect(text).not.toContain('Requested by');
    // `.known` is bold: who the browser says it is.
    expect(window.document.byId.get('asker')?.className).toBe('');
    expect(window.text('approve')).not.toContain('amazon');
  });

  test('that was cancelled leads back with the reason, and without the account', async () => {
    const order = orderOf();
    const window = open('https://shop.example', order);
    await window.press('cancel');
    expect(await window.shows('problem')).toContain('Cancelled');
    expect(window.outcomeIn('leave-link')).toEqual({ id: order.id, error: 'cancelled' });
    window.press('leave-link');
    await pages.time.settle();
    expect(window.went).toEqual([window.document.byId.get('leave-link')?.href ?? '']);
  });

  test('ends four minutes after its first opening on this device, however often it is opened', async () => {
    const order = orderOf();
    const opens = async (more = {}, device = person.device) => {
      const window = pages.open(device, linkLine({ ...order, ...more }, 'https://shop.example/'));
      await window.until('an end of loading', () => window.part() !== 'loading');
      const text = `${window.part()} ${window.text(window.part() ?? '')}`;
      window.close();
      return text;
    };
    expect(await opens()).toStartWith('review');
    await pages.minutes(2);
    expect(await opens()).toStartWith('review');
    await pages.minutes(2.02);
    expect(await opens()).toContain('The request has expired. Nothing was paid.');
    // The shop made another one for the same order.
    const expires = new Date(pages.time.now() + 9 * 60_000).toISOString();
    expect(await opens({ data: { ...order.data, expires } })).toStartWith('review');
    // A device that never opened it.
    const { indexedDB, keyring, vault } = person.device;
    expect(await opens({}, { ...newDevice(vault, keyring.draw, keyring), indexedDB })).toStartWith('review');
  });
});
