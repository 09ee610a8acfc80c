import { beforeAll, describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import {
  accountPages,
  addHere,
  confirm,
  createHere,
  type Device,
  keyNames,
  makeHere,
  openDevice,
  pressNamed,
  signIn,
  type,
} from '../support/account-page.ts';
import { type Passkeys, type PayWorld, press } from '../support/pay.ts';
import { hearSignals } from '../support/signals.ts';
import { until } from '../support/until.ts';

// The page tells the passkey manager what became of passkeys; Chromium's virtual authenticator says what it changed.

describe.skipIf(!chromium)('in Chromium', () => {
  let world: PayWorld;
  const { open: device, keysOf } = accountPages((opened) => {
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

  /** A device that stays over the tests of a `describe`; the browser's end is its end. */
  const stays = async (passkeys?: Passkeys) => openDevice(world, passkeys ? { passkeys } : {});

  describe('the passkeys of one account, test after test', () => {
    let here: Device;
    let told: Awaited<ReturnType<typeof hearSignals>>;
    let [account, old, kept, behind] = ['', '', '', ''];
    let other: Device;
    beforeAll(async () => {
      here = await stays();
      account = await createHere(world, here);
      told = await hearSignals(here.page);
      await addHere(here, 'Old phone');
      behind = (await world.t.call('GET /api/accounts/state', { account })).text;
      await addHere(here, 'New phone');
      [, old = '', kept = ''] = here.passkeys.ids();
    });

    test('none is deleted where a node is behind and does not show the key yet', async () => {
      const [first = ''] = here.passkeys.ids();
      await here.page.setRequestInterception(true);
      here.page.on('request', (request) => {
        if (!request.url().includes('/api/accounts/state')) return void request.continue();
        void request.respond({ status: 200, contentType: 'application/json', body: behind });
      });
      const before = (await told()).length;
      const since = async () => (await told()).slice(before);
      await here.page.reload();
      await here.screen('home');
      expect(await keyNames(here.page)).toEqual(['First passkey', 'Old phone']);
      const atHome = (await told()).length;
      await here.go('add');
      await here.screen('pick');
      await here.go('');
      await here.screen('home');
      // The keys that the node shows were told of; the third was not named at all.
      await until('the page tells', async () => (await told()).slice(atHome).some((one) => one.includes(first)));
      expect((await since()).filter((one) => one.includes('[]') || one.startsWith('signalUnknown'))).toEqual([]);
      expect(here.passkeys.signalled.deleted).toEqual([]);
      expect(await keysOf(account)).toHaveLength(3);
      here.page.removeAllListeners('request');
      await here.page.setRequestInterception(false);
      await here.page.reload();
      await here.screen('home');
    });

    test('one that is removed leaves its manager once a block has the removal; the keys that stay are untouched', async () => {
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
      other = await stays(here.passkeys.only(2));
      await signIn(other.page);
      await other.screen('home');
      expect(other.passkeys.signalled.deleted).toEqual([]);
    });

    test('one that is removed takes none of another account of the same device along', async () => {
      await press(other.page, 'sign-out');
      await other.screen('start');
      await createHere(world, other);
      await addHere(other, 'Of the second');
      await remove(other, 'Of the second');
      await until('a passkey is deleted', () => other.passkeys.signalled.deleted.length > 0);
      expect(other.passkeys.signalled.deleted).toEqual(other.passkeys.ids().slice(2));
    });

    test('none is deleted where it opens no account any more, or not yet', async () => {
      const taken = await device({ passkeys: here.passkeys.only(1) });
      const heard = await hearSignals(taken.page);
      await press(taken.page, 'sign-in');
      expect(await taken.screen('start-notice')).toContain('confirm once more');
      await press(taken.page, 'sign-in');
      await taken.page.waitForFunction(() =>
        document.getElementById('start-notice')?.textContent?.includes('does not open its account'),
      );
      expect(await heard()).toEqual([]);
      expect(taken.passkeys.signalled.deleted).toEqual([]);
    });

    test('the name in its manager follows the name that the person gives it', async () => {
      await pressNamed(here.page, 'Change New phone');
      await type(here.page, 'new-name', 'Blue phone');
      await here.page.click('#rename-form button');
      await here.screen('confirm');
      await confirm(here);
      await here.screen('home');
      await until('a passkey is renamed', () => here.passkeys.signalled.renamed.length > 0);
      expect(here.passkeys.signalled.renamed).toEqual([`${kept} ${new URL(world.origin).host}, Blue phone`]);
    });

    test('the first one stays when it is removed: addresses on other networks follow from it', async () => {
      const before = (await told()).length;
      await remove(here, 'First passkey');
      await press(here.page, 'done-go');
      await here.screen('start');
      const since = (await told()).slice(before);
      expect(since.filter((one) => one.includes('"allAcceptedCredentialIds":[]'))).toEqual([]);
      expect(here.passkeys.signalled.deleted).toEqual([old]);
    });
  });

  describe('the only passkey of an account, test after test', () => {
    let here: Device;
    beforeAll(async () => {
      here = await stays();
      await createHere(world, here);
    });

    test('a sign-in says that its passkey is accepted', async () => {
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

    test('its name in the manager follows the brand', async () => {
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
      here.page.removeAllListeners('request');
      await here.page.setRequestInterception(false);
    });

    test('another that the vault never knew is deleted when the person does not add it after all', async () => {
      await makeHere(here);
      await press(here.page, 'confirm-back');
      await here.screen('pick');
      await until('a passkey is deleted', () => here.passkeys.signalled.deleted.length > 0);
      expect(here.passkeys.signalled.deleted).toEqual(here.passkeys.ids().slice(1));
      await here.go('');
      await here.screen('home');
    });

    test('another stays once it was signed in: its change may still happen', async () => {
      const deleted = [...here.passkeys.signalled.deleted];
      await makeHere(here);
      world.upstream.set('refusing', 'eth_sendUserOperation');
      await press(here.page, 'confirm-go');
      await here.page.waitForFunction(() => document.getElementById('repeat')?.hidden === false);
      await press(here.page, 'leave');
      await here.screen('home');
      expect(here.passkeys.signalled.deleted).toEqual(deleted);
    });
  });
});
