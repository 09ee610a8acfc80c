import { beforeEach, describe, expect, test } from 'bun:test';
import { openPayPages, orderOf, type PayPages, type Person } from '../../support/pay-page/pages.ts';
import { type RecordedVault, SEND } from '../../support/pay-page/vault.ts';
import { makeNew, type Visit } from '../../support/pay-page/visit.ts';

let pages: PayPages;
let vault: RecordedVault;
let person: Person;
beforeEach(async () => {
  pages = await openPayPages();
  ({ vault } = pages);
  person = await pages.person();
});

const sendersOf = () => new Set(vault.sent.map(({ operation }) => operation['sender']?.toLowerCase()));

describe('one order in several windows', () => {
  test('two popups, both approved: one operation, and both shops get its receipt', async () => {
    const order = orderOf();
    const [one, other] = [pages.popup(person.device, order), pages.popup(person.device, order)] as const;
    await Promise.all([one.shows('review'), other.shows('review')]);
    await Promise.all([one.press('approve'), other.press('approve')]);
    await one.shows('done');
    await other.shows('done');
    expect(new Set(vault.sent.map(({ userOpHash }) => userOpHash)).size).toBe(1);
    const [first, last] = [one, other].map(({ told }) => told.at(-1));
    expect(first).toMatchObject({ type: 'answer', details: { account: person.account } });
    expect(last?.details ?? {}).toEqual(first?.details ?? {});
  });

  test('cancelling in the second one does not say that nothing was paid', async () => {
    const order = orderOf();
    const second = pages.link(person.device, order);
    await second.shows('review');
    vault.refuse(-32504, 'throttled');
    const first = pages.link(person.device, order);
    await first.press('approve');
    await first.shows('pending');
    await second.press('cancel');
    await second.shows('pending');
    vault.shows = 'paid';
    await second.shows('done');
    expect(second.seen()).not.toContain('Nothing was paid');
  });

  test('while the first account’s payment is not confirmed, a second one cannot pay, in a window that was open or a new one', async () => {
    const order = orderOf();
    const first = pages.link(person.device, order);
    await first.shows('review');
    const other = await secondAccount();
    // This window shows the other account, which was used last.
    const second = pages.link(person.device, order);
    await second.shows('review');
    expect([other === person.account, second.text('from')]).toEqual([false, other]);
    vault.refuse(-32504, 'throttled');
    await first.press('approve');
    await first.shows('pending');
    await second.press('approve');
    await second.shows('pending');
    const third = pages.link(person.device, order);
    await third.shows('pending');
    expect(sendersOf()).toEqual(new Set([person.account.toLowerCase()]));
    vault.shows = 'paid';
    for (const window of [first, second, third]) await window.shows('done');
    expect(sendersOf()).toEqual(new Set([person.account.toLowerCase()]));
  });

  /** Another account on this device, with money. */
  async function secondAccount(): Promise<string> {
    await pages.minutes(0.1);
    const window = pages.link(person.device, orderOf());
    await window.press('other');
    await makeNew(window);
    // Its authenticator has a passkey already, and says so first.
    await window.press('create');
    await window.shows('review');
    const account = window.text('from');
    pages.fund(account, { wei: 10n ** 18n });
    window.close();
    return account;
  }

  test('one that is closed on the way: the same request gets the receipt, and signs nothing', async () => {
    vault.shows = 'open';
    const order = orderOf();
    const first = await pages.approved(person, order);
    await first.awaitsBlock();
    first.close();
    vault.shows = 'paid';
    const again = pages.popup(person.device, order);
    await again.shows('done');
    expect(again.told.at(-1)).toMatchObject({ type: 'answer', details: { account: person.account } });
    expect([vault.sent.length, person.device.keyring.asked]).toEqual([1, 1]);
  });

  test('its id for something else is refused, by popup and by link', async () => {
    const order = orderOf();
    await (await pages.approved(person, order)).shows('done');
    for (const ask of [pages.popup, pages.link]) {
      const other = ask(person.device, { ...orderOf(), id: order.id });
      expect(await other.shows('problem')).toContain('The shop reused the id of another payment');
    }
    expect(vault.sent).toHaveLength(1);
  });
});

describe('another device, which knows nothing of the payment', () => {
  const used = { error: { code: -32500, message: 'UserOperation reverted with reason: AA25 invalid account nonce' } };

  test('finds the receipt, and settles it no second time', async () => {
    const order = orderOf();
    await (await pages.approved(person, order)).shows('done');
    vault.bundler = () => used;
    const second = pages.popup(pages.device(person.device.keyring), order);
    await found(second);
    await second.shows('done');
    expect(second.told.at(-1)).toMatchObject({ type: 'answer', details: { account: person.account } });
    expect(vault.sent).toHaveLength(1);
  });

  test('says so where something else has used the number of the order', async () => {
    vault.bundler = () => used;
    for (const [shows, words] of [
      ['reverted', 'Another transaction from your account took this payment’s place.'],
      ['searching', 'It cannot be paid twice from your account. Nothing was signed now.'],
    ] as const) {
      vault.shows = shows;
      expect(await pages.popup(person.device, orderOf()).shows('problem')).toContain(words);
    }
  });

  /** Has the page find the account by its passkey. */
  async function found(window: Visit): Promise<void> {
    await window.press('find');
    await window.press('find');
  }
});

describe('a first payment that something overtakes', () => {
  const made = { error: { code: -32500, message: 'AA10 sender already constructed' } };
  const factoryOf = (at: number) => vault.sent[at]?.operation['factory'];

  test('another first payment of the account: tried again without the creation, it is paid', async () => {
    const [first, second] = [pages.popup(person.device, orderOf()), pages.popup(person.device, orderOf())] as const;
    await second.shows('review');
    await first.press('approve');
    await first.shows('done');
    // The bundler has seen it, and the vault's node is a block behind.
    vault.bundler = (method) => (method === SEND ? made : undefined);
    await second.press('approve');
    expect(await second.shows('pending')).toContain('It may still be paid.');
    expect(second.text('pending-detail')).toContain('AA10');
    vault.bundler = undefined;
    await second.press('again');
    await second.shows('done');
    expect([factoryOf(0), factoryOf(1), factoryOf(2)]).toEqual([expect.any(String), expect.any(String), undefined]);
  });

  test('a stranger who creates the account while the person reads: paid at the first try', async () => {
    const window = pages.popup(person.device, orderOf());
    await window.shows('review');
    vault.deploy(person.account);
    await window.press('approve');
    await window.shows('done');
    expect([vault.sent.length, factoryOf(0)]).toEqual([1, undefined]);
  });
});
