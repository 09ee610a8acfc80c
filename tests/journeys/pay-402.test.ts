import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { createPublicClient, http } from 'viem';
import { authorizationNonce } from '../../client/payment-nonce.ts';
import { verifyPayment } from '../../client/payments.ts';
import type { TransferAnswer } from '../../client/transfer-authorization.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { USDC } from '../../scripts/dev-stack/usdc.ts';
import { AUTHORIZATION_TYPES } from '../support/authorizations.ts';
import { type AppWorld, openAsPayer, startAppWorld } from '../support/client-app.ts';
import { settle, startPaidApi, TEA } from '../support/paid-api.ts';
import { awaitSelector, confirmWindow, findAccount, part, press } from '../support/pay.ts';
import { testX402Pages } from '../support/x402-page.ts';

const ROOT = join(import.meta.dir, '../..');

describe.skipIf(!chromium)('payments by authorization in Chromium', () => {
  let world: AppWorld;
  let api: ReturnType<typeof startPaidApi>;
  beforeAll(async () => {
    world = await startAppWorld({}, { pagesOnly: true, relayOnly: true });
    api = startPaidApi(world.chain.rpc);
    world.put('/app', '<!doctype html><title>App</title><button id="ask">Ask</button>');
  });
  afterAll(async () => {
    await api?.stop();
    await world?.stop();
  });
  afterEach(() => world.closePages());

  /** Somebody with some USDC; what an app knows of them. */
  async function person(usdc = 5_000_000n) {
    const { payer, ...bob } = await openAsPayer(world, '/app', usdc);
    return { ...bob, payer: JSON.stringify(payer) };
  }
  /** Has the app's button run some code with its client, and clicks it; the result, or the word of its error. */
  async function click<T>(page: Page, code: string): Promise<{ told: Promise<T> }> {
    const told = page.evaluate(
      `${world.client}.then((vault) => new Promise((resolve) => {
        const act = async () => { ${code} };
        document.querySelector('#ask').onclick = () =>
          act().then(resolve, (error) => resolve(error.error ?? error.message));
        document.body.dataset.ready = 'yes';
      }))`,
    ) as Promise<T>;
    // A link leaves the page, at times before the click has ended.
    told.catch(() => undefined);
    await page.waitForSelector('body[data-ready]');
    await page.click('#ask');
    return { told };
  }
  const balanceOf = (address: string) => world.balanceOf(address, 'usdc');
  /** A link of an app that asks for a transfer. */
  function linkFor(transfer: { readonly from?: string; readonly to: string; readonly value: string }): string {
    const times = { validAfter: '0', validBefore: String(Math.floor(Date.now() / 1000) + 300) };
    const request = {
      id: 'by-link',
      form: 'transfer-authorization',
      token: { chainId: 84532, address: USDC },
      authorization: { ...transfer, ...times, nonce: `0x${'33'.repeat(32)}` },
      returnUrl: world.shop,
    };
    const link = Buffer.from(JSON.stringify(request)).toString('base64url');
    return `${world.origin}/approve?mode=redirect&request=${link}`;
  }
  const isDeployed = async (address: string) => (await world.chain.rpc('eth_getCode', [address, 'latest'])) !== '0x';

  interface Bought {
    readonly status: number;
    readonly body: unknown;
    readonly again: unknown;
    readonly answer: TransferAnswer;
  }
  /** Asks an API, pays its 402, and asks again: twice. */
  const buy = (path: string, payer: string) => `
    const first = await fetch('${api.url}${path}');
    const { headers, ...answer } = await vault.pay(first, { by: 'authorization', payer: ${payer} });
    const second = await fetch('${api.url}${path}', { headers });
    const third = await fetch('${api.url}${path}', { headers });
    return { status: second.status, body: await second.json(), again: await third.json(), answer };`;

  test.each(['/tea', '/old-tea'])('a 402 at %s is paid once its price is approved, and never twice', async (path) => {
    const bob = await person();
    const before = await balanceOf(TEA.payTo);
    const { told } = await click<Bought>(bob.page, buy(path, bob.payer));
    const page = await confirmWindow(world, bob.passkeys);
    const shown = (await part(page, 'review')).replace(/\s+/g, ' ');
    for (const said of [
      'Pay 1.25 USDC',
      `Requested by ${world.shop}`,
      `To ${TEA.payTo}`,
      'For Two teas',
      'Balance 5 USDC',
    ])
      expect(shown).toContain(said);
    expect(shown).not.toContain('Approve this?');
    expect(await page.$eval('#text', (one) => one.checkVisibility())).toBe(false);
    await press(page, 'approve');
    const { status, body, again, answer } = await told;
    expect([status, body]).toEqual([200, { tea: 'two cups' }]);
    expect(again).toMatchObject({ refusal: expect.stringContaining('used') });
    expect(answer.authorization).toMatchObject({ from: bob.account, to: TEA.payTo, value: TEA.amount });
    // It did not exist: the signature brought its creation along.
    expect(answer.signature).toEndWith('6492'.repeat(16));
    expect(await isDeployed(bob.account)).toBe(true);
    expect([await balanceOf(bob.account), (await balanceOf(TEA.payTo)) - before]).toEqual([3_750_000n, 1_250_000n]);
  });

  test('the documented request is paid by somebody whom the page does not know, once they have enough', async () => {
    const text = await Bun.file(join(ROOT, 'docs/client.md')).text();
    const [, code = ''] = /^## Pay a 402[^\n]*\n+```js\n([\s\S]*?)^```$/m.exec(text) ?? [];
    const bob = await person(1_000_000n);
    const { told } = await click<string>(
      bob.page,
      `let said = '';
      const show = (text) => { said = text; };
      ${code.replaceAll('https://api.example.com', api.url)}
      return said;`,
    );
    const page = await confirmWindow(world, bob.passkeys);
    expect(await part(page, 'setup')).toContain('Which account approves?');
    await findAccount(page, 2);
    expect(await part(page, 'review')).toContain('Not enough USDC: 1.25 needed, 1 here.');
    expect(await page.$eval('#approve', (one) => one.checkVisibility())).toBe(false);
    await world.fund(bob.account, { usdc: 250_000n });
    await press(page, 'recheck');
    await press(page, 'approve');
    expect(JSON.parse(await told)).toEqual({ tea: 'two cups' });
  });

  test('an order is paid by the token once, and by no other account than the app names', async () => {
    const bob = await person();
    const id = `order-${crypto.randomUUID()}`;
    const order = JSON.stringify({ id, to: TEA.payTo, token: USDC, amount: '1000000', label: 'Order 7' });
    const pay = async () => {
      const { told } = await click<TransferAnswer>(
        bob.page,
        `return vault.pay(${order}, { by: 'authorization', payer: ${bob.payer} })`,
      );
      const page = await confirmWindow(world, bob.passkeys);
      expect(await part(page, 'review')).toContain('Order 7');
      await press(page, 'approve');
      return told;
    };
    /** By a link, there and back. */
    const payByLink = async () => {
      const link = { by: 'authorization', via: 'link', payer: JSON.parse(bob.payer) };
      const there = bob.page.waitForNavigation();
      await click(bob.page, `return vault.pay(${order}, ${JSON.stringify(link)})`);
      await there;
      expect(await part(bob.page, 'review')).toContain('nobody vouches for it');
      const back = bob.page.waitForNavigation();
      await press(bob.page, 'approve');
      await back;
      return bob.page.evaluate(`${world.client}.then((vault) => vault.approved())`) as Promise<TransferAnswer>;
    };
    const [one, other] = [await pay(), await payByLink()];
    const nonce = await authorizationNonce({ origin: world.shop, id });
    expect([one.id, one.authorization.nonce, other.authorization.nonce]).toEqual([id, nonce, nonce]);
    // Another amount, payee or order is not what was signed.
    for (const swapped of [{ value: '1000001' }, { to: bob.account }, { nonce: `0x${'11'.repeat(32)}` }]) {
      const forged = { ...one, authorization: { ...one.authorization, ...swapped } };
      expect(await settle(world.chain.rpc, forged)).toContain('invalid signature');
    }
    expect(await settle(world.chain.rpc, one)).toBeUndefined();
    expect(await settle(world.chain.rpc, other)).toContain('used');
    const terms = { origin: world.shop, id, to: TEA.payTo, token: USDC, amount: '1000000', chainId: 84532 };
    const receipt = { by: 'authorization', account: one.account } as const;
    expect(await verifyPayment(receipt, terms, world.chain.url)).toMatchObject({ status: 'paid' });
    expect(await balanceOf(bob.account)).toBe(4_000_000n);

    // This device has an account, but the app names another: a person who picks one sees that.
    const named = `0x${'b0'.repeat(20)}`;
    await bob.page.goto(linkFor({ from: named, to: TEA.payTo, value: '1' }));
    await press(bob.page, 'find');
    await awaitSelector(bob.page, '#setup-notice:not([hidden])');
    expect(await part(bob.page, 'setup')).toContain('The app asks for another account: 0xb0b0b0…b0b0.');
  });

  test('where the account used last is the payee, another one of this device is offered', async () => {
    const bob = await person();
    const order = { id: `order-${crypto.randomUUID()}`, to: TEA.payTo, token: USDC, amount: '1000000', label: 'Tea' };
    const { told } = await click<TransferAnswer>(
      bob.page,
      `return vault.pay(${JSON.stringify(order)}, { by: 'authorization', payer: ${bob.payer} })`,
    );
    const window = await confirmWindow(world, bob.passkeys);
    await press(window, 'approve');
    await told;
    const payee = `0x${'20'.repeat(20)}`;
    await bob.page.goto(`${world.origin}/approve`);
    await bob.page.evaluate(keepAnother, payee);
    await bob.page.goto(linkFor({ to: payee, value: '1000000' }));
    const shown = await part(bob.page, 'review');
    expect(shown).toContain('1 USDC');
    expect(shown).toContain('5 USDC');
    await press(bob.page, 'other');
    await part(bob.page, 'setup');
    expect(await bob.page.$$eval('#accounts > *', (rows) => rows.length)).toBe(1);
  });

  test('a signer signs what libraries of x402 ask for, before the account exists and after', async () => {
    const bob = await person();
    const typedFor = (value: bigint) => ({
      domain: { name: 'USDC', version: '2', chainId: 84532, verifyingContract: USDC },
      types: AUTHORIZATION_TYPES,
      primaryType: 'TransferWithAuthorization' as const,
      message: {
        ...{ from: bob.account as `0x${string}`, to: TEA.payTo, value, validAfter: 0n },
        ...{ validBefore: BigInt(Math.floor(Date.now() / 1000) + 300), nonce: `0x${'22'.repeat(32)}` as const },
      },
    });
    const client = createPublicClient({ transport: http(world.chain.url) });
    for (const value of [1_000n, 2_000n]) {
      const typed = typedFor(value);
      const text = JSON.stringify(typed, (_, one) => (typeof one === 'bigint' ? String(one) : one));
      const { told } = await click<`0x${string}`>(
        bob.page,
        `const signer = await vault.signer({ person: ${bob.payer} });
        if (signer.address !== '${bob.account}') throw new Error(signer.address);
        return signer.signTypedData(${text});`,
      );
      const page = await confirmWindow(world, bob.passkeys);
      expect(await part(page, 'review')).toContain(`Pay 0.00${value / 1000n} USDC`);
      // The account has its place in what is signed: no other one can pay.
      expect(await page.$eval('#other', (one) => one.checkVisibility())).toBe(false);
      await press(page, 'approve');
      const signature = await told;
      expect(await client.verifyTypedData({ address: typed.message.from, ...typed, signature })).toBe(true);
      expect(await client.verifyTypedData({ address: typed.message.from, ...typedFor(value + 1n), signature })).toBe(
        false,
      );
      const { to, from, validBefore, nonce } = typed.message;
      const authorization = {
        from,
        to,
        nonce,
        value: String(value),
        validAfter: '0',
        validBefore: String(validBefore),
      };
      // The second one finds the nonce used, of an account that exists by then.
      expect([await settle(world.chain.rpc, { authorization, signature }), await isDeployed(from)]).toEqual([
        value === 1_000n ? undefined : expect.stringContaining('used'),
        true,
      ]);
    }
  });

  // docs/x402.md
  describe('an API that charges by x402', () => testX402Pages(() => world));
});

/** In the page: stores the account that was used last once more, with another address, as used since. */
async function keepAnother(address: string): Promise<void> {
  const answered = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const db = await answered(indexedDB.open('vault-pay'));
  const store = db.transaction('accounts', 'readwrite').objectStore('accounts');
  const [known] = await answered(store.getAll());
  await answered(store.put({ ...known, address, usedAt: Date.now() + 1_000 }));
  db.close();
}
