import { beforeEach, describe, expect, test } from 'bun:test';
import { USDC } from '../../../scripts/dev-stack/usdc.ts';
import type { Device } from '../../support/hostile/device.ts';
import { elementsIn, isShown } from '../../support/pay-page/dom.ts';
import { openPayPages, orderOf, type PayPages, type TestOrder } from '../../support/pay-page/pages.ts';
import { makeNew, type Visit } from '../../support/pay-page/visit.ts';

let pages: PayPages;
let device: Device;
beforeEach(async () => {
  pages = await openPayPages();
  device = pages.device();
});

const tea = (more: Readonly<Record<string, unknown>> = {}): TestOrder =>
  orderOf({ amount: '1250000', token: USDC, label: 'Tea', ...more });
const open = (order = tea()) => pages.link(device, order);
/** Types a name into the field, in place of the suggested one. */
const name = ({ document }: Visit, words: string) => Object.assign(document.byId.get('name') ?? {}, { value: words });
/** What is shown as the primary button: all of it, whichever it is. */
const primaryIn = ({ document: { byId } }: Visit) => {
  const all = new Set([...byId.values()].flatMap((one) => [one, ...elementsIn(one)]));
  const shown = [...all].filter((one) => isShown(one) && one.className.split(' ').includes('primary'));
  return shown.map((one) => one.getAttribute('id') ?? one.textContent);
};

/** An account of this name in the browser, made as a person makes one. */
async function make(words: string, funds: { usdc?: bigint } = {}): Promise<string> {
  const window = open();
  await window.until('a choice', () => window.part() === 'setup' || window.part() === 'review');
  if (window.part() === 'review') await window.press('other');
  await window.press('newcomer');
  await window.shows('new');
  name(window, words);
  await window.press('create');
  if (window.part() === 'new') await window.press('create');
  await window.shows('review');
  const account = window.text('from');
  pages.fund(account, funds);
  window.close();
  await pages.minutes(0.1);
  return account;
}

describe('a first account', () => {
  test('is led to the passkey first, to a new account by a link, and back from its emptiness', async () => {
    const window = open();
    await window.shows('setup');
    expect(primaryIn(window)).toEqual(['find']);
    await window.press('newcomer');
    expect(await window.shows('new')).toContain('A new, empty account');
    await window.press('new-back');
    await makeNew(window);
    expect(await window.shows('review')).toContain('Not enough USDC: 1.25 needed, 0 here.');
    // At the next visit too.
    for (const empty of [window, open()]) {
      await empty.shows('review');
      expect([primaryIn(empty), empty.canPress('add'), empty.canPress('approve')]).toEqual([['another'], true, false]);
    }
    // The picker of the device is open at once.
    await window.press('another');
    await window.shows('review');
    expect(device.keyring.asked).toBe(1);
    // With money it is an account like any other.
    pages.fund(window.text('from'), { usdc: 5_000_000n });
    const rich = open();
    await rich.until('#approve', () => rich.canPress('approve'));
    expect(primaryIn(rich)).toEqual(['approve']);
  });

  test('has the name that its person chose, in the page and in the passkey', async () => {
    const window = open();
    await window.press('newcomer');
    await window.shows('new');
    name(window, '  Tea \u2003 money ');
    await window.press('create');
    await window.shows('review');
    expect(window.text('payer')).toBe('Tea money');
    expect(device.keyring.made).toEqual([{ rpId: 'localhost', name: 'Tea money', displayName: 'Tea money' }]);
    expect(device.persisted).toBe(1);
  });

  test('has a name', async () => {
    const window = open();
    await window.press('newcomer');
    expect(window.document.byId.get('name')?.value).toStartWith('Account of ');
    name(window, ' \u200b ');
    await window.press('create');
    expect(await window.shows('new')).toContain('Give the account a name.');
  });
});

