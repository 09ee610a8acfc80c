import { beforeAll, describe, expect, test } from 'bun:test';
import type { HTTPRequest } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import {
  accountPages,
  confirm,
  createHere,
  type Device,
  keyNames,
  openDevice,
  storedAccounts,
  type,
} from '../support/account-page.ts';
import { standsIn } from '../support/digits.ts';
import { type PayWorld, press } from '../support/pay.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: PayWorld;
  const { open } = accountPages((opened) => {
    world = opened;
  });
  const device = (hash = '') => open({ hash });
  let first: Device;
  /** Another one, whose keys never come to the account. */
  let vain: Device;
  let account: string;
  beforeAll(async () => {
    first = await openDevice(world);
    account = await createHere(world, first);
    vain = await openDevice(world);
  });
  /** The first device shows a code; answers what is behind the `#` of its link. */
  const showCode = async (): Promise<string> => {
    await first.go('');
    await first.screen('home');
    await press(first.page, 'add');
    await press(first.page, 'pick-there');
    await first.screen('qr-code');
    return (await first.page.$eval('#qr-link', (link) => link.textContent ?? '')).split('#')[1] ?? '';
  };
  const make = async (second: Device, name: string) => {
    await second.screen('join-ask');
    await type(second.page, 'join-name', name);
    await second.page.keyboard.press('Enter');
  };
  const keyCount = async (account: string) => {
    const { keys } = (await world.t.call('GET /api/accounts/state', { account })).body;
    return keys?.length ?? 0;
  };
  const STRANGER = { pubKeyX: '0x1', pubKeyY: '0x2', label: `0x${'0'.repeat(64)}` };

  describe('a key on another device', () => {
    test('both screens show the same six digits; once added, the second device opens the account', async () => {
      const hash = await showCode();
      expect(hash).toMatch(/^join=[\w-]{22}$/);
      const second = await device(hash);
      const asked = await second.screen('join-ask');
      expect(asked).toContain(`${account.slice(0, 8)}…${account.slice(-4)}`);
      expect(asked).toContain('One other key opens this account');
      await make(second, 'My phone');
      const digits = await second.screen('join-digits');
      expect(digits).toMatch(/^\d{3} \d{3}$/);
      expect(await first.screen('qr-digits')).toBe(digits);
      expect(await first.screen('qr-name')).toBe('My phone');
      await press(first.page, 'qr-same');
      expect(await first.screen('confirm')).toContain('Add “My phone”?');
      await confirm(first);
      await first.screen('home');
      expect(await keyNames(first.page)).toEqual(['First passkey', 'My phone']);
      expect(await second.screen('done')).toContain('This device opens the account now');
      await press(second.page, 'done-go');
      await second.screen('home');
      expect(await second.page.$eval('#full', (full) => full.textContent)).toBe(account);
      expect(await second.page.$eval('#keys', (keys) => keys.textContent)).toContain('My phoneYou use it now');
      // It pays from there, too.
      expect(await storedAccounts(second.page)).toEqual([account]);
    });

    test('an account that a link brings, over a reload too, never takes the place of those that are here', async () => {
      const second = await device();
      const own = await createHere(world, second);
      await second.go(await showCode());
      await make(second, 'Joined');
      const digits = await second.screen('join-digits');
      // A reload goes on where it was.
      await second.page.reload();
      expect(await second.screen('join-digits')).toBe(digits);
      expect(await first.screen('qr-digits')).toBe(digits);
      await press(first.page, 'qr-same');
      await confirm(first);
      expect(await second.screen('done')).toContain('You find it in the list of your accounts.');
      await press(second.page, 'done-go');
      await second.screen('home');
      expect(await second.page.$eval('#full', (full) => full.textContent)).toBe(own);
      const listed = await second.page.$$eval('#account option', (all) => all.map(({ value }) => value));
      expect(listed).toEqual([own, account]);
    });

    test('a stranger who leaves a key first is seen: the owner’s device reads that it came too late', async () => {
      await vain.go(await showCode());
      await vain.screen('join-ask');
      const before = await keyCount(account);
      const [row] = await world.t.rows('SELECT id FROM joins ORDER BY opened_at DESC LIMIT 1');
      await world.t.call('POST /api/accounts/joins/keys', { id: row?.['id'], ...STRANGER });
      await make(vain, 'My phone');
      expect(await vain.screen('problem')).toContain('Somebody else used this link');
      await first.screen('qr-digits');
      await press(first.page, 'qr-other');
      expect(await first.screen('problem')).toContain('Nothing was added.');
      expect(await keyCount(account)).toBe(before);
    });

    test('a vault that swaps the key shows the owner other digits than the true device shows', async () => {
      const hash = await showCode();
      await first.page.setRequestInterception(true);
      first.page.on('request', (request) => void swap(request));
      await vain.go(hash);
      await make(vain, 'My phone');
      const digits = await vain.screen('join-digits');
      const seen = await first.screen('qr-digits');
      expect(seen).toMatch(/^\d{3} \d{3}$/);
      expect(seen).not.toBe(digits);
      first.page.removeAllListeners('request');
      await first.page.setRequestInterception(false);
    });

    test('neither the secret nor the digits reach the vault', async () => {
      const hash = await showCode();
      const sent: string[] = [];
      vain.page.on('request', (request) => sent.push(request.url() + (request.postData() ?? '')));
      await vain.go(hash);
      await make(vain, 'My phone');
      const digits = (await vain.screen('join-digits')).replace(' ', '');
      await first.screen('qr-digits');
      const all = [...sent, JSON.stringify(world.t.entries), JSON.stringify(await world.t.rows('SELECT * FROM joins'))];
      expect(all.join('\n')).toContain('/api/accounts/joins');
      expect(all.filter((text) => text.includes(hash.slice(5)))).toEqual([]);
      expect(sent.filter((text) => standsIn(text, digits))).toEqual([]);
    });

    test.each([
      ['join=abc', 'This link is not complete'],
      [`join=${'A'.repeat(22)}`, 'This link has ended'],
    ])('a link such as #%s says what to do', async (hash, title) => {
      await first.go('');
      await first.screen('home');
      await first.go(hash);
      const text = await first.screen('problem');
      expect(text).toContain(title);
      expect(text).toMatch(/Scan the code again|Show a new code/);
    });
  });

  /** Answers a look into the mailbox with a stranger's key. */
  async function swap(request: HTTPRequest): Promise<void> {
    const url = new URL(request.url());
    if (url.pathname !== '/api/accounts/joins' || request.method() !== 'GET') return request.continue();
    const { body } = await world.t.call('GET /api/accounts/joins', { id: url.searchParams.get('id') ?? '' });
    const key = body.key && { ...body.key, x: `0x${'7'.repeat(64)}` };
    await request.respond({ contentType: 'application/json', body: JSON.stringify({ ...body, key }) });
  }
});
