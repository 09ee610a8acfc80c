import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { AbiFunction, Hash, Hex } from 'ox';
import { accountFactoryAbi } from '../../contracts/abi.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { confirm, type Device, openDevice, signIn } from '../support/account-page.ts';
import { type PayWorld, press, startPayWorld } from '../support/pay.ts';
import { openRegistry, type Registry } from '../support/registries.ts';
import { callAs } from '../support/second-account.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: PayWorld;
  let registry: Registry;
  const open: Device[] = [];
  beforeAll(async () => {
    world = await startPayWorld({ pagesOnly: true });
    registry = openRegistry(world.chain.rpc, world.contracts.didRegistry, 2);
  });
  afterAll(() => world.stop());
  afterEach(async () => {
    for (const device of open.splice(0)) await device.close();
    world.upstream.set();
  });
  const device = async () => {
    const made = await openDevice(world);
    open.push(made);
    return made;
  };
  /** A device whose passkey has an account of the first kind, with money and a DID. */
  const openOld = async (funds: { wei?: bigint; usdc?: bigint }) => {
    const here = await device();
    await press(here.page, 'create');
    await here.screen('home');
    const { x, y } = here.passkeys.key();
    const key = { pubKeyX: Hex.fromBytes(x), pubKeyY: Hex.fromBytes(y) };
    const predict = async (kind: string) =>
      (await world.t.call('GET /api/accounts/predict', { ...key, kind })).body.address as Hex.Hex;
    const [old, next] = [await predict('1'), await predict('2')];
    await world.fund(old, funds);
    // As on a browser that knows nothing of the new one.
    const session = await here.page.createCDPSession();
    await session.send('Storage.clearDataForOrigin', { origin: world.origin, storageTypes: 'all' });
    await here.page.reload();
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

  describe('an account of the first kind', () => {
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

    test('does not move to an address that the vault made up', async () => {
      const { here } = await openOld({ wei: 10n ** 18n });
      await here.page.setRequestInterception(true);
      here.page.on('request', (request) => {
        if (!request.url().includes('/api/accounts/predict')) return void request.continue();
        const body = JSON.stringify({ address: `0x${'66'.repeat(20)}` });
        return void request.respond({ contentType: 'application/json', body });
      });
      await press(here.page, 'move');
      expect(await here.screen('problem')).toContain('Nothing has changed.');
    });

    test('has no second key, and says so', async () => {
      const { here } = await openOld({ wei: 1n });
      expect(await here.screen('home')).toContain('This is an older account: it has one passkey for good.');
      for (const id of ['add', 'guard'])
        expect(await here.page.$eval(`#${id}`, (one) => one.checkVisibility())).toBe(false);
    });
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
