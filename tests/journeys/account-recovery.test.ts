import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { createHeldPasskey } from '../../scripts/dev-stack/browser-passkeys.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { addressOf } from '../../scripts/dev-stack/wallet.ts';
import {
  confirm,
  createHere,
  type Device,
  openDevice,
  pressNamed,
  proveAddress,
  type,
} from '../support/account-page.ts';
import { keepWorking } from '../support/background.ts';
import { otherCode } from '../support/digits.ts';
import { createPasskey } from '../support/passkey.ts';
import { createPasskeys, type Passkeys, type PayWorld, press, startPayWorld } from '../support/pay.ts';
import { nameGuardian, REGISTRAR_DID, recoveryBody } from '../support/recovery.ts';
import { createSecond, secondAddress } from '../support/second-account.ts';
import { until } from '../support/until.ts';

const GUARDIAN_KEY = `0x${'47'.repeat(32)}` as const;
const DAYS_3 = 3 * 86_400;

describe.skipIf(!chromium)('in Chromium', () => {
  let world: PayWorld;
  let endWork: () => Promise<void>;
  const open: Device[] = [];
  let people = 0;
  const setBalance = (wei: string) => world.chain.rpc('anvil_setBalance', [addressOf(GUARDIAN_KEY), wei]);
  beforeAll(async () => {
    world = await startPayWorld({
      pagesOnly: true,
      more: {
        REGISTRAR_DID,
        GUARDIAN_PRIVATE_KEY: GUARDIAN_KEY,
        MAX_VERIFY_SENDS_PER_IP: '1000',
        RECOVERIES_DAILY_MAX: '1000',
      },
    });
    await setBalance('0xde0b6b3a7640000');
    endWork = keepWorking(world.t, 250);
  });
  afterAll(async () => {
    await endWork();
    await world.stop();
  });
  afterEach(async () => {
    for (const device of open.splice(0)) await device.close();
  });
  const device = async (hash = '', passkeys: Passkeys = createPasskeys()) => {
    const made = await openDevice(world, { hash, passkeys });
    open.push(made);
    return made;
  };
  /** Proves an address on the page: the code comes by mail. */
  const prove = (here: Device, email: string) => proveAddress(here, email, world.t.codeFor);
  const newAddress = () => `person${++people}@example.com`;
  /** Somebody whose device is not needed: an account that the vault guards for an address. */
  const guarded = async (key = createPasskey().key) => {
    const email = newAddress();
    const account = await createSecond(world.chain.rpc, world.contracts, key);
    await nameGuardian(world.chain, world.t, { account, email });
    return { account: account.toLowerCase(), email };
  };
  /** The same, whose passkey is at hand. */
  const guardedOwner = async () => {
    const passkeys = createHeldPasskey();
    return { ...(await guarded(passkeys.key())), passkeys };
  };
  /** Somebody asks for a recovery elsewhere. */
  const askElsewhere = async (person: { readonly account: string; readonly email: string }) => {
    const body = recoveryBody(world.t, person as Parameters<typeof recoveryBody>[1], createPasskey());
    expect((await world.t.call('POST /api/recoveries', body)).body).toMatchObject({ status: 'proposed' });
  };
  let stranger: Device | undefined;
  /** A device that has nothing, test after test, at a link. */
  const strangerAt = async (hash: string) => {
    stranger ??= await openDevice(world);
    await stranger.go('');
    await stranger.screen('start');
    await stranger.go(hash);
    return stranger;
  };
  const stateOf = async (account: string) => (await world.t.call('GET /api/accounts/state', { account })).body;

  describe('recovery by email', () => {
    test('the owner turns it on: address, code, waiting time, passkey; and off again', async () => {
      const here = await device();
      const account = await createHere(world, here);
      const email = newAddress();
      await press(here.page, 'guard');
      await prove(here, email);
      await here.screen('delay');
      await here.page.click('#delay-form button');
      await here.screen('confirm');
      await confirm(here);
      await here.screen('home');
      const { body } = await world.t.call('GET /api/contracts');
      expect((await stateOf(account)).guardian).toMatchObject({ delaySeconds: DAYS_3 });
      expect((await stateOf(account)).guardian.address.toLowerCase()).toBe(body.guardian.toLowerCase());
      expect(await here.screen('recovery-words')).toContain('after 3 days');
      // Nothing that anybody could read of the account leads to the address.
      expect(JSON.stringify(await stateOf(account))).not.toContain(email);
      await press(here.page, 'unguard');
      expect(await here.screen('confirm')).toContain('nobody can open this account');
      await press(here.page, 'confirm-go');
      await here.screen('done');
      // A reload begins no form again: it shows the account as it is.
      await here.page.reload();
      expect(await here.screen('recovery-words')).toContain('Recovery is off.');
      expect((await stateOf(account)).guardian).toBeNull();
    });

    test('a new passkey that signs nothing is deleted; another try makes another one', async () => {
      const { account, email } = await guarded();
      const lost = await device('recover');
      await lost.screen('mail');
      await prove(lost, email);
      await lost.screen('which');
      await pressNamed(lost.page, `Choose ${account}`);
      await lost.screen('renew');
      await lost.page.evaluate(() => {
        const get = navigator.credentials.get.bind(navigator.credentials);
        navigator.credentials.get = () => {
          navigator.credentials.get = get;
          return Promise.reject(new DOMException('no', 'NotAllowedError'));
        };
      });
      await press(lost.page, 'renew-go');
      await lost.screen('renew-notice');
      await until('a passkey is deleted', () => lost.passkeys.signalled.deleted.length > 0);
      expect(lost.passkeys.signalled.deleted).toEqual(lost.passkeys.ids());
      await press(lost.page, 'renew-go');
      await lost.screen('waiting-left');
      expect(lost.passkeys.ids()).toHaveLength(2);
      expect(lost.passkeys.signalled.deleted).toHaveLength(1);
    });

    test('the link of a mail leads a browser that knows nothing to the veto', async () => {
      const { account, email, passkeys } = await guardedOwner();
      await askElsewhere({ account, email });
      const later = await device(`stop=${account}`, passkeys);
      expect(await later.screen('start')).toContain('to stop its recovery');
      await press(later.page, 'sign-in');
      await later.screen('notices');
      await later.page.click('#notices .bad button');
      expect(await later.screen('done')).toContain('Stopped');
      expect((await stateOf(account)).recovery).toBeNull();
    });

    test('without any passkey at hand, a code stops it, too', async () => {
      const { account, email } = await guarded();
      await askElsewhere({ account, email });
      const later = await device(`stop=${account}`);
      await press(later.page, 'lost-link');
      await later.screen('mail');
      await prove(later, email);
      expect(await later.screen('done')).toContain('It is being stopped');
      await until('the recovery is withdrawn', async () => (await stateOf(account)).recovery === null);
    });

    test('a vault that does not carry the veto keeps nobody from it: the owner sends it', async () => {
      const { account, email, passkeys } = await guardedOwner();
      await askElsewhere({ account, email });
      const here = await device('', passkeys);
      await press(here.page, 'sign-in');
      const warning = await here.screen('notices');
      expect(warning).toContain('Somebody asked to recover this account.');
      expect(warning).toMatch(/2 days 23:5\d:\d\d|3 days 0:00:00/);
      await here.page.setRequestInterception(true);
      here.page.on('request', (request) => {
        if (!request.url().endsWith('/api/recoveries/vetoes')) return void request.continue();
        const body = JSON.stringify({ error: 'guardian_unfunded' });
        return void request.respond({ status: 503, contentType: 'application/json', body });
      });
      await here.page.click('#notices .bad button');
      expect(await here.screen('confirm')).toContain('We cannot send this for you at the moment.');
      expect(await confirm(here)).toContain('Stopped');
      expect((await stateOf(account)).recovery).toBeNull();
    });

    test('of several accounts the person chooses: a stranger’s, named for the same address, is not taken unasked', async () => {
      const { account, email } = await guarded();
      await world.fund(account, { wei: 10n ** 18n, usdc: 12_500_000n });
      const foreign = await secondAddress(world.chain.rpc, world.contracts, createPasskey().key);
      await world.fund(foreign, { wei: 1n });
      const proven = await world.t.call('POST /api/verify/send', { identifier: email, channel: 'email' });
      const { challenge } = proven.body;
      const check = { identifier: email, channel: 'email', code: world.t.codeFor(email), challenge };
      const { attestation } = (await world.t.call('POST /api/verify/check', check)).body;
      await world.t.call('POST /api/recoveries/commitments', { attestation, smartAccount: foreign });
      const lost = await strangerAt('recover');
      await lost.screen('mail');
      await prove(lost, email);
      const text = await lost.screen('which');
      expect(text).toContain('Choose yours by its address, and by what it holds.');
      expect(text).toContain(`${account.slice(0, 8)}…${account.slice(-4)}`);
      expect(text).toContain('1 ETH · 12.5 USDC');
      await pressNamed(lost.page, `Choose ${account}`);
      expect(await lost.page.$eval('#renew-account', (one) => one.getAttribute('title'))).toBe(account);
    });

    test('another address recovers nothing, and reads what to do', async () => {
      const { account } = await guarded();
      const lost = await strangerAt('recover');
      await lost.screen('mail');
      await prove(lost, 'nobody@example.com');
      expect(await lost.screen('which')).toContain('No account was found for this address.');
      await type(lost.page, 'which-address', account);
      await lost.page.keyboard.press('Enter');
      await press(lost.page, 'renew-go');
      expect(await lost.screen('problem')).toContain('This address cannot recover that account');
      expect((await stateOf(account)).recovery).toBeNull();
    });

    test('a wrong code and a wrong address are said beside their fields', async () => {
      const lost = await strangerAt('recover');
      await lost.screen('mail');
      await type(lost.page, 'email', 'no address');
      await lost.page.keyboard.press('Enter');
      expect(await lost.screen('email-fault')).toContain('name@example.com');
      const email = `wrong${++people}@example.com`;
      await type(lost.page, 'email', email);
      await lost.page.keyboard.press('Enter');
      await lost.screen('code-form');
      await type(lost.page, 'code', otherCode(world.t.codeFor(email)));
      expect(await lost.screen('code-fault')).toContain('This code is not right.');
      expect(await lost.page.evaluate(() => document.activeElement?.id)).toBe('code');
    });
  });
});
