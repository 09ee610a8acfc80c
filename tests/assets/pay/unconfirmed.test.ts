import { beforeEach, describe, expect, test } from 'bun:test';
import { openPayPages, orderOf, type PayPages, type Person } from '../../support/pay-page/pages.ts';
import { type RecordedVault, SEND } from '../../support/pay-page/vault.ts';
import type { Visit } from '../../support/pay-page/visit.ts';

let pages: PayPages;
let vault: RecordedVault;
let person: Person;
beforeEach(async () => {
  pages = await openPayPages();
  ({ vault } = pages);
  person = await pages.person();
});

const typesOf = ({ told }: Visit) => told.map(({ type }) => type);

describe('what a bundler says of a payment decides nothing', () => {
  test.each([
    [-32603, 'internal error'],
    [-32000, 'unknown error'],
    [-32501, 'paymaster unknown: policy not found'],
    [-32500, 'AA33 reverted: nonce already used'],
    [-32602, 'invalid params'],
  ])('one that takes the payment and answers %p %p: never called refused, and paid in the end', async (code, words) => {
    vault.refuse(code, words);
    const window = await pages.approved(person);
    vault.shows = 'paid';
    await window.shows('done');
    expect(window.seen()).not.toContain('Nothing was paid');
    expect(typesOf(window)).toEqual(['pending', 'answer']);
    const { account } = person;
    expect(window.told.at(-1)?.details).toMatchObject({
      account,
      token: 'native',
      userOpHash: vault.sent[0]?.userOpHash,
    });
  });

  test('one that refuses and includes it later: not confirmed until then, and paid then', async () => {
    vault.refuse(-32504, 'throttled');
    const window = await pages.approved(person);
    expect(await window.shows('pending')).toContain('It may still be paid.');
    expect(window.text('pending-detail')).toContain('throttled');
    const [{ userOpHash, end } = { userOpHash: '0x', end: 0 }] = vault.sent;
    expect(window.told).toMatchObject([
      { type: 'pending', details: { account: person.account, userOpHash, endsAt: end } },
    ]);
    vault.shows = 'paid';
    await window.shows('done');
    expect(window.told[1]).toMatchObject({ type: 'answer', details: { userOpHash } });
  });

  test('tried again after a refusal: the same nonce and the same call, so that one of the two can be paid', async () => {
    vault.refuse(-32504, 'throttled');
    const window = await pages.approved(person);
    await window.shows('pending');
    vault.bundler = undefined;
    await window.press('again');
    await window.shows('done');
    const [first, second, ...others] = vault.sent.map(({ operation }) => operation);
    expect(second).toMatchObject({ nonce: first?.['nonce'] ?? '', callData: first?.['callData'] ?? '' });
    expect(others).toEqual([]);
  });

  test('the page asks the vault what became of it, and no bundler', async () => {
    vault.shows = 'open';
    await (await pages.approved(person)).awaitsBlock();
    const before = vault.asked.length;
    await pages.minutes(0.1);
    expect(new Set(vault.asked.slice(before).map(({ pathname }) => pathname))).toEqual(new Set(['/pay/outcome']));
  });

  test('its answer is lost: it may be on its way, and trying again sends the same bytes', async () => {
    vault.bundler = (method) => (method === SEND ? 'lost' : undefined);
    const window = await pages.approved(person);
    expect(await window.shows('pending')).toContain('The payment is signed and may be on its way.');
    vault.bundler = undefined;
    await window.press('again');
    await window.shows('done');
    expect(vault.sent).toHaveLength(2);
    expect(vault.sent[1]).toEqual(vault.sent[0]);
  });

  test('its answer is lost, and it was included: the page finds the payment by itself', async () => {
    vault.bundler = (method) => (method === SEND ? 'lost' : undefined);
    vault.shows = 'paid';
    const window = await pages.approved(person);
    await window.shows('done');
    expect(vault.sent).toHaveLength(1);
  });
});

describe('what trying again runs into', () => {
  test('a refused passkey and a bundler that is away are said, and it can be tried again', async () => {
    vault.refuse(-32504, 'throttled');
    const window = await pages.approved(person);
    await window.shows('pending');
    person.device.keyring.isWilling = false;
    await window.press('again');
    expect(window.text('pending-notice')).toBe('Your passkey was not used. Nothing was changed.');
    person.device.keyring.isWilling = true;
    vault.bundler = () => 'lost';
    await window.press('again');
    expect(window.text('pending-notice')).toContain('The network cannot be reached');
    vault.bundler = undefined;
    await window.press('again');
    await window.shows('done');
    expect(vault.sent).toHaveLength(2);
  });

  test('a passkey that its account no longer has signs nothing', async () => {
    vault.deploy(person.account);
    const window = pages.popup(person.device, orderOf());
    vault.refuse(-32504, 'throttled');
    await window.press('approve');
    await window.shows('pending');
    const other = `0x${'1'.repeat(64)}`;
    const keys = [{ index: 0, x: other, y: other, addedAt: null, label: null, synced: null }];
    const address = person.account.toLowerCase();
    vault.accounts.set(address, { ...vault.accounts.get(address), pubKeyX: other, pubKeyY: other, keys });
    await window.press('again');
    expect(window.text('pending-notice')).toBe('This passkey does not work for this account now. Nothing was signed.');
    expect(vault.sent).toHaveLength(1);
  });
});

describe('left while it is not confirmed', () => {
  test('the shop hears so, and the same request shows what became of it', async () => {
    vault.refuse(-32504, 'throttled');
    const order = orderOf();
    const window = await pages.approved(person, order);
    await window.shows('pending');
    await window.press('pending-leave');
    expect([window.isOpen(), window.told.at(-1)]).toMatchObject([false, { type: 'cancel', reason: 'unconfirmed' }]);
    const linked = pages.link(person.device, order);
    await linked.shows('pending');
    await linked.press('pending-leave');
    expect(await linked.shows('problem')).toContain('Not confirmed yet');
    const userOpHash = vault.sent[0]?.userOpHash;
    expect(linked.outcomeIn('leave-link')).toEqual({ id: order.id, error: 'unconfirmed', userOpHash });
    vault.shows = 'paid';
    await linked.press('retry');
    await linked.shows('done');
    expect(linked.outcomeIn('return')).toMatchObject({ id: order.id, account: person.account });
    expect(vault.sent).toHaveLength(1);
  });
});
