import { describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import {
  accountPages,
  addHere,
  confirm,
  createHere,
  type Device,
  keyNames,
  makeHere,
  pressNamed,
  signIn,
  type,
} from '../support/account-page.ts';
import { type PayWorld, press } from '../support/pay.ts';
import { hearSignals } from '../support/signals.ts';
import { until } from '../support/until.ts';

// The page tells the passkey manager what became of passkeys; Chromium's virtual authenticator says what it changed.

describe.skipIf(!chromium)('in Chromium', () => {
  let world: PayWorld;
  const {
    open: device,
    owner,
    keysOf,
  } = accountPages((opened) => {
    world = opened;
  });

  /** Removes a key by its name; removing the key in use signs the person out. */
  const remove = async (here: Device, name: string) => {
    await pressNamed(here.page, `Change ${name}`);
    await press(here.page, 'remove');
    await here.screen('confirm');
    await press(here.page, 'confirm-go');
    await here.screen('done');
  };

  describe('a passkey that is removed from its account', () => {
    test('leaves its manager once a block has the removal; the keys that stay are untouched', async () => {
      const here = await owner();
      await addHere(here, 'Old phone');
      await addHere(here, 'New phone');
      const [, old = ''] = here.passkeys.ids();
      await pressNamed(here.page, 'Change Old phone');
      await press(here.page, 'remove');
      await here.screen('confirm');
      expect(here.passkeys.signalled.deleted).toEqual([]);
      await press(here.page, 'confirm-go');
      await here.screen('done');
      await until('a passkey is deleted', () => here.passkeys.signalled.deleted.length > 0);
      expect(here.passkeys.signalled.deleted).toEqual([old]);
      await press(here.page, 'done-go');
      await here.screen('home');
      expect(await keyNames(here.page)).toEqual(['First passkey', 'New phone']);
      // The keys that stay sign on.
      const next = await device({ passkeys: here.passkeys.only(2) });
      await signIn(next.page);
      await next.screen('home');
      expect(next.passkeys.signalled.deleted).toEqual([]);
    });

    test('stays where it is the first: addresses on other networks follow from it', async () => {
      const here = await owner();
      await addHere(here, 'Second');
      const told = await hearSignals(here.page);
      await remove(here, 'First passkey');
      await press(here.page, 'done-go');
      await here.screen('start');
      expect((await told()).filter((one) => one.includes('"allAcceptedCredentialIds":[]'))).toEqual([]);
      expect(here.passkeys.signalled.deleted).toEqual([]);
    });

    test('takes none of another account of the same device along', async () => {
      const first = await owner();
      await addHere(first, 'Of the first');
      const here = await device({ passkeys: first.passkeys.only(1) });
      await signIn(here.page);
      await here.screen('home');
      await press(here.page, 'sign-out');
      await here.screen('start');
      await createHere(world, here);
      await addHere(here, 'Of the second');
      await remove(here, 'Of the second');
      await until('a passkey is deleted', () => here.passkeys.signalled.deleted.length > 0);
      expect(here.passkeys.signalled.deleted).toEqual(here.passkeys.ids().slice(2));
    });
  });

  describe('nothing is deleted', () => {
    test('where a node is behind and does not show the key yet', async () => {
      const here = await owner();
      const { account } = here;
      await addHere(here, 'Second');
      const [first = ''] = here.passkeys.ids();
      const behind = JSON.stringify(
        await here.page.evaluate(
          (address) => fetch(`/api/accounts/state?account=${address}`).then((answer) => answer.json()),
          account,
        ),
      );
      await addHere(here, 'Third');
      await here.page.setRequestInterception(true);
      here.page.on('request', (request) => {
        if (!request.url().includes('/api/accounts/state')) return void request.continue();
        void request.respond({ status: 200, contentType: 'application/json', body: behind });
      });
      await here.page.reload();
      await here.screen('home');
      const told = await hearSignals(here.page);
      expect(await keyNames(here.page)).toEqual(['First passkey', 'Second']);
      await here.go('add');
      await here.screen('pick');
      await here.go('');
      await here.screen('home');
      // The keys that the node shows were told of; the third was not named at all.
      await until('the page tells', async () => (await told()).some((one) => one.includes(first)));
      expect((await told()).filter((one) => one.includes('[]') || one.startsWith('signalUnknown'))).toEqual([]);
      expect(here.passkeys.signalled.deleted).toEqual([]);
      expect(await keysOf(account)).toHaveLength(3);
    });

    test('where a passkey opens no account any more, or not yet', async () => {
      const here = await owner();
      await addHere(here, 'Second');
      const taken = await device({ passkeys: here.passkeys.only(1) });
      await remove(here, 'Second');
      const told = await hearSignals(taken.page);
      await press(taken.page, 'sign-in');
      expect(await taken.screen('start-notice')).toContain('confirm once more');
      await press(taken.page, 'sign-in');
      await taken.page.waitForFunction(() =>
        document.getElementById('start-notice')?.textContent?.includes('does not open its account'),
      );
      expect(await told()).toEqual([]);
      expect(taken.passkeys.signalled.deleted).toEqual([]);
    });
  });

  describe('a passkey that the vault never knew', () => {
    test('is deleted when the person does not add it after all', async () => {
      const here = await owner();
      await makeHere(here);
      await press(here.page, 'confirm-back');
      await here.screen('pick');
      await until('a passkey is deleted', () => here.passkeys.signalled.deleted.length > 0);
      expect(here.passkeys.signalled.deleted).toEqual(here.passkeys.ids().slice(1));
    });

    test('stays once it was signed in: its change may still happen', async () => {
      const here = await owner();
      await makeHere(here);
      world.upstream.set('refusing', 'eth_sendUserOperation');
      await press(here.page, 'confirm-go');
      await here.page.waitForFunction(() => document.getElementById('repeat')?.hidden === false);
      await press(here.page, 'leave');
      await here.screen('home');
      expect(here.passkeys.signalled.deleted).toEqual([]);
    });
  });

  describe('the name of a passkey in its manager', () => {
    test('follows the name that the person gives it', async () => {
      const here = await owner();
      await addHere(here, 'Phone');
      await pressNamed(here.page, 'Change Phone');
      await type(here.page, 'new-name', 'Blue phone');
      await here.page.click('#rename-form button');
      await here.screen('confirm');
      await confirm(here);
      await here.screen('home');
      const [, second] = here.passkeys.ids();
      await until('a passkey is renamed', () => here.passkeys.signalled.renamed.length > 0);
      expect(here.passkeys.signalled.renamed).toEqual([`${second} ${new URL(world.origin).host}, Blue phone`]);
    });

    test('follows the brand', async () => {
      const here = await owner();
      await here.page.setRequestInterception(true);
      here.page.on('request', async (request) => {
        if (!request.url().includes('/pay/config')) return void request.continue();
        const config = await (await fetch(request.url())).json();
        void request.respond({
          status: 200,
          contentType: 'application/json',
          body: JSON.stringify({ ...config, rpName: 'Tea House' }),
        });
      });
      await here.page.reload();
      await here.screen('home');
      await until('a passkey is renamed', () => here.passkeys.signalled.renamed.length > 0);
      expect(here.passkeys.signalled.renamed[0]).toStartWith(`${here.passkeys.ids()[0]} Tea House, `);
    });
  });

  test('a sign-in says that its passkey is accepted', async () => {
    const here = await owner();
    await press(here.page, 'sign-out');
    await here.screen('start');
    const told = await hearSignals(here.page);
    await signIn(here.page);
    await here.screen('home');
    await until('the page tells', async () => (await told()).length > 0);
    const [said = '', ...others] = await told();
    expect(others).toEqual([]);
    expect(said).toStartWith('signalAllAcceptedCredentials ');
    expect(JSON.parse(said.slice(said.indexOf('{')))).toMatchObject({
      allAcceptedCredentialIds: here.passkeys.ids(),
    });
  });
});
