import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { Hex } from 'ox';
import { GIFT } from '../../../scripts/dev-stack/shop.ts';
import { USDC } from '../../../scripts/dev-stack/usdc.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { PAYEE } from '../../support/payers.ts';
import { type ShopServer, startShopServer } from '../../support/shop-server.ts';

const SOMEBODY = '0x00000000000000000000000000000000000B0b00';

let server: ShopServer;
beforeAll(async () => {
  server = await startShopServer();
});
afterAll(() => server.stop());
afterEach(() => server.chain.rpc('evm_setAutomine', [true]));

describe('the shop’s server', () => {
  test('knows the orders that it made, and no other', async () => {
    for (const id of ['mine', '__proto__', 'constructor', `tea-${crypto.randomUUID()}`])
      expect(await server.check(id, { userOpHash: Hex.random(32) })).toEqual({ error: 'not_found' });
    expect((await fetch(`${server.shop.url}/orders/nothing`)).status).toBe(404);
    expect((await fetch(`${server.shop.url}/..%2f..%2fpackage.json`)).status).toBe(404);
  });

  test('makes the order itself: a page cannot make it cheaper', async () => {
    const { body } = await server.post('/orders', { amount: '1', to: SOMEBODY, token: 'native', id: 'mine' });
    expect(body).toMatchObject({ amount: '1250000', to: PAYEE, token: USDC, chainId: 84532 });
    expect(body.id).toMatch(/^tea-[0-9a-f-]{36}$/);
  });

  test.each(['/orders', '/money', '/orders/mine/receipt'])('takes nothing at %s from another site', async (path) => {
    const origin = 'https://evil.example';
    expect(await server.post(path, {}, { origin })).toMatchObject({ status: 403, body: { error: 'other_origin' } });
    // What a form can send without asking first.
    const form = new URLSearchParams({ account: SOMEBODY });
    expect((await fetch(server.shop.url + path, { method: 'POST', body: form })).status).toBe(415);
    expect((await fetch(server.shop.url + path, { method: 'PUT' })).status).toBe(405);
    const large = await fetch(server.shop.url + path, { method: 'POST', body: 'x'.repeat(5_000) });
    expect(large.status).toBe(413);
  });

  test('answers to this machine’s names alone, and leads people to the one that passkeys have', async () => {
    const { port } = new URL(server.shop.url);
    expect(await statusFor(Number(port), 'evil.example')).toBe(421);
    const answer = await fetch(`http://127.0.0.1:${port}/?a=b`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([307, `${server.shop.url}/?a=b`]);
  });

  test('serves a page under a strict policy, with nothing inline and nothing from elsewhere', async () => {
    const answer = await fetch(server.shop.url);
    const vault = server.t.url.replace('127.0.0.1', 'localhost');
    expect(answer.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      `script-src 'self' ${vault}`,
      "style-src 'self'",
      `img-src 'self' ${vault}`,
      `connect-src 'self' ${vault}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(await answer.text()).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
  });
});

describe('the faucet', () => {
  const give = (account: unknown) => server.post('/money', { account });
  const ether = async (account: string) =>
    BigInt((await server.chain.rpc('eth_getBalance', [account, 'latest'])) as string);
  const usdc = async (account: string) => {
    const data = `0x70a08231${account.slice(2).padStart(64, '0')}`;
    return BigInt((await server.chain.rpc('eth_call', [{ to: USDC, data }, 'latest'])) as string);
  };

  test('gives an account money, and gives again at once when asked twice', async () => {
    const newcomer = '0x0000000000000000000000000000000000C0fFEe';
    const answers = await Promise.all([give(newcomer), give(` ${newcomer.toLowerCase()} `)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([await usdc(newcomer), await ether(newcomer)]).toEqual([2n * GIFT.usdc, 2n * GIFT.wei]);
  });

  test('gives to what is an address, and goes on after a gift that failed', async () => {
    for (const account of ['a***@example.com', '', undefined, 7, [SOMEBODY]])
      expect(await give(account)).toMatchObject({ status: 400, body: { error: 'bad_address' } });
    const { address } = devAccount('bob');
    const before = await usdc(address);
    // The token is a contract that takes no ether, so the second half of this gift fails.
    expect(await give(USDC)).toMatchObject({ status: 502, body: { error: 'chain_failed' } });
    expect((await give(address)).status).toBe(200);
    expect((await usdc(address)) - before).toBe(GIFT.usdc);
  });

  test('does not let more than 50 wait', async () => {
    await server.chain.rpc('evm_setAutomine', [false]);
    const all = Array.from({ length: 52 }, () => give(SOMEBODY));
    const first = await Promise.race(all);
    expect(first).toMatchObject({ status: 429, body: { error: 'busy' } });
    await server.chain.rpc('evm_setAutomine', [true]);
    await server.chain.rpc('anvil_mine', ['0x1']);
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
  });
});

/** The status of a request that says it is for another host, as after a name that was led here. */
function statusFor(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
    socket.once('data', (data) => {
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1]));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
