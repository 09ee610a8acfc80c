import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createClient, type VaultClient, VaultClientError } from '../../../client/vault/index.ts';
import { type ClientWorld, on, startClientWorld } from '../../support/client-world.ts';
import type { Device } from '../../support/hostile/device.ts';
import { createPayer, orderOf, payOrder } from '../../support/payers.ts';
import { settled } from '../../support/settled.ts';
import { originOf } from '../../support/touch.ts';
import { sdJwt } from '../../tools/credential-clients.ts';

const TEXT = await Bun.file(new URL('../../../docs/client.md', import.meta.url)).text();

/** The examples under each heading, in order. */
const examples = new Map(
  TEXT.split(/^## /m).map((part): [string, string[]] => [
    part.split('\n')[0] ?? '',
    Array.from(part.matchAll(/^```js\n([\s\S]*?)^```$/gm), ([, code = '']) => code),
  ]),
);

let world: ClientWorld;
let device: Device;
let vault: VaultClient;
beforeAll(async () => {
  world = await startClientWorld({ RATE_LIMIT_CODES_PER_IDENTIFIER: '4' });
  device = world.device();
  const operatorSecret = 'ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
  vault = createClient({ url: world.url, operatorSecret, storage: null });
});
afterAll(() => world.stop());

/** Runs an example as it stands, with what it takes from the page around it; answers the named values. */
function run(
  heading: string,
  given: object = {},
  names: readonly string[] = [],
  at = 0,
): Promise<Record<string, unknown>> {
  const code = examples.get(heading)?.[at];
  if (code === undefined) throw new Error(`docs/client.md has no example ${at} under ${heading}`);
  const body = code.replaceAll('https://vault.example.com', world.url).replace(/^import .*\n/m, '');
  const scope = { createClient, VaultClientError, vault, ...given };
  const source = `return (async () => { ${body}\nreturn { ${names.join(', ')} }; })();`;
  const made = new Function(...Object.keys(scope), source) as (
    ...values: unknown[]
  ) => Promise<Record<string, unknown>>;
  return on(device, () => made(...Object.values(scope)));
}

describe('the examples of docs/client.md', () => {
  test('createClient', async () => {
    const names = ['chain', 'rpId', 'relays'];
    expect(await run('createClient', {}, names)).toEqual({ chain: 'Base Sepolia', rpId: 'localhost', relays: true });
  });

  test('register, then signIn', async () => {
    const steps: string[] = [];
    const page = { showCodeForm: (to: string) => world.t.codeFor(to), showStep: (step: string) => steps.push(step) };
    const welcome = (did: string) => steps.push(did);
    const made = await run('register', { ...page, welcome }, ['person', 'proven']);
    expect([made['proven'], steps.at(-1)]).toEqual([true, 'confirmed']);
    const { did } = made['person'] as { did: string };
    expect(await run('signIn', { challenge: 'of my server' }, ['did', 'proven'])).toEqual({ did, proven: true });
  });

  test('verifyPayment, on a server', async () => {
    const { rpc, url: rpcUrl, mine } = world.chain;
    const order = orderOf({ origin: 'https://shop.example.com' });
    const receipt = await payOrder(rpc, await createPayer(rpc, 2), order);
    const given: string[] = [];
    const handOver = (id: string) => given.push(id);
    await mine(100);
    await run('pay and verifyPayment', { order, receipt, rpcUrl, handOver }, [], 1);
    expect(given).toEqual([order.id]);
  });

  test('credential', async () => {
    const url = originOf(world.t);
    const page = {
      vault: createClient({ url, storage: null }),
      showCodeForm: () => world.t.codeFor('ada@example.com'),
    };
    const location = { origin: 'https://shop.example' };
    const { presentation } = await run('credential', { ...page, location, nonce: 'n-1' }, ['presentation']);
    const { payload, kb } = await sdJwt(url).verify(String(presentation), { keyBindingNonce: 'n-1' });
    expect([payload, kb?.payload]).toMatchObject([{ email_domain: 'example.com' }, { aud: location.origin }]);
  });

  test('events', async () => {
    const { token } = await vault.call('POST /v1/console/token', { app: 'default' });
    const types: string[] = [];
    const handle = (_: number, type: string) => {
      types.push(type);
      if (types.length === 2) throw new Error('enough');
    };
    expect(await settled(run('events', { token, lastId: 0, handle }))).toThrow('enough');
    expect(types).toEqual(['registration.submitted', expect.stringMatching(/^registration\./)]);
  });

  test('every operation', async () => {
    const key = { pubKeyX: `0x${'11'.repeat(32)}`, pubKeyY: `0x${'22'.repeat(32)}` };
    const made = await run('Every operation', key, ['address', 'sent']);
    expect(made['address']).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(made['sent']).toMatchObject({ ok: true, channel: 'email' });
  });

  test('errors', async () => {
    const said: string[] = [];
    for (let i = 0; i < 5; i++) await run('Errors', { say: (text: string) => said.push(text) });
    expect(said.at(-1)).toMatch(/^Try again in \d+ seconds$/);
  });

  test('the page is the example app, and the last example, of a page, runs in the journeys', async () => {
    const [, page = ''] = /^```html\n([\s\S]*?)^```$/m.exec(TEXT) ?? [];
    expect(page).toBe(await Bun.file(new URL('../../../examples/apps/plain.html', import.meta.url)).text());
    expect([...examples.values()].flat()).toHaveLength(11);
    expect(examples.get('pay and verifyPayment')?.[0]).toContain('buy.onclick');
    expect(examples.get('Pay a 402, or an order by authorization')?.[0]).toContain("by: 'authorization'");
    expect(examples.get('approve and verifyApproval')?.[0]).toContain('vault.approve({ id, text');
  });
});
