import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { accountPages, createHere, type Device, makeHere, openDevice, proveAddress } from '../support/account-page.ts';
import { awaitSelector, openShop, type PayWorld, press } from '../support/pay.ts';
import { skip } from '../support/pay-windows.ts';
import { until } from '../support/until.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: PayWorld;
  accountPages((opened) => {
    world = opened;
  });
  /** One device with one account, test after test. */
  let here: Device;
  let account: string;
  type Other = { readonly status: number; readonly body: string };
  /** What the vault answers to the page instead, by path, and by what a body has in it; for one test. */
  const others = new Map<string, Other>();
  const intercept = async ({ page }: Device) => {
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      const isOf = (place: string) => new URL(request.url()).pathname === place || request.postData()?.includes(place);
      const [, other] = [...others].find(([place]) => isOf(place)) ?? [];
      void (other ? request.respond({ contentType: 'application/json', ...other }) : request.continue()).catch(
        () => undefined,
      );
    });
  };
  beforeAll(async () => {
    here = await openDevice(world);
    await here.screen('start');
    await here.page.evaluate(() => {
      for (const button of document.querySelectorAll('button')) button.click();
    });
    account = await createHere(world, here);
    await intercept(here);
  });
  afterEach(() => others.clear());
  /** Leaves a change that was not confirmed for long. It is forgotten: after a reload nothing is on its way. */
  const leaveLate = async (here: Device) => {
    await skip(here.page, 60_000);
    await press(here.page, 'leave');
    await here.screen('home');
    await here.page.reload();
    await here.screen('home');
  };
  const sent = () => world.upstream.calls.filter(({ method }) => method === 'eth_sendUserOperation').length;

  describe('strangers and the account page', () => {
    test('another site can neither frame it nor hold on to its window', async () => {
      const framed = `<!doctype html><iframe id="f" src="${world.origin}/account"></iframe>`;
      world.pages.set('/frame', framed);
      const shop = await openShop(world, '/frame');
      // The browser's own page stands in its place.
      await shop.waitForFrame((one) => one.url().startsWith('chrome-error:'));
      await shop.evaluate((url) => Object.assign(window, { opened: window.open(url) }), `${world.origin}/account`);
      await shop.waitForFunction(() => {
        const { opened } = window as unknown as { opened: Window | null };
        return opened === null || opened.closed;
      });
      await shop.close();
    });

    test('a script that clicks presses nothing', async () => {
      // Those of the first screen were clicked before the account was made.
      await makeHere(here);
      const before = sent();
      await here.page.evaluate(() => document.getElementById('confirm-go')?.click());
      expect(await here.screen('confirm')).toContain('Add “Another”?');
      expect(sent()).toBe(before);
      // A passkey that is not added is deleted: the authenticator keeps three.
      await press(here.page, 'confirm-back');
      await here.screen('pick');
      await until('it is deleted', () => here.passkeys.signalled.deleted.length > 0);
      await here.go('');
      await here.screen('home');
    });

    test('names that strangers wrote on the network are text, never markup', async () => {
      const name = '<img src=x onerror=1>';
      await makeHere(here, name);
      expect(await here.screen('confirm')).toContain(name);
      await press(here.page, 'confirm-go');
      await here.screen('done');
      await press(here.page, 'done-go');
      await here.screen('home');
      expect(await here.page.$eval('#keys', (keys) => keys.textContent)).toContain(name);
      expect(await here.page.$$eval('main img', (all) => all.length)).toBe(0);
    });
  });

  describe('a vault that answers nonsense', () => {
    const NONSENSE: readonly (readonly [string, string, number, string])[] = [
      ['no JSON', '/api/accounts/state', 200, '<html>'],
      ['null', '/api/accounts/state', 200, 'null'],
      [
        'keys that are none',
        '/api/accounts/state',
        200,
        JSON.stringify({ kind: 2, did: `0x${'0'.repeat(64)}`, keys: [{ index: 'x' }] }),
      ],
      [
        'a time that is none',
        '/api/accounts/state',
        200,
        JSON.stringify({
          kind: 2,
          did: `0x${'0'.repeat(64)}`,
          keys: [],
          recovery: { id: 1, x: `0x${'0'.repeat(64)}`, y: `0x${'0'.repeat(64)}`, readyAt: 'soon' },
        }),
      ],
      ['a fault', '/api/accounts/state', 500, '{"error":"internal_error"}'],
      ['contracts that are none', '/api/contracts', 200, '{"didRegistry":"0x12","registrar":"did:web:x"}'],
    ];

    test.each(NONSENSE)(
      '%s: the page says that it cannot be reached, and tries again',
      async (_, path, status, body) => {
        others.set(path, { status, body });
        await here.page.reload();
        const text = await here.screen('problem');
        expect(text).toContain('The service cannot be reached');
        expect(text).toContain('Try again');
        others.clear();
        await press(here.page, 'retry');
        await here.screen('home');
      },
    );

    test('a refusal decides nothing, whatever its words say, and nothing hangs: it goes on after a reload, and can be left', async () => {
      await makeHere(here);
      const said = { code: -32500, message: 'AA10 sender already constructed', data: { kind: 'rejected' } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error: said });
      others.set('eth_sendUserOperation', { status: 200, body });
      await press(here.page, 'confirm-go');
      await awaitSelector(here.page, '#repeat');
      const words = await here.screen('progress');
      expect(words).toContain('This is not confirmed yet. The network answered: AA10 sender already constructed.');
      expect(words).not.toContain('Nothing has changed');
      await here.page.reload();
      await here.screen('progress');
      await leaveLate(here);
    });

    test('a change that the network never takes can be left', async () => {
      await here.page.evaluate(
        (address, entryPoint) => {
          const sent = {
            account: address,
            chainId: 84532,
            entryPoint,
            nonce: `0x${'77'.repeat(24)}0000000000000000`,
            since: 0,
            versions: [{ kind: 'pay', userOpHash: `0x${'12'.repeat(32)}` }],
            title: 'Moving your account',
            done: ['Moved', ''],
            next: '',
          };
          localStorage.setItem('vault-account-sent', JSON.stringify(sent));
        },
        account.toLowerCase(),
        world.contracts.entryPoint,
      );
      await here.page.reload();
      await here.screen('progress');
      await leaveLate(here);
    });

    test('a guardian that is not the one it names everywhere is not signed for', async () => {
      const before = sent();
      const guardian = `0x${'77'.repeat(20)}`;
      const contracts = (await world.t.call('GET /api/contracts')).body;
      const answer = (body: object) => ({ status: 200, body: JSON.stringify(body) });
      others.set('/api/contracts', answer({ ...contracts, guardian }));
      const offer = { guardian: `0x${'88'.repeat(20)}`, delaySecondsMin: 259_200, commitment: `0x${'1'.repeat(64)}` };
      others.set('/api/recoveries/commitments', answer(offer));
      await here.page.reload();
      await here.screen('home');
      await press(here.page, 'guard');
      await proveAddress(here, 'alice@example.com', world.t.codeFor);
      await here.screen('delay');
      await here.page.click('#delay-form button');
      expect(await here.screen('problem')).toContain('Nothing has changed.');
      expect(sent()).toBe(before);
    });
  });
});
