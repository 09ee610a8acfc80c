import { beforeEach, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import type { Device } from '../../support/hostile/device.ts';
import { openPayPages, orderOf, type PayPages, type Person } from '../../support/pay-page/pages.ts';
import type { Visit } from '../../support/pay-page/visit.ts';

/** Who pays, as a shop says. */
interface Hint {
  readonly credentialId: string;
  readonly account: string;
  readonly pubKeyX?: string;
  readonly pubKeyY?: string;
}

let pages: PayPages;
beforeEach(async () => {
  pages = await openPayPages();
});

/** What a shop knows of somebody. */
function hintOf({ device, account }: Person): Hint {
  const [[credentialId, { passkey }] = ['', { passkey: { key: { x: new Uint8Array(), y: new Uint8Array() } } }]] =
    device.keyring.passkeys;
  return { credentialId, account, pubKeyX: Hex.fromBytes(passkey.key.x), pubKeyY: Hex.fromBytes(passkey.key.y) };
}
/** The page for a new order, on a device that has stored nothing unless one is given. */
const open = ({ device }: Person, payer?: unknown, given: Device = pages.device(device.keyring)) => {
  device.keyring.asked = 0;
  return pages.link(given, orderOf({ payer }));
};
/** Asks for the passkey, and once more where nobody knows which of two keys it has. */
const find = async (window: Visit) => {
  await window.press('find');
  expect(await window.shows('setup')).toContain('Please confirm once more, so that the right account is found.');
  await window.press('find');
};

describe('the payer whom a shop names', () => {
  test('pays by one prompt on a device that never saw them, and is known there from then on', async () => {
    const ann = await pages.person();
    const device = pages.device(ann.device.keyring);
    const window = open(ann, hintOf(ann), device);
    expect(await window.shows('review')).toContain(ann.account);
    await window.press('approve');
    await window.shows('done');
    expect(ann.device.keyring.asked).toBe(1);
    expect(await open(ann, undefined, device).shows('review')).toContain(ann.account);
  });

  test('whose key the shop does not know is asked for exactly that passkey', async () => {
    const ann = await pages.person();
    const { credentialId, account } = hintOf(ann);
    const window = open(ann, { credentialId, account });
    const text = await window.shows('setup');
    expect(text).toContain('Pay with your passkey');
    expect(text).not.toContain('I am new here');
    // The person would pick another one.
    ann.device.keyring.pick = 'another';
    await find(window);
    // Nothing went wrong.
    expect(window.document.byId.get('setup-notice')?.className).toContain('plain');
    expect(await window.shows('review')).toContain(account);
  });

  test('comes before another account that this device has', async () => {
    const [mine, other] = [await pages.person(), await pages.person()];
    const { keyring } = mine.device;
    const { indexedDB } = other.device;
    const window = open(mine, hintOf(mine), { ...pages.device(keyring), indexedDB });
    expect(await window.shows('review')).toContain(mine.account);
    await window.press('other');
    expect(await window.shows('setup')).toContain('Which account pays?');
    await window.pressIn('accounts', 0);
    expect(await window.shows('review')).toContain(other.account);
  });

  test("is not believed: another's account under this passkey pays nothing, and the passkey finds its own", async () => {
    const [victim, mallory] = [await pages.person(), await pages.person()];
    const device = pages.device(victim.device.keyring);
    const { credentialId } = hintOf(victim);
    const window = open(victim, { ...hintOf(mallory), credentialId }, device);
    expect(await window.shows('review')).toContain(mallory.account);
    await window.press('approve');
    expect(await window.shows('setup')).toContain('Pay with your passkey');
    expect(pages.vault.sent).toEqual([]);
    await find(window);
    expect(await window.shows('review')).toContain(victim.account);
    // What was not the person's was not kept.
    const later = open(victim, undefined, device);
    expect(await later.shows('review')).toContain(victim.account);
    await later.press('other');
    const setup = (await later.shows('setup')).toLowerCase();
    // As the page writes an address: four of its digits alone stand in a text by chance.
    const shown = [victim, mallory].map(({ account }) => `${account.slice(0, 8)}…${account.slice(-4)}`.toLowerCase());
    expect(shown.map((one) => setup.includes(one))).toEqual([true, false]);
  });

  test("gets no money sent to another's account: its address is shown to who opens it", async () => {
    const [victim, mallory] = [await pages.person({ wei: 0n }), await pages.person({ wei: 0n })];
    const window = open(victim, { ...hintOf(mallory), credentialId: hintOf(victim).credentialId });
    await window.press('add');
    // The signature shows that it is not theirs.
    expect(await window.shows('setup')).toContain('I am new here');
    const refused = open(victim, hintOf(victim));
    await refused.shows('review');
    victim.device.keyring.isWilling = false;
    await refused.press('add');
    expect(refused.text('review-notice')).toContain('Your passkey was not used.');
    victim.device.keyring.isWilling = true;
    const own = open(victim, hintOf(victim));
    await own.press('add');
    expect(await own.shows('funds')).toContain(victim.account);
    expect(victim.device.keyring.asked).toBe(1);
  });

  test('is not led to an account of somebody who added their key to it', async () => {
    const [victim, mallory] = [await pages.person(), await pages.person()];
    pages.vault.deploy(mallory.account);
    const address = mallory.account.toLowerCase();
    const state = pages.vault.accounts.get(address) as { keys: readonly object[] };
    const { pubKeyX: x, pubKeyY: y } = hintOf(victim);
    pages.vault.accounts.set(address, { ...state, keys: [...state.keys, { index: 1, x, y }] });
    const window = open(victim, { ...hintOf(victim), account: mallory.account });
    expect(await window.shows('setup')).toContain('Pay with your passkey');
    await find(window);
    expect(await window.shows('review')).toContain(victim.account);
  });

  test('may have lost the passkey: another one is a press away', async () => {
    const [lost, here] = [await pages.person(), await pages.person()];
    const { account, credentialId } = hintOf(lost);
    const window = open(here, { account, credentialId });
    await window.press('find');
    expect(await window.shows('setup')).toContain('No passkey was used.');
    await window.press('setup-other');
    expect(await window.shows('setup')).toContain('I am new here');
    await find(window);
    expect(await window.shows('review')).toContain(here.account);
  });

  test.each([
    ['text', 'somebody'],
    ['nothing of it', {}],
    ['another form of id', { credentialId: '<b>', account: `0x${'1'.repeat(40)}` }],
    ['no account', { credentialId: 'A'.repeat(22), account: 'alice' }],
  ])('is nobody: %s', async (_, payer) => {
    expect(await pages.link(pages.device(), orderOf({ payer })).shows('setup')).toContain('I am new here');
  });
});
