import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { authorizationNonce } from '../../../client/payment-nonce.ts';
import type { TransferAnswer } from '../../../client/transfer-authorization.ts';
import { USDC_DOMAINS } from '../../../client/usdc.ts';
import { approve } from '../../../client/vault/approve.ts';
import { asked, type PaidRequest, signer } from '../../../client/vault/authorization.ts';
import { VaultClientError } from '../../../client/vault/error.ts';
import type { VaultInfo } from '../../../client/vault/vault-info.ts';
import { AUTHORIZATION_TYPES } from '../../support/authorizations.ts';
import { REQUIREMENT, TEA } from '../../support/paid-api.ts';

const USDC = USDC_DOMAINS[84532].address;
const BASE = { network: 'eip155:8453', asset: USDC_DOMAINS[8453].address };
const info = (chainId = 84532) => (async () => ({ status: { chainId } })) as unknown as VaultInfo;
const ACCOUNT = '0x00000000000000000000000000000000000A11cE';
const PERSON = { credentialId: 'Y3JlZGVudGlhbC1vZi1ib2I', account: ACCOUNT };
const ANSWER = {
  signature: '0x5160',
  authorization: { ...{ from: ACCOUNT, to: TEA.payTo, value: '1', validAfter: '0' }, validBefore: '9', nonce: '0x01' },
} as TransferAnswer;

// A page has an origin, which names its orders.
const before = Object.getOwnPropertyDescriptor(globalThis, 'location');
beforeAll(() => {
  Object.defineProperty(globalThis, 'location', { value: { origin: 'https://shop.example' }, configurable: true });
});
afterAll(() => {
  if (before) Object.defineProperty(globalThis, 'location', before);
  else Reflect.deleteProperty(globalThis, 'location');
});

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const required = (accepts: unknown, more: object = {}) =>
  new Response(null, { status: 402, headers: { 'payment-required': base64({ x402Version: 2, accepts, ...more }) } });
const { amount, ...rest } = REQUIREMENT;
const OLD = { ...rest, network: 'base-sepolia', maxAmountRequired: amount, resource: 'https://api.example/tea' };
const old = (accepts: unknown) => Response.json({ x402Version: 1, accepts }, { status: 402 });
const ask = (order: Parameters<typeof asked>[0], chainId?: number) => asked(order, info(chainId), { payer: PERSON });
const wordOf = (act: Promise<unknown>) =>
  act.then(
    () => 'none',
    (error: Error) => (error instanceof VaultClientError ? error.error : `${error.name}: ${error.message}`),
  );
/** Asserts that an answer between `sinceMs` and now ends in `seconds`, in whole seconds since 1970. */
function expectEndsIn(seconds: number, end: number, sinceMs: number): void {
  expect(end).toBeInteger();
  expect(end).toBeGreaterThanOrEqual(Math.floor(sinceMs / 1000) + Math.floor(seconds));
  expect(end).toBeLessThanOrEqual(Math.floor(Date.now() / 1000 + seconds));
}

interface Shown {
  readonly id: string;
  readonly label: string;
  readonly token: object;
  readonly authorization: Readonly<Record<string, string>>;
}

