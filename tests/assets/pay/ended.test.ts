import { beforeEach, describe, expect, test } from 'bun:test';
import { openPayPages, orderOf, type PayPages, type Person } from '../../support/pay-page/pages.ts';
import type { RecordedVault } from '../../support/pay-page/vault.ts';

let pages: PayPages;
let vault: RecordedVault;
let person: Person;
beforeEach(async () => {
  pages = await openPayPages();
  ({ vault } = pages);
  person = await pages.person();
});

describe('its time', () => {
  test('is over, and the block final: nothing was paid, and the same request can be paid', async () => {
    vault.shows = 'open';
    const order = orderOf();
    const window = await pages.approved(person, order);
    await window.awaitsBlock();
    vault.shows = 'late';
    expect(await window.shows('pending')).toContain('Time is up.');
    vault.shows = 'ended';
    expect(await window.shows('problem')).toContain('It can no longer be paid');
    await window.press('leave');
    expect(window.told.at(-1)).toMatchObject({ type: 'cancel', reason: 'ended' });
    vault.shows = undefined;
    const second = pages.link(person.device, order);
    await second.press('approve');
    await second.shows('done');
    const [before, after] = vault.sent.map(({ operation }) => operation['nonce']);
    expect(after).toBe(before ?? '');
  });

  test('ended early, while the request goes on: the same window pays again', async () => {
    vault.shows = 'open';
    const window = await pages.approved(person);
    await window.awaitsBlock();
    vault.shows = 'ended';
    await window.shows('problem');
    vault.shows = undefined;
    await window.press('retry');
    await window.press('approve');
    await window.shows('done');
  });

  test('stuck at a low fee: at an eighth more of both fees it is the same payment', async () => {
    vault.shows = 'open';
    const window = await pages.approved(person);
    await window.awaitsBlock();
    await pages.minutes(1);
    expect(await window.shows('pending')).toContain('This takes longer than usual.');
    vault.shows = undefined;
    await window.press('raise');
    await window.shows('done');
    const [first, raised] = [vault.sent[0]?.operation, vault.sent.at(-1)?.operation];
    expect(raised).toMatchObject({ nonce: first?.['nonce'] ?? '', callData: first?.['callData'] ?? '' });
    for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'])
      expect(BigInt(raised?.[fee] ?? 0) * 8n).toBeGreaterThanOrEqual(BigInt(first?.[fee] ?? 0) * 9n);
  });

  test('cancelled by an empty call of the same nonce: said once it is final', async () => {
    vault.shows = 'open';
    const window = await pages.approved(person);
    await window.awaitsBlock();
    await pages.minutes(1);
    await window.shows('pending');
    await window.press('void');
    expect(await window.shows('pending')).toContain('The cancellation is on its way.');
    const [pay, empty] = [vault.sent[0]?.operation, vault.sent.at(-1)?.operation];
    expect([empty?.['nonce'], empty?.['callData']?.length]).toEqual([pay?.['nonce'], 2 + 2 * (4 + 64)]);
    vault.included = vault.sent.at(-1)?.userOpHash;
    vault.shows = 'voiding';
    await window.until('what the block has', () => window.text('pending').includes('nothing was paid'));
    vault.shows = 'voided';
    expect(await window.shows('problem')).toBe(
      'Cancelled\nNothing was paid. The network has cancelled the payment.\nClose',
    );
    await window.press('leave');
    expect(window.told.at(-1)).toMatchObject({ type: 'cancel', reason: 'voided' });
  });

  test('cancelled, and the payment came first: paid', async () => {
    vault.shows = 'open';
    const window = await pages.approved(person);
    await window.awaitsBlock();
    await pages.minutes(1);
    await window.shows('pending');
    await window.press('void');
    vault.included = vault.sent[0]?.userOpHash;
    vault.shows = 'paid';
    await window.shows('done');
    expect(window.told.at(-1)).toMatchObject({ type: 'answer', details: { userOpHash: vault.sent[0]?.userOpHash } });
  });

  test('a transfer that reverts in its block: said once it is final, and not to be tried again', async () => {
    vault.shows = 'reverting';
    const window = await pages.approved(person);
    expect(await window.shows('pending')).toContain('The payment failed, and nothing was paid.');
    vault.shows = 'reverted';
    expect(await window.shows('problem')).toContain('The payment failed\nNothing was paid.');
    expect(window.canPress('retry')).toBe(false);
  });

  test('with less than 90 seconds left nothing is signed', async () => {
    const expires = new Date(pages.time.now() + 80_000).toISOString();
    const late = pages.popup(person.device, orderOf({ expires }));
    expect(await late.shows('problem')).toContain('The request ends in less than 90 seconds');
    // One whose time ran down while it was read.
    const slow = pages.popup(person.device, orderOf());
    await slow.shows('review');
    await pages.minutes(2.6);
    expect(await slow.shows('problem')).toContain('The request ends in less than 90 seconds');
    expect([vault.sent, person.device.keyring.asked]).toEqual([[], 0]);
  });

  test('what an account of the first kind signs does not end: open however late it is, and certain by cancelling', async () => {
    vault.config = { factory2: null };
    person = await pages.person();
    vault.refuse(-32504, 'throttled');
    const window = await pages.approved(person);
    expect(await window.shows('pending')).toContain('It does not end by itself');
    vault.shows = 'ended';
    await pages.minutes(24 * 60);
    expect(await window.shows('pending')).toContain('It may still be paid.');
    vault.bundler = undefined;
    await window.press('void');
    [vault.included, vault.shows] = [vault.sent.at(-1)?.userOpHash, 'voided'];
    expect(await window.shows('problem')).toContain('Nothing was paid.');
  });
});

describe('the page is loaded again', () => {
  test('while the vault cannot be reached: nothing is said of nothing paid', async () => {
    vault.shows = 'open';
    const order = orderOf();
    const first = pages.link(person.device, order);
    await first.press('approve');
    await first.awaitsBlock();
    first.close();
    vault.away = ['/pay/config', '/pay/outcome'];
    const window = pages.link(person.device, order);
    const words = await window.shows('problem');
    expect(words).toContain('The network cannot be reached');
    expect(words).not.toContain('Nothing was paid');
    [vault.away, vault.shows] = [[], undefined];
    await window.press('retry');
    await window.shows('done');
    expect(vault.sent).toHaveLength(1);
  });

  test('after its shop has gone: the popup goes on with what it sent', async () => {
    vault.shows = 'open';
    const first = await pages.approved(person);
    await first.awaitsBlock();
    first.close();
    const window = pages.popup(person.device, undefined);
    await window.awaitsBlock();
    vault.shows = undefined;
    await window.shows('done');
    expect(vault.sent).toHaveLength(1);
  });

  test('after the end of the request: it never says that nothing was paid', async () => {
    vault.away = ['/pay/outcome'];
    const order = orderOf();
    const first = pages.link(person.device, order);
    await first.press('approve');
    await first.awaitsBlock();
    first.close();
    await pages.minutes(5);
    vault.away = [];
    const window = pages.link(person.device, order);
    expect(await window.shows('done')).toContain('Paid 0.001 ETH');
    expect(window.seen()).not.toContain('Nothing was paid');
  });
});