describe('several accounts', () => {
  test('an authenticator that has a passkey of this device says so, and makes another one only when asked again', async () => {
    await make('First');
    const window = open();
    await window.press('other');
    await window.press('newcomer');
    await window.shows('new');
    name(window, 'Second');
    await window.press('create');
    expect(await window.shows('new')).toContain('This device has a passkey for one of your accounts already.');
    expect(device.keyring.passkeys.size).toBe(1);
    await window.press('create');
    expect(await window.shows('review')).toContain('Second');
    expect(device.keyring.passkeys.size).toBe(2);
  });

  test('no two have one name', async () => {
    await make('Tea');
    const window = open();
    await window.press('other');
    await window.press('newcomer');
    await window.shows('new');
    name(window, 'Tea');
    await window.press('create');
    expect(await window.shows('new')).toContain('Another account here has this name.');
    expect(device.keyring.passkeys.size).toBe(1);
  });

  test('one with money enough is taken; the chooser shows names and balances, and has a way back', async () => {
    await make('Tea money', { usdc: 2_500_000n });
    await make('Second');
    // The second one was used last, and holds nothing.
    const window = open();
    expect(await window.shows('review')).toContain('Tea money');
    await window.press('other');
    const rows = (await window.shows('setup')).split('\n');
    const [first, second] = [rows.indexOf('Tea money'), rows.indexOf('Second')];
    expect(rows.find((row) => row.startsWith('Tea money'))).toContain('2.5 USDC');
    expect(rows.find((row) => row.startsWith('Second'))).toContain('0 USDC');
    expect(first).toBeLessThanOrEqual(second);
    await window.press('setup-back');
    expect(await window.shows('review')).toContain('Tea money');
    await window.press('other');
    await window.shows('setup');
    await window.pressIn('accounts', 2);
    const other = await window.shows('review');
    expect(other).toContain('Second');
    expect(other).toContain('Not enough USDC: 1.25 needed, 0 here.');
  });

  test('a name can be changed, and stays changed', async () => {
    await make('Tea money');
    const window = open();
    await window.press('other');
    await window.shows('setup');
    await window.pressIn('accounts', 1);
    const field = window.field('accounts');
    expect([field?.value, window.document.activeElement === field]).toEqual(['Tea money', true]);
    if (field) field.value = 'Rainy days';
    await window.pressIn('accounts', 0);
    expect(await window.shows('setup')).toContain('Rainy days');
    const later = open();
    expect(await later.shows('review')).toContain('Rainy days');
  });
});

describe('what lacks', () => {
  test('of a token: the page says how much, shows where it goes, notices that it came, and goes on', async () => {
    await make('Tea money');
    const window = open();
    expect(await window.shows('review')).toContain('Not enough USDC: 1.25 needed, 0 here.');
    const account = window.text('from');
    await window.press('add');
    const text = await window.shows('funds');
    expect(text).toContain('Send at least 1.25 USDC to this account, on Base Sepolia only.');
    expect(text).toContain(`${account.slice(0, 8)}…${account.slice(-4)}`);
    expect(window.text('funds-whole')).toBe(account);
    expect(window.document.byId.get('funds-address')?.getAttribute('aria-label')).toBe(account);
    await window.press('funds-copy');
    expect([window.copied, window.text('funds-copy')]).toEqual([[account], 'Copied']);
    // A part of it is not enough.
    pages.fund(account, { usdc: 1_000_000n });
    await window.until('a part', () => window.text('funds-wait') === '1 USDC here, 0.25 USDC still missing.');
    pages.fund(account, { usdc: 5_000_000n });
    await window.shows('review');
    await window.press('approve');
    expect(await window.shows('done')).toContain('Paid 1.25 USDC');
  });

  test('the person may go back, and nothing is looked for in a hidden window', async () => {
    await make('Tea money');
    const window = open(tea({ amount: '900000000' }));
    await window.press('add');
    await window.shows('funds');
    window.look(false);
    const before = pages.vault.asked.length;
    await pages.minutes(0.5);
    expect(pages.vault.asked).toHaveLength(before);
    window.look(true);
    await window.press('funds-back');
    expect(await window.shows('review')).toContain('Not enough USDC: 900 needed');
  });

  test('of ether for the fee, without a sponsor: it says how much', async () => {
    await make('Tea money', { usdc: 5_000_000n });
    pages.vault.bundler = (method) =>
      method === 'pm_sponsorUserOperation' ? { error: { code: -32501, message: 'no' } } : undefined;
    const window = open();
    expect(await window.shows('review')).toMatch(/Not enough ETH for the network fee: 0\.\d+ needed, 0 here\./);
    await window.press('add');
    expect(await window.shows('funds')).toMatch(/Send at least 0\.\d+ ETH to this account/);
  });
});

test('the receipt says how much, to whom, for what, when, which order and where; it can be copied', async () => {
  await make('Tea money', { usdc: 5_000_000n });
  const to = '0x52908400098527886E0F7030069857D2E4169EE7';
  const order = tea({ label: 'Green tea', to });
  const window = open(order);
  await window.press('approve');
  const text = await window.shows('done');
  for (const words of ['Paid 1.25 USDC', to, 'Green tea', order.id, '2027']) expect(text).toContain(words);
  const url = `https://sepolia.basescan.org/tx/${window.outcomeIn('return')['txHash']}`;
  const link = window.linkTo('receipt', url);
  expect([link?.['target'], link?.['rel']]).toEqual(['_blank', 'noreferrer']);
  await window.press('copy');
  for (const line of ['Amount: 1.25 USDC', `To: ${to}`, 'For: Green tea', url])
    expect(window.copied[0]).toContain(line);
  window.close();
  // Opened again, it is there still.
  expect(await open(order).shows('done')).toContain('Paid 1.25 USDC');
});
