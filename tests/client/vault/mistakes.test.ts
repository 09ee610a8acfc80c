import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  createClient,
  type PayOrder,
  type RegisterOptions,
  type VaultClient,
  VaultClientError,
} from '../../../client/vault/index.ts';
import { faultOf, newPerson, notAsked } from '../../support/client-person.ts';
import { broken, type ClientWorld, faultyFetch, on, startClientWorld } from '../../support/client-world.ts';
import { CREDENTIALS } from '../../support/hostile/device.ts';

// What somebody writes wrong in their first hour with the client. Each is answered before a code is sent and before a
// passkey is made, by words that say what to change.

let world: ClientWorld;
beforeAll(async () => {
  world = await startClientWorld({ APPS: 'tea' });
});
afterAll(() => world.stop());

const create = { ...CREDENTIALS };
let undo: (() => void)[] = [];
afterEach(() => {
  Object.assign(CREDENTIALS, create);
  for (const act of undo) act();
  undo = [];
});

/** The page's address, as the browser has it. */
function openAt(url: string) {
  const { hostname, host, origin, protocol, pathname } = new URL(url);
  const location = { hostname, host, origin, protocol, pathname };
  for (const [name, value] of Object.entries({ location, top: { location } })) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true });
    undo.push(() =>
      before ? Object.defineProperty(globalThis, name, before) : void Reflect.deleteProperty(globalThis, name),
    );
  }
}

const typeErrorOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: unknown) => (error instanceof TypeError ? error.message : error),
  );

describe('createClient', () => {
  test.each([
    [undefined, 'undefined'],
    ['', '""'],
    ['localhost:8787', '"localhost:8787"'],
    ['ftp://vault.example.com', '"ftp://vault.example.com"'],
    ['http://', '"http://"'],
  ])('with the url %p says so at once', (url, shown) => {
    const message = `createClient: url is ${shown}; expected the vault's origin, as in https://vault.example.com`;
    expect(() => createClient({ url: url as string })).toThrow(new TypeError(message));
  });

  test('with a wrong port names the URL that does not answer', async () => {
    const line = faultyFetch();
    line.trouble = broken;
    const vault = createClient({ url: 'http://localhost:8788/x', storage: null, fetch: line.fetch });
    const error = await faultOf(vault.verify.check({ identifier: 'a@example.com', channel: 'email', code: '1' }));
    expect(error).toMatchObject({ error: 'unreachable', hint: 'No answer from http://localhost:8788. Try again.' });
    line.trouble = async () => new Response('<h1>Another server</h1>');
    expect(await faultOf(vault.status())).toMatchObject({
      error: 'unexpected_answer',
      hint: 'No vault answers at http://localhost:8788.',
    });
  });

  test('with an app that the vault does not know warns once, and goes on', async () => {
    const said: unknown[] = [];
    const { warn } = console;
    console.warn = (text: unknown) => said.push(text);
    undo.push(() => {
      console.warn = warn;
    });
    const known = newPerson(world).page({ app: 'tea' });
    expect((await known.status()).chainId).toBe(84532);
    expect(said).toEqual([]);
    const unknown = newPerson(world).page({ app: 'nope' });
    for (let i = 0; i < 2; i++) expect((await unknown.status()).chainId).toBe(84532);
    expect(said).toEqual([`vault: ${world.url} does not know the app "nope" (APPS): its events belong to "default"`]);
  });
});

describe('register', () => {
  const email = 'mistaken@example.com';
  const askCode = notAsked;
  test.each([
    ['without askCode', { email }, 'register: askCode is undefined; expected a function'],
    ['with a text for askCode', { phone: '+14155550100', askCode: '1' }, /^register: askCode is "1"; expected/],
    ['without anybody', { askCode }, 'register: expected one of email, phone and handle'],
    ['with an email that is undefined', { email: undefined, askCode }, /^register: expected one of/],
    ['with two addresses', { email, phone: '+14155550100', askCode }, /^register: expected one of/],
    ['with nothing at all', undefined, /^register: expected one of/],
  ])('%s is a TypeError, before anything is asked or made', async (_, options, message) => {
    const one = newPerson(world);
    const asked = on(one.device, () => one.page().register(options as unknown as RegisterOptions));
    expect(await typeErrorOf(asked)).toMatch(message);
    expect([one.line.asked, one.device.keyring.passkeys.size]).toEqual([[], 0]);
  });

  test.each([[''], [' '], [null]])('with the address %p, which a person left out, is cancelled', async (left) => {
    const one = newPerson(world);
    const asked = one.page().register({ email: left as string, askCode });
    expect(await faultOf(asked)).toMatchObject({ error: 'cancelled' });
    expect(one.line.asked).toEqual([]);
  });

  test.each([
    ['Not A Handle!', 'Invalid alias', 'Expected 1 to 64 of a-z, 0-9, dot, underscore and hyphen'],
    ['root', 'identifier_reserved', ''],
  ])('with the handle %p makes no passkey', async (handle, word, hint) => {
    const one = newPerson(world);
    const asked = on(one.device, () => one.page().register({ handle }));
    const error = await faultOf(asked);
    expect([error.error, error.hint ?? '']).toEqual([word, expect.stringContaining(hint)]);
    expect(one.device.keyring.passkeys.size).toBe(0);
    expect(one.page().pending()).toBeUndefined();
  });

  test.each([
    ['http://127.0.0.1:3000/', '127.0.0.1:3000'],
    ['https://tea.example/shop', 'tea.example'],
    ['https://notlocalhost/', 'notlocalhost'],
    ['file:///home/ada/index.html', 'file:'],
  ])('from a page at %s says where its passkeys belong, before a code is sent', async (url, here) => {
    openAt(url);
    const one = newPerson(world);
    const hint = `This page is at ${here}, but the vault's passkeys are for localhost: open it there. See RP_IDS and RELATED_ORIGINS.`;
    expect(await faultOf(one.register())).toMatchObject({ error: 'rp_id_refused', hint });
    expect(await faultOf(on(one.device, () => one.page().signIn()))).toMatchObject({ error: 'rp_id_refused', hint });
    expect([world.t.mailsTo(one.email), one.device.keyring.passkeys.size]).toEqual([[], 0]);
  });

  test.each([
    ['below it', 'https://shop.localhost/', undefined],
    ['that the vault names', 'https://tea.example/', ['https://tea.example']],
  ])('from a page %s goes on', async (_, url, origins) => {
    openAt(url);
    const one = newPerson(world);
    one.line.trouble = async (request, pass) =>
      origins && request.url.endsWith('/.well-known/webauthn') ? Response.json({ origins }) : pass();
    const gaveUp = await faultOf(one.register({ askCode: () => null }));
    expect([gaveUp.error, world.t.mailsTo(one.email).length]).toEqual(['cancelled', 1]);
  });

  test('asks no vault where its page belongs that it cannot reach', async () => {
    openAt('https://tea.example/');
    const one = newPerson(world);
    one.line.trouble = async (request, pass) => (request.url.endsWith('/.well-known/webauthn') ? broken() : pass());
    expect(await faultOf(one.register())).toMatchObject({ error: 'unreachable' });
  });
});

