import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { Hex } from 'ox';
import { findAccounts } from '../../../assets/wallet/find.ts';
import { keysOf } from '../../../client/wallet/assertion-keys.ts';
import { fromBase64url, toBase64url } from '../../../client/wallet/bytes.ts';
import { rawSignature } from '../../../client/wallet/der.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';

const CREDENTIAL = toBase64url(new Uint8Array(20).fill(7));
const CONFIG = {
  ...{ rpId: 'localhost', rpName: 'Vault', origin: 'http://localhost', chainId: 84532, chain: 'Test' },
  ...{ entryPoint: null, usdc: null, feeMax: '0', explorer: null, factory: null, factory2: null },
} as const;

/** What the vault answers to a look-up of a key. */
type Vault = (key: string) => object | undefined;

const real = { fetch: globalThis.fetch, credentials: Object.getOwnPropertyDescriptor(navigator, 'credentials') };
let [passkey, prompts, asked] = [createPasskey(), 0, [] as string[][]];
/** The assertions that the page was given, as the passkey made them. */
let made: ReturnType<typeof passkey.assert>[] = [];
let vault: Vault = () => undefined;
/** Whose accounts the node makes up, by x. */
let madeUp: (x: string) => boolean = () => false;
/** The keys of which the page asked where their accounts are, by these addresses. */
const keysAt = new Map<string, { readonly pubKeyX: string; readonly pubKeyY: string }>();

const bytes = (text: string) => fromBase64url(text).buffer as ArrayBuffer;
const signedOf = ({ authenticatorData, clientDataJSON, signature }: ReturnType<typeof passkey.assert>) => ({
  ...{ authenticatorData, signature },
  clientDataHash: createHash('sha256').update(fromBase64url(clientDataJSON)).digest('base64url'),
});
const keyOf = ({ key }: typeof passkey) => Hex.fromBytes(key.x).toLowerCase();
/** Where a key's account is. */
const addressOf = (x: string) => `0x${createHash('sha256').update(x).digest('hex').slice(0, 40)}`;

beforeEach(() => {
  [passkey, prompts, asked, made, madeUp] = [createPasskey(), 0, [], [], () => false];
  const get = async ({ publicKey }: { publicKey: PublicKeyCredentialRequestOptions }) => {
    prompts++;
    asked.push((publicKey.allowCredentials ?? []).map(({ id }) => toBase64url(new Uint8Array(id as ArrayBuffer))));
    const assertion = passkey.assert(new Uint8Array(publicKey.challenge as ArrayBuffer));
    made.push(assertion);
    const { authenticatorData, clientDataJSON, signature } = assertion;
    const response = {
      authenticatorData: bytes(authenticatorData),
      clientDataJSON: bytes(clientDataJSON),
      signature: bytes(signature),
      userHandle: null,
    };
    return { rawId: bytes(CREDENTIAL), response };
  };
  Object.defineProperty(navigator, 'credentials', { configurable: true, value: { get } });
  const answer = (path: string) => {
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    const x = (searchParams.get('pubKeyX') ?? '').toLowerCase();
    if (pathname === '/api/accounts/predict') {
      keysAt.set(addressOf(x), { pubKeyX: x, pubKeyY: searchParams.get('pubKeyY') ?? '' });
      return { address: addressOf(x) };
    }
    if (pathname === '/api/accounts/state') {
      const key = keysAt.get((searchParams.get('account') ?? '').toLowerCase());
      const isMadeUp = key !== undefined && madeUp(key.pubKeyX);
      const none = { kind: null, keys: null, factory: null, pubKeyX: '0x0', pubKeyY: '0x0' };
      return isMadeUp ? { ...none, kind: 1, ...key } : none;
    }
    if (pathname === '/pay/token') return { symbol: 'ETH', decimals: 18, listed: true, balance: '0' };
    return pathname === '/api/dids/lookup' ? vault(x) : undefined;
  };
  const ask = async (path: unknown) => {
    const body = answer(String(path));
    return body ? Response.json(body) : Response.json({ error: 'not_found' }, { status: 404 });
  };
  Object.assign(globalThis, { fetch: ask });
});
afterEach(() => {
  Object.assign(globalThis, { fetch: real.fetch });
  if (real.credentials) Object.defineProperty(navigator, 'credentials', real.credentials);
  else Reflect.deleteProperty(navigator, 'credentials');
});

