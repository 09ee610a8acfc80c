// Messages of accounts of both kinds, checked by viem as it is: ERC-1271, ERC-6492, EIP-712, Sign-In with Ethereum.
// The signatures are made with the client package alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Base64, Hex, Secp256k1, TypedData } from 'ox';
import {
  createPublicClient,
  hashMessage,
  hashTypedData,
  http,
  type PublicClient,
  type TypedDataDefinition,
} from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { loadEnclave, type MessageAccount, type TypedMessage } from '../../client/enclave.ts';
import { addressSigner } from '../../scripts/dev-stack/account2.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { createPasskey, type Passkey } from '../../scripts/dev-stack/passkey.ts';
import { openAccount, type SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { NODES, own, run } from '../support/account2.ts';

const CHAIN_ID = 84532;
const MESSAGE = 'Sign in to example.org with ünicode';
const DOMAIN = { name: 'Mail', version: '1', chainId: CHAIN_ID, verifyingContract: `0x${'a1'.repeat(20)}` } as const;
const PERSON = [{ name: 'name', type: 'string' }];
/** Types that refer to one that is sorted behind them, to one before them, and to none. */
const TYPED = {
  'a type alone': {
    domain: DOMAIN,
    types: { Mail: [{ name: 'text', type: 'string' }] },
    primaryType: 'Mail',
    message: { text: 'hello' },
  },
  'a type that refers to a later one': {
    domain: { name: 'Mail' },
    types: { Mail: [{ name: 'to', type: 'Person[]' }], Person: PERSON },
    primaryType: 'Mail',
    message: { to: [{ name: 'Bob' }, { name: 'Carol' }] },
  },
  'a type that refers to an earlier one': {
    domain: DOMAIN,
    types: { Mail: [{ name: 'to', type: 'Friend' }], Friend: PERSON },
    primaryType: 'Mail',
    message: { to: { name: 'Bob' } },
  },
} as const satisfies Record<string, TypedDataDefinition>;
type Typed = TypedDataDefinition;

const enclave = await loadEnclave(readFileSync(join(import.meta.dir, '../../assets/enclave.wasm')));
const bytes = (hex: string) => Hex.toBytes(hex as Hex.Hex);
const hex = (data: Uint8Array) => Hex.fromBytes(data);

const chains = new Map<string, Chain>();
beforeAll(async () => {
  for (const [name, options] of Object.entries(NODES)) chains.set(name, await startChain(options));
});
afterAll(() => Promise.all(Array.from(chains.values(), ({ stop }) => stop())));

const CASES = Object.keys(NODES).flatMap((node) =>
  ([1, 2] as const).flatMap((kind) =>
    (['0.7', '0.8', '0.9'] as const).map((version) => [kind, version, node] as const),
  ),
);

describe.each(CASES)('an account of kind %d under EntryPoint %s, on a chain %s', (kind, version, node) => {
  let chain: Chain;
  let client: PublicClient;
  let account: SmartAccount;
  let planned: SmartAccount;
  beforeAll(async () => {
    chain = chains.get(node) as Chain;
    client = createPublicClient({ transport: http(chain.url) });
    [account, planned] = [await open(), await open()];
    await create(account);
  });

  test('vouches for a text, a hash and a sign-in, and for no other', async () => {
    const signature = signHash(account, enclave.messageHash(MESSAGE));
    const { address } = account;
    expect(await client.verifyMessage({ address, message: MESSAGE, signature })).toBe(true);
    expect(await client.verifyMessage({ address, message: `${MESSAGE}.`, signature })).toBe(false);
    const raw = bytes('0x00ff80');
    const ofBytes = signHash(account, enclave.messageHash(raw));
    expect(await client.verifyMessage({ address, message: { raw }, signature: ofBytes })).toBe(true);
    const hash = Hex.random(32);
    expect(await client.verifyHash({ address, hash, signature: signHash(account, bytes(hash)) })).toBe(true);
    expect(await client.verifyHash({ address, hash, signature })).toBe(false);
    const message = createSiweMessage({
      ...{ address, chainId: CHAIN_ID, domain: 'example.org', uri: 'https://example.org', version: '1' },
      nonce: 'a1b2c3d4e5',
    });
    const signedIn = signHash(account, enclave.messageHash(message));
    expect(await client.verifySiweMessage({ message, signature: signedIn, nonce: 'a1b2c3d4e5' })).toBe(true);
    expect(await client.verifySiweMessage({ message, signature: signedIn, nonce: 'another1234' })).toBe(false);
  });

  test.each(Object.entries(TYPED))('vouches for typed data: %s', async (_, typed) => {
    for (const one of [account, planned]) {
      const signature = signTyped(one, typed);
      expect(await isTyped(one, typed, signature)).toBe(true);
      expect(await isTyped(one, { ...typed, domain: { ...typed.domain, version: '2' } } as Typed, signature)).toBe(
        false,
      );
    }
    const { address } = account;
    const hash = hashTypedData(typed as Typed);
    expect(await client.verifyHash({ address, hash, signature: signTyped(account, typed) })).toBe(true);
  });

  test('vouches before it exists (ERC-6492), by a wrapped signature or by a creation that the verifier knows', async () => {
    const { address, factory, factoryData } = planned;
    const signature = signHash(planned, enclave.messageHash(MESSAGE));
    expect(await client.verifyMessage({ address, message: MESSAGE, signature })).toBe(true);
    const bare = signAs(planned, enclave.hashDigest(messageOf(planned), enclave.messageHash(MESSAGE)));
    expect(await client.verifyMessage({ address, message: MESSAGE, signature: bare })).toBe(false);
    const call = { factory, factoryData };
    expect(await client.verifyMessage({ address, message: MESSAGE, signature: bare, ...call })).toBe(true);
    expect(await client.verifyMessage({ address, message: 'Another', signature })).toBe(false);
    expect(await client.verifyMessage({ address: account.address, message: MESSAGE, signature })).toBe(false);
    expect(await client.getCode({ address })).toBeUndefined();
    // A wrapped signature stays good when the account is there.
    const later = await open();
    const early = signHash(later, enclave.messageHash(MESSAGE));
    await create(later);
    expect(await client.verifyMessage({ address: later.address, message: MESSAGE, signature: early })).toBe(true);
  });

  test('of another passkey, another account of the same one, another chain or kind: refused', async () => {
    const hash = enclave.messageHash(MESSAGE);
    const twin = await open(account.passkey, 1n);
    await create(twin);
    const { address } = account;
    const isValid = (of: SmartAccount, signature: Hex.Hex) =>
      client.verifyMessage({ address: of.address, message: MESSAGE, signature });
    expect(await isValid(twin, signHash(twin, hash))).toBe(true);
    expect(await isValid(account, signHash(twin, hash))).toBe(false);
    expect(await isValid(twin, signHash(account, hash))).toBe(false);
    const digest = (part: Partial<MessageAccount>) => enclave.hashDigest({ ...messageOf(account), ...part }, hash);
    for (const wrong of [digest({ chainId: 8453 }), digest({ kind: kind === 1 ? 2 : 1 }), hash]) {
      expect(await client.verifyMessage({ address, message: MESSAGE, signature: signAs(account, wrong) })).toBe(false);
    }
    const thief = { ...account, passkey: createPasskey() };
    expect(await isValid(account, signHash(thief, hash))).toBe(false);
    expect(await isTyped(account, TYPED['a type alone'], signTyped(thief, TYPED['a type alone']))).toBe(false);
    const unborn = { ...planned, passkey: createPasskey() };
    expect(await isValid(planned, signHash(unborn, hash))).toBe(false);
  });

  if (kind === 2) {
    test('an address as its key signs the same digests', async () => {
      const two = await open();
      await chain.rpc('anvil_setBalance', [two.address, Hex.fromNumber(10n ** 18n)]);
      const privateKey = Secp256k1.randomPrivateKey();
      const signer = addressSigner(privateKey, 1);
      await run(chain.rpc, two, [own(two, 'addKey', signer.x, 0n, Hex.padRight('0x', 32))]);
      for (const typed of Object.values(TYPED)) {
        const parts = partsOf(typed);
        const signed = bytes(signer.sign(hex(enclave.typedDataDigest(messageOf(two), parts))));
        const signature = hex(enclave.accountSignature({ kind }, signed, { index: 1, typed: parts }));
        expect(await isTyped(two, typed, signature)).toBe(true);
        expect(await isTyped(account, typed, signature)).toBe(false);
      }
    });
  }

  async function open(passkey: Passkey = createPasskey(), salt = 0n): Promise<SmartAccount> {
    const contracts = await deployContracts(chain.rpc, { entryPoint: version });
    expect(contracts.entryPoint).toBe(ENTRY_POINTS[version]);
    return openAccount(chain.rpc, contracts, passkey, salt, kind);
  }

  async function create({ factory, factoryData }: SmartAccount): Promise<void> {
    await sendTransaction(chain.rpc, devAccount('alice').privateKey, { to: factory, data: factoryData });
  }

  const messageOf = ({ address }: SmartAccount): MessageAccount => ({ kind, address, chainId: CHAIN_ID });

  /** A signature of a digest by the account's passkey, as the account itself takes it. */
  function signAs({ passkey }: SmartAccount, digest: Uint8Array, typed?: TypedMessage): Hex.Hex {
    const assertion = passkey.assert(digest);
    const [authenticator, client, der] = [assertion.authenticatorData, assertion.clientDataJSON, assertion.signature];
    const raw = enclave.rawSignature(Base64.toBytes(der));
    const packed = enclave.packAssertion(Base64.toBytes(authenticator), Base64.toBytes(client), raw);
    return hex(enclave.accountSignature({ kind }, packed, typed ? { typed } : {}));
  }

  function signHash(of: SmartAccount, hash: Uint8Array): Hex.Hex {
    return wrapped(of, signAs(of, enclave.hashDigest(messageOf(of), hash)));
  }

  function signTyped(of: SmartAccount, typed: Typed): Hex.Hex {
    const parts = partsOf(typed);
    return wrapped(of, signAs(of, enclave.typedDataDigest(messageOf(of), parts), parts));
  }

  /** As an app sends it that does not know whether the account exists. */
  function wrapped({ factory, factoryData }: SmartAccount, signature: Hex.Hex): Hex.Hex {
    return hex(enclave.undeployedSignature(factory, factoryData, bytes(signature)));
  }

  function isTyped({ address }: SmartAccount, typed: Typed, signature: Hex.Hex): Promise<boolean> {
    return client.verifyTypedData({ address, signature, ...typed });
  }
});

test('the hash of a text is that of wallets', () => {
  for (const text of ['', MESSAGE, 'x'.repeat(9_000)]) expect(hex(enclave.messageHash(text))).toBe(hashMessage(text));
});

test('what is no list of types is refused', () => {
  const parts = partsOf(TYPED['a type alone']);
  const account = { kind: 2, address: `0x${'11'.repeat(20)}`, chainId: 1 } as const;
  for (const type of ['', 'Mail', 'Mail(string text', '(string text)', 'Mail(string text))', 'Mail(string text)x']) {
    expect(() => enclave.typedDataDigest(account, { ...parts, type })).toThrow(TypeError);
  }
});

/** The parts of typed data, as ox computes them. */
function partsOf({ domain = {}, types, primaryType, message }: Typed): TypedMessage {
  const given = { types, primaryType } as never;
  return {
    domainSeparator: bytes(TypedData.domainSeparator(domain as never)),
    contents: bytes(TypedData.hashStruct({ ...(given as object), data: message } as never)),
    type: TypedData.encodeType(given),
  };
}