describe('a 402', () => {
  test('of version 2: the entry of USDC on the vault’s chain is shown, and answered with what asked for it', async () => {
    const resource = { url: 'https://api.example/tea', description: 'Zwei Tees für 1 €' };
    const others = [
      { ...REQUIREMENT, ...BASE },
      { ...REQUIREMENT, scheme: 'upto' },
      { ...REQUIREMENT, asset: ACCOUNT },
      { ...REQUIREMENT, extra: { ...REQUIREMENT.extra, assetTransferMethod: 'permit2' } },
      null,
    ];
    const extensions = { hint: 'kept' };
    const mine = { ...REQUIREMENT, asset: USDC.toLowerCase() };
    const start = Date.now();
    const { shown, answered } = await ask(required([...others, mine], { resource, extensions }));
    const { id, label, token, authorization } = shown as Shown;
    expect([label, token]).toEqual([resource.description, { chainId: 84532, address: USDC }]);
    expect(authorization).toMatchObject({ to: TEA.payTo, value: amount, nonce: id });
    const [after, end] = [authorization['validAfter'], authorization['validBefore']].map(Number) as [number, number];
    expect([end - after, id]).toEqual([900, expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
    expectEndsIn(300, end, start);
    const { headers } = (answered?.(ANSWER as never) ?? {}) as PaidRequest;
    expect(JSON.parse(Buffer.from(String(Object.values(headers)[0]), 'base64').toString())).toEqual({
      ...{ x402Version: 2, resource, accepted: mine, extensions },
      payload: { signature: '0x5160', authorization: ANSWER.authorization },
    });
    expect(Object.keys(headers)).toEqual(['PAYMENT-SIGNATURE']);
  });

  test('of version 1, in the body, which the page can still read', async () => {
    const response = old([{ ...OLD, network: 'base' }, OLD]);
    const { shown, answered } = await ask(response);
    expect(shown).toMatchObject({ label: OLD.resource, authorization: { to: TEA.payTo, value: amount } });
    expect(await response.json()).toMatchObject({ x402Version: 1 });
    const { headers } = (answered?.(ANSWER as never) ?? {}) as PaidRequest;
    expect(JSON.parse(Buffer.from(String(Object.values(headers)[0]), 'base64').toString())).toEqual({
      ...{ x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
      payload: { signature: '0x5160', authorization: ANSWER.authorization },
    });
    expect(Object.keys(headers)).toEqual(['X-PAYMENT']);
  });

  test('is answered in a popup alone: a link would leave the page that sends the request again', async () => {
    const link = approve('https://vault.example', ask(required([REQUIREMENT])), { via: 'link' });
    expect(await wordOf(link)).toBe('approval_blocked');
  });

  test('two answers to one 402 have nonces of their own, and end within the hour', async () => {
    const long = [{ ...REQUIREMENT, maxTimeoutSeconds: 999_999 }];
    const [one, other] = (await Promise.all([ask(required(long)), ask(required(long))])).map(
      ({ shown }) => (shown as Shown).authorization,
    );
    expect(one?.['nonce']).not.toBe(other?.['nonce'] ?? '');
    expect(Number(one?.['validBefore']) - Number(one?.['validAfter'])).toBe(4_200);
  });

  test.each<[string, () => Response]>([
    ['takes another chain alone', () => required([{ ...REQUIREMENT, ...BASE }])],
    ['has no entries', () => required(undefined)],
    ['is of a later version', () => required([REQUIREMENT], { x402Version: 3 })],
    ['is no base64', () => new Response(null, { status: 402, headers: { 'payment-required': '%%' } })],
    ['is no JSON', () => new Response(null, { status: 402, headers: { 'payment-required': 'eHg=' } })],
    ['says nothing', () => new Response(null, { status: 402 })],
    ['is longer than 64 KiB', () => old([OLD, { filling: 'x'.repeat(65_536) }])],
  ])('that %s is not offered', async (_, make) => {
    expect(await wordOf(ask(make()))).toBe('not_offered');
  });

  test('with entries that are nonsense offers the one that is not, and ends in whole seconds', async () => {
    const odd = { toString: 1, valueOf: 1 };
    const entries = [
      { ...REQUIREMENT, network: odd },
      { ...REQUIREMENT, asset: odd },
      { ...REQUIREMENT, network: 'constructor' },
      { ...REQUIREMENT, network: '__proto__' },
    ];
    const mustEnd = async (maxTimeoutSeconds: unknown, seconds: number) => {
      const start = Date.now();
      const { shown } = await ask(required([...entries, { ...REQUIREMENT, maxTimeoutSeconds }]));
      expectEndsIn(seconds, Number((shown as Shown).authorization['validBefore']), start);
    };
    await mustEnd(60.5, 60.5);
    for (const none of [odd, -1, 0, '60', true, null, [60]]) await mustEnd(none, 300);
  });

  test('is one: any other answer is a mistake of the page, and a chain without known USDC has none', async () => {
    expect(await wordOf(ask(new Response()))).toBe('TypeError: pay: the response has status 200; expected 402');
    expect(await wordOf(ask(required([REQUIREMENT]), 31337))).toBe('not_offered');
  });
});

describe('an order', () => {
  const ORDER = { id: 'order-7', to: TEA.payTo, token: USDC, amount: '1000' };
  test('has the nonce of its name, so that the token takes it once; a page and its id decide it', async () => {
    const { shown, answered } = await ask({ ...ORDER, label: 'Tea' });
    const nonce = await authorizationNonce({ origin: 'https://shop.example', id: 'order-7' });
    expect(shown).toMatchObject({
      id: 'order-7',
      label: 'Tea',
      authorization: { to: TEA.payTo, value: '1000', nonce },
    });
    // The page's answer is the result as it is, also by a link.
    expect(answered).toBeUndefined();
  });

  test('is of the amount that verifyPayment reads, however it is spelled', async () => {
    for (const spelled of ['1000', '0001000', 1000n])
      expect((await ask({ ...ORDER, amount: spelled as string })).shown).toMatchObject({
        authorization: { value: '1000' },
      });
  });

  test('ends when it says, within the hour', async () => {
    const start = Date.now();
    const at = Math.floor(start / 1000);
    const endOf = async (seconds?: number) => {
      const expires = seconds === undefined ? {} : { expires: new Date((at + seconds) * 1000).toISOString() };
      return Number(((await ask({ ...ORDER, ...expires })).shown as Shown).authorization['validBefore']);
    };
    expect(await endOf(120)).toBe(at + 120);
    expectEndsIn(600, await endOf(), start);
    expectEndsIn(3_600, await endOf(9_999), start);
  });

  test.each<[string, object]>([
    ['order.token is "native"', { token: 'native' }],
    ['order.token is "0x833589', { token: USDC_DOMAINS[8453].address }],
    ['order.chainId is the number 8453', { chainId: 8453 }],
    ['order.amount is "0"', { amount: '0' }],
    ['order.to is missing', { to: undefined }],
    ['order.id is missing', { id: undefined }],
    ['order.id is "order 7"', { id: 'order 7' }],
    ['order.expires is "soon"', { expires: 'soon' }],
  ])('with a fault is a TypeError: %s', async (words, more) => {
    expect(await wordOf(ask({ ...ORDER, ...more }))).toStartWith(`TypeError: ${words}`);
  });
});

describe('the signer', () => {
  const opened: object[] = [];
  const make = (person: object | undefined = PERSON, chainId?: number) =>
    signer('https://vault.example', info(chainId), { person: person as typeof PERSON }, async (_, request) => {
      opened.push((await request).shown);
      return ANSWER;
    });
  const { name, version } = USDC_DOMAINS[84532];
  const TYPED = {
    domain: { name, version, chainId: 84532, verifyingContract: USDC },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...{ from: ACCOUNT, to: TEA.payTo, value: 1250000n, validAfter: 0n, validBefore: 9n },
      nonce: `0x${'11'.repeat(32)}`,
    },
  };

  test('asks the page for an authorization of the account’s, whatever the types of its numbers', async () => {
    const { address, signTypedData } = await make({ ...PERSON, account: ACCOUNT.toLowerCase() });
    expect(address).toBe(ACCOUNT);
    const EIP712Domain = ['string name', 'string version', 'uint256 chainId', 'address verifyingContract'].map(
      (member) => {
        const [type, name] = member.split(' ');
        return { name, type };
      },
    );
    const types = { EIP712Domain, ...AUTHORIZATION_TYPES };
    for (const chainId of [84532, 84532n, '84532'])
      expect(await signTypedData({ ...TYPED, types, domain: { ...TYPED.domain, chainId } })).toBe('0x5160');
    expect(opened.splice(0)[2]).toMatchObject({
      ...{ form: 'transfer-authorization', token: { chainId: 84532, address: USDC } },
      authorization: { ...TYPED.message, value: '1250000', validAfter: '0', validBefore: '9' },
    });
  });

  test.each<[string, object]>([
    ['a permit', { primaryType: 'Permit' }],
    ['another type of that name', { types: { TransferWithAuthorization: [{ name: 'from', type: 'address' }] } }],
    ['no types', { types: undefined }],
    ['no message', { message: undefined }],
    ['no domain', { domain: undefined }],
    ['a domain with a salt', { domain: { ...TYPED.domain, salt: '0x00' } }],
    ['a domain without chain', { domain: { name, version, verifyingContract: USDC } }],
    ['another token', { domain: { ...TYPED.domain, verifyingContract: ACCOUNT } }],
    ['another chain', { domain: { ...TYPED.domain, chainId: 8453 } }],
    ['another name', { domain: { ...TYPED.domain, name: 'USD Coin' } }],
    ['another version', { domain: { ...TYPED.domain, version: '1' } }],
    ['a name in another case, which has another hash', { domain: { ...TYPED.domain, name: 'usdc' } }],
    [
      'one member that spells out the others',
      { domain: { chainId: `84532,name=USDC,verifyingContract=${USDC},version=2` } },
    ],
    ['a member in another case', { domain: { name, version, ChainId: 84532, verifyingContract: USDC } }],
    ['a type beside it', { types: { ...AUTHORIZATION_TYPES, Permit: AUTHORIZATION_TYPES.TransferWithAuthorization } }],
    [
      'a domain of another type',
      { types: { ...AUTHORIZATION_TYPES, EIP712Domain: [{ name: 'name', type: 'string' }] } },
    ],
    ['another payer', { message: { ...TYPED.message, from: TEA.payTo.replace('A11', 'B22') } }],
  ])('refuses %s before a window opens', async (_, more) => {
    const { signTypedData } = await make();
    expect(await wordOf(signTypedData({ ...TYPED, ...more } as typeof TYPED))).toBe('not_offered');
    expect(opened.splice(0)).toEqual([]);
  });

  test('is of somebody who is known, on a chain whose USDC is', async () => {
    expect(await wordOf(make({}))).toStartWith('TypeError: signer: no account is known');
    expect(
      await wordOf(signer('https://vault.example', info(), { person: undefined }, async () => ANSWER)),
    ).toStartWith('TypeError');
    expect(await wordOf(make(PERSON, 31337))).toBe('not_offered');
  });
});