/** What is found, and how often the passkey was asked. */
async function find(answers: Vault, ids?: readonly string[]) {
  vault = answers;
  const again = async () => undefined;
  const [account, ...others] = await findAccounts({
    ...{ config: CONFIG, enclave: { rawSignature }, again },
    ...(ids ? { ids } : {}),
  });
  expect(others).toEqual([]);
  return {
    isOwn: account?.address === addressOf(keyOf(passkey)) && account.x?.toLowerCase() === keyOf(passkey),
    prompts,
  };
}
const record = (x: string, signed?: object) => ({
  smartAccount: null,
  proven: false,
  pubKeyX: x,
  ...(signed && { signed }),
});

test('nobody knows the passkey: it is asked twice', async () => {
  expect(await find(() => undefined)).toEqual({ isOwn: true, prompts: 2 });
});

test('what it signed to register is its second signature', async () => {
  const signed = signedOf(passkey.assert(new Uint8Array(32)));
  expect(await find((x) => (x === keyOf(passkey) ? record(x, signed) : undefined))).toEqual({
    isOwn: true,
    prompts: 1,
  });
});

test('whichever look-up it comes with: the signature decides, not the vault', async () => {
  const signed = signedOf(passkey.assert(new Uint8Array(32)));
  expect(await find((x) => (x === keyOf(passkey) ? undefined : record(x, signed)))).toEqual({
    isOwn: true,
    prompts: 1,
  });
});

test.each<[string, () => object]>([
  ["a stranger's signature", () => signedOf(createPasskey().assert(new Uint8Array(32)))],
  ['the very assertion that was made, which both keys can have made', () => signedOf(made[0] as (typeof made)[0])],
  ['text that is no base64url', () => ({ authenticatorData: '§', clientDataHash: '§', signature: '§' })],
  ['no signature', () => ({ ...signedOf(passkey.assert(new Uint8Array(32))), signature: 'AAAA' })],
  ['nothing of an object', () => ({})],
])('%s shows nothing: the passkey is asked twice', async (_, signed) => {
  expect(await find((x) => record(x, signed()))).toEqual({ isOwn: true, prompts: 2 });
});

test('a node that makes up an account of the other key is not believed where a signature says whose it is', async () => {
  const signed = signedOf(passkey.assert(new Uint8Array(32)));
  madeUp = (x) => x !== keyOf(passkey);
  expect(await find((x) => (x === keyOf(passkey) ? record(x, signed) : undefined))).toEqual({
    isOwn: true,
    prompts: 1,
  });
});

test('the assertion is of two keys, of which one is the passkey’s', async () => {
  await find(() => undefined);
  const [first] = made;
  if (!first) throw new Error('none was made');
  const { authenticatorData, clientDataJSON, signature } = first;
  const assertion = {
    ...{ credentialId: CREDENTIAL, userHandle: undefined },
    authenticatorData: fromBase64url(authenticatorData),
    clientDataJSON: fromBase64url(clientDataJSON),
    signature: fromBase64url(signature),
  };
  const keys = await keysOf(assertion, { rawSignature });
  expect([keys.length, keys.filter(({ x }) => x.toLowerCase() === keyOf(passkey)).length]).toEqual([2, 1]);
});

test('one passkey alone is asked for where it is named', async () => {
  await find(() => undefined, [CREDENTIAL]);
  expect(asked).toEqual([[CREDENTIAL], [CREDENTIAL]]);
  await find(() => undefined);
  expect(asked[2]).toEqual([]);
});
