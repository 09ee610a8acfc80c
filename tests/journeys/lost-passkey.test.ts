import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { AbiFunction, type Hex } from 'ox';
import { didRegistry2Abi } from '../../contracts/abi.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { checkNow, createHere, type Device, keyNames, pressNamed, storedAccounts } from '../support/account-page.ts';
import {
  controllerOf,
  goBuying,
  type Identity,
  noticesTo,
  openPhone,
  type Phone,
  type PhoneWorld,
  proveAt,
  removeKey,
  signUp,
  startPhoneWorld,
  untilMoved,
} from '../support/lost-passkey.ts';
import { awaitSelector, type Passkeys, part, press } from '../support/pay.ts';
import { nameGuardian } from '../support/recovery.ts';
import { createSecond } from '../support/second-account.ts';
import { until } from '../support/until.ts';

// A lost passkey is not a lost person: chain, bundler, mail server, shop and the vault's pages are real. Losing a phone
// ends all that it stored, and its authenticator.

const DAY = 86_400;
const PRICE = 10n ** 15n;

describe.skipIf(!chromium)('in Chromium', () => {
  let world: PhoneWorld;
  const phones: Phone[] = [];
  beforeAll(async () => {
    world = await startPhoneWorld();
  });
  afterAll(() => world.stop());
  afterEach(async () => {
    for (const { context } of phones.splice(0)) await context.close();
  });
  const phone = async (passkeys?: Passkeys) => {
    const opened = await openPhone(world, passkeys);
    phones.push(opened);
    return opened;
  };
  const lose = async (lost: Phone) => {
    phones.splice(phones.indexOf(lost), 1);
    await lost.context.close();
  };
  const stateOf = async (account: string) => (await world.t.call('GET /api/accounts/state', { account })).body;
  const recoveryOf = async (smartAccount: string) =>
    (await world.t.call('GET /api/recoveries/status', { smartAccount })).body.recovery;
  const lookUp = (credentialId: string) => world.t.call('GET /api/dids/lookup', { credentialId });
  /** The record of a credential once its registration is final and proven. */
  const proven = ({ credentialId }: Pick<Identity, 'credentialId'>) =>
    untilMoved('the proven record', async () => {
      const { status, body } = await lookUp(credentialId);
      if (status === 200 && body.proven && body.final) return body;
      return void (await world.chain.rpc('anvil_mine', ['0x1']));
    });
  /** A person with a phone, and an account with money. */
  const owner = async () => {
    const here = await phone();
    const page = await here.open();
    return { here, page, account: await createHere(world, page) };
  };
  /** The same, with an identity that the vault registered. */
  const person = async (email: string) => {
    const made = await owner();
    return { ...made, identity: await signUp(world, made.here, { email, account: made.account }) };
  };
  /** Has the vault guard the account of a phone's passkey for an address, three days long. */
  const guard = async ({ passkeys }: Phone, account: Hex.Hex, email: string) => {
    await createSecond(world.chain.rpc, world.contracts, passkeys.key());
    await nameGuardian(world.chain, world.t, { account, email });
  };
  /** Pays at the shop, from the account that the phone knows or that its passkey finds. */
  const pay = async (by: Phone, account: string, isFound = false) => {
    const { page, told, received } = await goBuying(world, by);
    if (isFound) await press(page, 'find');
    expect((await part(page, 'review')).toLowerCase()).toContain(account.toLowerCase());
    await press(page, 'approve');
    expect(await told()).toMatchObject({ chainId: 84532, token: 'native' });
    expect(await received()).toBe(PRICE);
  };
  /** Asks for a recovery on a phone that has nothing, up to the countdown. */
  const askForRecovery = async (by: Phone, email: string, account: string): Promise<Device> => {
    const page = await by.open('recover');
    await page.screen('mail');
    await proveAt(world, page, email);
    await pressNamed(page.page, `Choose ${account}`);
    await press(page.page, 'renew-go');
    await page.screen('waiting-left');
    return page;
  };
  const subjects = (email: string) => noticesTo(world, email).map(({ subject }) => subject.replace(/ on \S+/, ''));
  /** Waits until so many mails about recoveries came to the address. */
  const mailed = (email: string, count: number) =>
    until(`${count} mails to ${email}`, () => subjects(email).length >= count);

  describe('a lost passkey is not a lost person', () => {
    test('registered, lost, recovered by mail after three days, paid with the new key, the old key removed', async () => {
      const [email, second] = ['ann@example.com', 'ann.too@example.com'];
      const { here, page, account, identity } = await person(email);
      expect(await controllerOf(world, identity.did)).toBe(account.toLowerCase());
      expect(await consentOf(identity.txHash)).toMatchObject({ x: pubKey(here), controller: account.toLowerCase() });
      const record = await proven(identity);
      expect(record).toMatchObject({
        did: identity.did,
        smartAccount: expect.stringMatching(new RegExp(account, 'i')),
      });
      await guard(here, account, email);
      await page.page.reload();
      await press(page.page, 'contact');
      await page.screen('mail');
      await proveAt(world, page, second);
      expect(await page.screen('done')).toContain(`We warn ${second}, too.`);
      await lose(here);

      const next = await phone();
      const waiting = await askForRecovery(next, email, account);
      const text = await waiting.screen('waiting');
      expect(text).toContain('Recovery is under way');
      expect(text).toMatch(/2 days 23:5\d:\d\d|3 days 0:00:00/);
      await waiting.page.reload();
      expect(await waiting.screen('waiting')).toContain('Your new passkey opens the account on');
      expect((await stateOf(account)).keys).toHaveLength(1);
      for (const [day, count] of [1, 2, 3].entries()) {
        for (const to of [email, second]) await mailed(to, count);
        if (day < 2) expect((await recoveryOf(account)).status).toBe('proposed');
        await world.later(DAY + (day === 2 ? 60 : 0));
      }
      await untilMoved('the new key', async () => {
        await world.later(60);
        return (await recoveryOf(account)).status === 'finished';
      });
      await checkNow(waiting.page);
      expect(await waiting.screen('done')).toContain('You are back');

      await pay(next, account);
      const joined = await signUp(world, next, { email, account, known: identity });
      expect(joined.credentialId).not.toBe(identity.credentialId);
      expect(await proven(joined)).toMatchObject({ did: identity.did });
      expect((await lookUp(identity.credentialId)).status).toBe(200);
      await press(waiting.page, 'done-go');
      await waiting.screen('home');
      expect(await waiting.page.$eval('#full', (full) => full.textContent)).toBe(account);
      expect(await keyNames(waiting.page)).toHaveLength(2);
      await removeKey(waiting, 'First passkey');
      expect((await stateOf(account)).keys).toMatchObject([{ x: pubKey(next) }]);
      await untilMoved('the removed key answers no more', async () => {
        await world.later(60);
        return (await lookUp(identity.credentialId)).status === 404 ? true : undefined;
      });
      expect((await lookUp(joined.credentialId)).body).toMatchObject({ did: identity.did, proven: true });
      // The new passkey alone finds the account: the phone after the next one has nothing else.
      await pay(await phone(next.passkeys), account, true);

      for (const to of [email, second]) {
        await mailed(to, 4);
        const running = 'Your account is being recovered';
        const all = ['Somebody is recovering your account', running, running, 'Your account has a new passkey'];
        expect(subjects(to)).toEqual(all);
      }
    });

    test('asked for by a thief of the mailbox: the mail leads the owner to the veto, and the new key opens nothing', async () => {
      const email = 'ben@example.com';
      const { here, page, account } = await owner();
      await guard(here, account, email);
      const thief = await phone();
      const waiting = await askForRecovery(thief, email, account);
      await mailed(email, 1);
      const [link = ''] =
        /\S+\/account\?lang=en#stop=0x[0-9a-fA-F]{40}/.exec(noticesTo(world, email)[0]?.text ?? '') ?? [];
      expect(link.toLowerCase()).toBe(`${world.origin}/account?lang=en#stop=${account}`.toLowerCase());

      await page.go(link.split('#')[1] ?? '');
      // The notice that was there before the link tells of no recovery.
      await awaitSelector(page.page, '#notices .bad button');
      await page.page.click('#notices .bad button');
      expect(await page.screen('done')).toContain('Stopped');
      expect((await stateOf(account)).recovery).toBeNull();
      await world.later(4 * DAY);
      await untilMoved('the end of the recovery', async () => {
        await world.chain.rpc('anvil_mine', ['0x1']);
        const { status, final } = await recoveryOf(account);
        return status === 'vetoed' && final ? true : undefined;
      });
      await mailed(email, 2);
      expect(subjects(email)).toEqual([
        'Somebody is recovering your account',
        'The recovery of your account was stopped',
      ]);
      await checkNow(waiting.page);
      expect(await waiting.screen('done')).toContain('The recovery was stopped');
      expect(await storedAccounts(waiting.page)).toEqual([]);
      expect((await stateOf(account)).keys).toMatchObject([{ x: pubKey(here) }]);
    });
  });

  const pubKey = ({ passkeys }: Phone) => `0x${Buffer.from(passkeys.key().x).toString('hex')}`;
  /** The consent that the registrar brought the registry. */
  async function consentOf(txHash: string) {
    const { input } = (await world.chain.rpc('eth_getTransactionByHash', [txHash])) as { input: Hex.Hex };
    const [controller, , , consent] = AbiFunction.decodeData(
      AbiFunction.fromAbi(didRegistry2Abi, 'registerFor'),
      input,
    );
    return { controller: controller.toLowerCase(), x: `0x${consent.x.toString(16).padStart(64, '0')}` };
  }
});
