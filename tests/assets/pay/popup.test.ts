import { beforeEach, expect, test } from 'bun:test';
import { popupLine } from '../../support/pay-page/line.ts';
import { openPayPages, orderOf, type PayPages, type Person, SHOP } from '../../support/pay-page/pages.ts';

let pages: PayPages;
let person: Person;
beforeEach(async () => {
  pages = await openPayPages();
  person = await pages.person();
});

const typesOf = (told: readonly { readonly type: string }[]) => told.map(({ type }) => type);

test('an opener is told nothing before approval, and cannot exchange its request', async () => {
  const [order, other] = [orderOf(), orderOf({ amount: '7' })];
  const window = pages.popup(person.device, order);
  await window.shows('review');
  expect(window.told).toEqual([]);
  for (const message of [{ type: 'request', ...other }, { type: 'approve' }, { type: 'answer' }]) window.say(message);
  await pages.minutes(0.1);
  expect(await window.shows('review')).toContain('Pay 0.001 ETH');
  await window.press('approve');
  await window.shows('done');
  expect(typesOf(window.told)).toEqual(['pending', 'answer']);
  const { sent } = pages.vault;
  expect(sent.map(({ operation }) => operation['callData'])).toEqual([expect.stringContaining(order.data.to.slice(2))]);
});

test('nobody speaks in its name, and what it is told is meant for its origin alone', async () => {
  // The page is opened for the shop, by a page of another origin: the browser says who speaks.
  const line = popupLine(SHOP, undefined, pages.time);
  const window = pages.open(person.device, line);
  for (const from of ['https://evil.example', 'https://shop.example.evil.example', 'null'])
    window.say({ type: 'request', ...orderOf() }, from);
  expect(await window.shows('problem')).toContain('There is nothing to pay here');
  expect(line.origins).toEqual(new Set([SHOP]));
});

test('it may take its request back until it is approved', async () => {
  const window = pages.popup(person.device, orderOf());
  await window.shows('review');
  window.say({ type: 'abort' }, 'https://evil.example');
  expect(await window.shows('review')).toContain('Pay 0.001 ETH');
  window.say({ type: 'abort' });
  expect(await window.shows('problem')).toContain('The shop withdrew its request');
});

test('it hears of an end without a payment, by a word for programs', async () => {
  for (const [more, reason] of [
    [{}, 'cancelled'],
    [{ chainId: 1 }, 'other_chain'],
    [{ expires: new Date(pages.time.now() + 30_000).toISOString() }, 'expired'],
  ] as const) {
    const window = pages.popup(person.device, orderOf(more));
    if (reason === 'cancelled') await window.press('cancel');
    else await window.press('leave');
    expect([window.isOpen(), window.told]).toMatchObject([false, [{ type: 'cancel', reason }]]);
  }
});

test.each(['', 'shop.example', 'http://shop.example', 'https://shop.example/path', 'javascript:alert(1)', 'null'])(
  'an opener that says it is %p is none',
  async (origin) => {
    const line = {
      ...popupLine(SHOP, orderOf(), pages.time),
      query: `mode=popup&origin=${encodeURIComponent(origin)}`,
    };
    expect(await pages.open(person.device, line).shows('problem')).toContain('There is nothing to pay here');
    expect(line.told).toEqual([]);
  },
);
