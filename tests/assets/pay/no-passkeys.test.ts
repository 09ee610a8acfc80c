import { beforeEach, expect, test } from 'bun:test';
import { openPayPages, orderOf, type PayPages } from '../../support/pay-page/pages.ts';

const WORDS = 'This browser cannot use passkeys here';
let pages: PayPages;
beforeEach(async () => {
  pages = await openPayPages();
});

test('a browser without passkeys says so before anything is asked, and leads back to the shop', async () => {
  const [device, order] = [pages.device(), orderOf()];
  device.hasPasskeys = false;
  const window = pages.link(device, order);
  expect(await window.shows('problem')).toContain(WORDS);
  expect(window.text('retry')).toBe('');
  expect(window.outcomeIn('leave-link')).toEqual({ id: order.id, error: 'passkeys_unavailable' });
});

test('in a popup the shop gets the word when the person closes it', async () => {
  const device = pages.device();
  device.hasPasskeys = false;
  const window = pages.popup(device, orderOf());
  expect(await window.shows('problem')).toContain(WORDS);
  await window.press('leave');
  expect(window.told).toMatchObject([{ type: 'cancel', reason: 'passkeys_unavailable' }]);
});

test('a payment that was sent is followed without passkeys, too', async () => {
  const [person, order] = [await pages.person(), orderOf()];
  pages.vault.shows = 'open';
  const first = await pages.approved(person, order);
  await first.awaitsBlock();
  first.close();
  person.device.hasPasskeys = false;
  const window = pages.popup(person.device, order);
  await window.awaitsBlock();
  pages.vault.shows = 'paid';
  await window.shows('done');
});
