// Other ways through /account than those of account.test.ts.
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { AbiFunction, Hash, Hex } from 'ox';
import { accountFactoryAbi } from '../../contracts/abi.ts';
import { createHeldPasskey } from '../../scripts/dev-stack/browser-passkeys.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import {
  accountPages,
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
import { awaitSelector, type PayWorld, press } from '../support/pay.ts';
import { keepSent } from '../support/pay-windows.ts';
import { openRegistry, type Registry } from '../support/registries.ts';
import { callAs } from '../support/second-account.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: PayWorld;
  const {
    open: device,
    owner,
    keysOf,
  } = accountPages((opened) => {
    world = opened;
  });

  describe('an account and its passkeys', () => {
    test('what is read again and is the same is left alone: neither the focus nor a press is lost', async () => {
      const here = await owner({
        // It is read again every 20 s.
        prepare: (page) =>
          page.evaluateOnNewDocument(() => {
            const { setInterval } = window;
            const soon = (act: () => void, ms: number) => setInterval(act, ms === 20_000 ? 100 : ms);
            Object.assign(window, { setInterval: soon });
          }),
      });
      await here.page.focus('button[aria-label="Change First passkey"]');
      for (let readings = 0; readings < 3; readings++)
        await here.page.waitForResponse((response) => response.url().includes('/api/accounts/state'));
      await here.page.waitForFunction(() => document.getElementById('money')?.textContent?.includes('12.5'));
      const focused = () => here.page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
      expect(await focused()).toBe('Change First passkey');
    });

    test('where the codes of a day are used up, the page says when the next one can be sent', async () => {
      for (const name of ['one', 'two', 'three']) {
        const sent = { identifier: `${name}@example.com`, channel: 'email' };
        expect((await world.t.call('POST /api/verify/send', sent)).status).toBe(200);
      }
      const here = await device({ hash: 'recover' });
      await type(here.page, 'email', 'four@example.com');
      await here.page.keyboard.press('Enter');
      const text = await here.screen('problem');
      expect(text).toContain('Too many tries');
      expect(text).toContain('Try again in about 24 hours.');
    });
  });

  describe('one account, test after test', () => {
    let here: Device;
    let account: string;
    beforeAll(async () => {
      here = await openDevice(world);
      await here.page.evaluate(`new MutationObserver((_, self) => {
        if (document.getElementById('home').hidden) return;
        self.disconnect();
        requestAnimationFrame(() => (window.rows = document.getElementById('money').childElementCount));
      }).observe(document.getElementById('home'), { attributes: true })`);
      account = await createHere(world, here);
    });
    beforeEach(async () => {
      await here.go('');
      await here.screen('home');
    });

    test('the rows of the money are there with the account, so that no button below moves', async () => {
      expect(await (await here.page.waitForFunction('window.rows')).jsonValue()).toBe(2);
    });

    test('a name is changed, and the only passkey cannot be removed', async () => {
      await pressNamed(here.page, 'Change First passkey');
      const text = await here.screen('key');
      expect(text).toContain('It is the only one, so it cannot be removed');
      expect(await here.page.$eval('#remove', (button) => (button as HTMLElement).hidden)).toBe(true);
      await type(here.page, 'new-name', '🔑'.repeat(8));
      await here.page.keyboard.press('Enter');
      expect(await here.screen('rename-fault')).toContain('at most 31 letters');
      await type(here.page, 'new-name', 'Käthes Telefon');
      await here.page.keyboard.press('Enter');
      await here.screen('confirm');
      await confirm(here);
      await here.screen('home');
      expect(await keyNames(here.page)).toEqual(['Käthes Telefon']);
      expect(await keysOf(account)).toMatchObject([{ index: 0, label: 'Käthes Telefon', synced: false }]);
    });

    test('a passkey that is not used leaves all as it was, and says so', async () => {
      await pressNamed(here.page, 'Change Käthes Telefon');
      await type(here.page, 'new-name', 'Other');
      await here.page.keyboard.press('Enter');
      await here.screen('confirm');
      await here.passkeys.allow(false);
      await press(here.page, 'confirm-go');
      await awaitSelector(here.page, '#confirm-notice');
      expect(await here.screen('confirm-notice')).toBe('No passkey was used, and nothing has changed.');
      await here.passkeys.allow(true);
      await confirm(here);
      await here.screen('home');
      expect(await keysOf(account)).toMatchObject([{ label: 'Other' }]);
    });

    test('an Ethereum address becomes a key, and stands in the file for use without this vault', async () => {
      await press(here.page, 'export');
      expect(await here.screen('take')).toContain('only an Ethereum address among your keys can still sign');
      await press(here.page, 'take-add');
      await type(here.page, 'owner', '0x12');
      await press(here.page, 'pick-owner');
      expect(await here.screen('owner-fault')).toContain('Enter 0x and 40 digits.');
      for (const [owner, fault] of [
        ['0x52908400098527886E0F7030069857D2E4169Ee7', 'This address is misspelt.'],
        [world.contracts.accountFactory, 'This is a contract, such as a Safe.'],
      ] as const) {
        await type(here.page, 'owner', owner);
        await press(here.page, 'pick-owner');
        await here.page.waitForFunction(
          (text) => document.getElementById('owner-fault')?.textContent?.includes(text),
          {},
          fault,
        );
      }
      await type(here.page, 'owner', '0x52908400098527886E0F7030069857D2E4169EE7');
      await press(here.page, 'pick-owner');
      expect(await here.screen('confirm')).toContain('Add “Wallet 0x529084…9EE7”?');
      await confirm(here);
      await here.screen('home');
      await press(here.page, 'export');
      await here.screen('take');
      const file = JSON.parse(await here.page.$eval('#take-text', (element) => element.textContent ?? ''));
      expect(file).toMatchObject({ account, chainId: 84532, isDeployed: true, rpId: 'localhost' });
      expect(file.createdBy).toMatchObject({ x: file.keys[0].x, y: file.keys[0].y });
      expect(file.factory.toLowerCase()).toBe(world.contracts.accountFactory2.toLowerCase());
      expect(file.keys).toHaveLength(2);
      expect(BigInt(file.keys[1].x)).toBe(0x52908400098527886e0f7030069857d2e4169ee7n);
      expect(file.abi).toContain('function addKey(uint256 x, uint256 y, bytes32 label)');
      expect(await here.page.$eval('#take-hint', (element) => (element as HTMLElement).hidden)).toBe(true);
    });
    test("a bundler's answer that is lost: the page finds that it is done", async () => {
      await makeHere(here);
      world.upstream.set('deaf', 'eth_sendUserOperation');
      await press(here.page, 'confirm-go');
      expect(await here.screen('done')).toContain('Added');
      expect(await keysOf(account)).toHaveLength(3);
      await press(here.page, 'done-go');
      await here.screen('home');
    });

    test("a bundler's refusal is not the end: it is signed again with the same nonce, and happens once", async () => {
      await makeHere(here);
      const { operations, release } = keepSent(world, { error: { code: -32504, message: 'throttled' } });
      await press(here.page, 'confirm-go');
      await awaitSelector(here.page, '#repeat');
      expect(await here.screen('progress')).toContain('The network answered: throttled.');
      world.upstream.answer = undefined;
      await press(here.page, 'repeat');
      expect(await here.screen('done')).toContain('Added');
      const again = world.upstream.calls.findLast(({ method }) => method === 'eth_sendUserOperation');
      expect(again?.params[0]).toMatchObject({ nonce: operations[0]?.['nonce'] ?? '' });
      await release();
      expect(await keysOf(account)).toHaveLength(4);
      await press(here.page, 'done-go');
      await here.screen('home');
    });

    test('two passkeys that are added on one authenticator do not replace each other', async () => {
      expect(here.passkeys.ids()).toHaveLength(3);
      for (const i of [0, 1, 2]) {
        const later = await device({ passkeys: here.passkeys.only(i) });
        await signIn(later.page);
        await later.screen('home');
        expect(await later.page.$eval('#full', (element) => element.textContent)).toBe(account);
      }
    });
  });

  describe('what is on its way', () => {
    test('without a sponsor the account pays; without ether it says how much is needed', async () => {
      world.upstream.set('refusing', 'pm_sponsorUserOperation');
      const here = await device();
      const account = await createHere(world, here, {});
      await makeHere(here);
      expect(await here.screen('confirm')).toMatch(/Not enough for the fee: 0\.\d+ ETH needed, 0 ETH here/);
      await world.fund(account, { wei: 10n ** 18n });
      await press(here.page, 'confirm-go');
      await here.page.waitForFunction(() => document.getElementById('confirm-notice')?.hidden === true);
      expect(await here.screen('confirm')).toMatch(/At most 0\.\d+ ETH/);
      await press(here.page, 'confirm-go');
      expect(await here.screen('done')).toContain('Added');
    });
  });

  describe('an account of the first kind', () => {
    let registry: Registry;
    beforeAll(() => {
      registry = openRegistry(world.chain.rpc, world.contracts.didRegistry, 2);
    });
    /** A device whose passkey has an account of the first kind, with money and a DID. */
    const openOld = async (funds: { wei?: bigint; usdc?: bigint }) => {
      const passkeys = createHeldPasskey();
      const { x, y } = passkeys.key();
      const key = { pubKeyX: Hex.fromBytes(x), pubKeyY: Hex.fromBytes(y) };
      const predict = async (kind: string) =>
        (await world.t.call('GET /api/accounts/predict', { ...key, kind })).body.address as Hex.Hex;
      const [old, next] = [await predict('1'), await predict('2')];
      await world.fund(old, funds);
      const here = await device({ passkeys });
      await signIn(here.page);
      await here.screen('home');
      const create = AbiFunction.fromAbi(accountFactoryAbi, 'createAccount');
      const data = AbiFunction.encodeData(create, [Hex.toBigInt(key.pubKeyX), Hex.toBigInt(key.pubKeyY), 0n]);
      const deploy = () =>
        sendTransaction(world.chain.rpc, devAccount('bob').privateKey, { to: world.contracts.accountFactory, data });
      return { here, old, next, deploy };
    };
    const controllerOf = async (did: string) => {
      const found = await registry.read('resolve', Hash.keccak256(Hex.fromString(did)));
      return JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? String(value) : value)).toLowerCase();
    };

    test('moves with DID and funds by one operation; the same passkey opens the new one', async () => {
      const { here, old, next, deploy } = await openOld({ wei: 10n ** 18n, usdc: 7_000_000n });
      await deploy();
      const did = `did:pkh:eip155:84532:${old}`;
      await registerAs(old, did);
      await world.fund(old, { wei: 10n ** 18n });
      await here.page.reload();
      const text = await here.screen('home');
      expect(text).toContain('This is an older account');
      await press(here.page, 'move');
      const asked = await here.screen('confirm');
      expect(asked).toMatch(/It takes along what apps know you by, 7 USDC,? and 1 ETH\./);
      const before = world.upstream.calls.length;
      expect(await confirm(here)).toContain(`Your account is at ${next.toLowerCase()} now.`);
      await here.screen('home');
      expect(await here.page.$eval('#full', (full) => full.textContent)).toBe(next.toLowerCase());
      const calls = world.upstream.calls.slice(before).map(({ method }) => method);
      expect(calls.filter((method) => method === 'eth_sendUserOperation')).toHaveLength(1);
      expect(await controllerOf(did)).toContain(next.toLowerCase());
      expect(await world.balanceOf(next, 'usdc')).toBe(7_000_000n);
      expect([await world.balanceOf(next, 'native'), await world.balanceOf(old, 'native')]).toEqual([10n ** 18n, 0n]);
    });

    test('without a sponsor it keeps back the fee, and moves the rest', async () => {
      world.upstream.set('refusing', 'pm_sponsorUserOperation');
      const { here, old, next } = await openOld({ wei: 10n ** 18n });
      await here.screen('home');
      await press(here.page, 'move');
      expect(await here.screen('confirm')).toMatch(/It takes along 0\.99\d* ETH\./);
      await confirm(here);
      await here.screen('home');
      const moved = await world.balanceOf(next, 'native');
      expect(moved).toBeGreaterThan(99n * 10n ** 16n);
      expect(moved + (await world.balanceOf(old, 'native'))).toBeLessThan(10n ** 18n);
    });

    test('has no second key, and does not move to an address that the vault made up', async () => {
      const { here } = await openOld({ wei: 1n });
      expect(await here.screen('home')).toContain('This is an older account: it has one passkey for good.');
      for (const id of ['add', 'guard'])
        expect(await here.page.$eval(`#${id}`, (one) => one.checkVisibility())).toBe(false);
      await here.page.setRequestInterception(true);
      here.page.on('request', (request) => {
        if (!request.url().includes('/api/accounts/predict')) return void request.continue();
        const body = JSON.stringify({ address: `0x${'66'.repeat(20)}` });
        return void request.respond({ contentType: 'application/json', body });
      });
      await press(here.page, 'move');
      expect(await here.screen('problem')).toContain('Nothing has changed.');
    });

    async function registerAs(account: Hex.Hex, did: string): Promise<void> {
      await callAs(
        world.chain.rpc,
        account,
        registry.address,
        registry.encode('register', Hash.keccak256(Hex.fromString(did)), `0x${'0'.repeat(64)}`, ''),
      );
    }
  });
});