describe('a passkey that is refused', () => {
  const refuse = () => Promise.reject(new DOMException('no', 'NotAllowedError'));

  test.each([
    ['when it is made', 'create', 'The person refused or waited too long. Ask again.'],
    ['when it signs', 'get', /lost the passkey\. Ask again, or with restart if it is lost\.$/],
  ] as const)('at a registration %s', async (_, name, hint) => {
    const one = newPerson(world);
    Object.assign(CREDENTIALS, { [name]: refuse });
    const error = await faultOf(one.register());
    expect([error.error, error.hint]).toEqual(['passkey_refused', expect.stringMatching(hint)]);
  });

  test('at a sign-in', async () => {
    const one = newPerson(world);
    Object.assign(CREDENTIALS, { get: refuse });
    const error = await faultOf(on(one.device, () => one.page().signIn()));
    expect(error.error).toBe('passkey_refused');
    expect(error.hint).toEndWith('or has no passkey of this vault here. Ask again, or let them register.');
  });
});

describe('pay', () => {
  const order = { id: 'tea-1', to: `0x${'a1'.repeat(20)}`, amount: '1250000', token: 'native' };
  const total = { currency: 'USD', value: '1.25' };
  let vault: VaultClient;
  let opened = 0;
  beforeEach(() => {
    openAt('http://localhost:3000/');
    vault = createClient({ url: world.url, storage: null });
    opened = 0;
    Object.defineProperty(globalThis, 'window', { value: { open: () => void opened++ }, configurable: true });
    undo.push(() => void Reflect.deleteProperty(globalThis, 'window'));
  });

  test.each([
    ['nothing', undefined, "order.id is missing; expected the order's id, a text"],
    ['an empty order', {}, "order.id is missing; expected the order's id, a text"],
    ['no total', { ...order }, 'order.total is missing; expected { currency: "USD", value: "1.25" }'],
    ['a number in its total', { ...order, total: { currency: 'USD', value: 1.25 } }, /^order\.total is the object /],
    [
      'the name of a token',
      { ...order, total, token: 'USDC' },
      'order.token is "USDC"; expected "native" or the address of a token',
    ],
    [
      'a number as amount',
      { ...order, total, amount: 1.25 },
      /^order\.amount is the number 1\.25; expected a decimal string/,
    ],
    [
      'a host as payee',
      { ...order, total, to: 'tea.example' },
      /^order\.to is "tea\.example"; expected the payee's address/,
    ],
  ])('with %s is a TypeError, and opens no window', async (_, given, message) => {
    expect(await typeErrorOf(vault.pay(given as unknown as PayOrder))).toMatch(message);
    expect(opened).toBe(0);
  });

  test('with a whole order opens one', async () => {
    expect(await faultOf(vault.pay({ ...order, total }, { via: 'popup' }))).toMatchObject({ error: 'payment_blocked' });
    expect(opened).toBe(1);
  });
});

test('verifyPayment without a receipt says what is missing', async () => {
  const vault = createClient({ url: world.url, storage: null });
  const order = {
    origin: 'https://tea.example',
    id: 'tea-1',
    to: `0x${'a1'.repeat(20)}`,
    amount: '5',
    token: 'native',
  };
  const error = await vault.verifyPayment(undefined as never, { ...order, chainId: 84532 }).catch((cause) => cause);
  expect(error).toBeInstanceOf(VaultClientError);
  expect((error as VaultClientError).hint).toBe('Missing or empty: userOpHash.');
});
