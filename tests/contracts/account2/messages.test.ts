// Messages that a second account signs (ERC-1271), checked by viem as it is: nested by ERC-7739, and before the account
// exists by ERC-6492.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Hex, Secp256k1 } from 'ox';
import { createPublicClient, hashMessage, http, type PublicClient, serializeErc6492Signature } from 'viem';
import * as erc7739 from 'viem/experimental/erc7739';
import {
  addressSigner,
  domainOf,
  passkeySigner,
  type Signer,
  signDigest,
} from '../../../scripts/dev-stack/account2.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import type { SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { createdAccount2, fundedAccount2, NODES, own, read, run } from '../../support/account2.ts';

const CHAIN_ID = 84532;
const MAGIC = '0x1626ba7e';
const INVALID = '0xffffffff';
const MESSAGE = 'Sign in to example.org';
const MAIL = {
  domain: { name: 'Mail', version: '1', chainId: CHAIN_ID, verifyingContract: `0x${'a1'.repeat(20)}` },
  types: { Mail: [{ name: 'text', type: 'string' }] },
  primaryType: 'Mail',
  message: { text: 'hello' },
} as const;

describe.each(Object.entries(NODES))('on a chain %s', (_, options) => {
  let chain: Chain;
  let client: PublicClient;
  let account: SmartAccount;
  beforeAll(async () => {
    chain = await startChain(options);
    client = createPublicClient({ transport: http(chain.url) });
    account = await createdAccount2(chain.rpc);
  });
  afterAll(() => chain.stop());

  test('a text and typed data signed by a passkey', async () => {
    const signer = passkeySigner(account.passkey);
    expect(await isText(account, MESSAGE, signText(account, signer))).toBe(true);
    expect(await isText(account, 'Another text', signText(account, signer))).toBe(false);
    expect(await isMail(account, signMail(account, signer))).toBe(true);
    expect(await isMail(account, signMail(account, passkeySigner(createPasskey())))).toBe(false);
  });

  test('a text and typed data signed by an address', async () => {
    const signer = addressSigner(Secp256k1.randomPrivateKey(), 1);
    expect(await isText(account, MESSAGE, signText(account, signer))).toBe(false);
    await run(chain.rpc, account, [own(account, 'addKey', signer.x, 0n, Hex.padRight('0x', 32))]);
    expect(await isText(account, MESSAGE, signText(account, signer))).toBe(true);
    expect(await isMail(account, signMail(account, signer))).toBe(true);
    const high = withHighS(signText(account, signer));
    expect(await isText(account, MESSAGE, high)).toBe(false);
  });

  test('before the account exists (ERC-6492)', async () => {
    const planned = await fundedAccount2(chain.rpc);
    const { factory: address, factoryData: data } = planned;
    const wrap = (signature: Hex.Hex) => serializeErc6492Signature({ address, data, signature });
    const signer = passkeySigner(planned.passkey);
    expect(await isText(planned, MESSAGE, wrap(signText(planned, signer)))).toBe(true);
    expect(await isMail(planned, wrap(signMail(planned, signer)))).toBe(true);
    expect(await isText(planned, 'Another text', wrap(signText(planned, signer)))).toBe(false);
    expect(await isText(planned, MESSAGE, wrap(signText(planned, passkeySigner(createPasskey()))))).toBe(false);
    expect(await isText(account, MESSAGE, wrap(signText(planned, signer)))).toBe(false);
  });

  test('not for another account of the same passkey, another chain, or as the text’s plain hash', async () => {
    const signer = passkeySigner(account.passkey);
    const twin = await fundedAccount2(chain.rpc, '0.7', account.passkey, 1n);
    await run(chain.rpc, twin, []);
    expect(await isText(twin, MESSAGE, signText(twin, signer))).toBe(true);
    expect(await isText(twin, MESSAGE, signText(account, signer))).toBe(false);
    expect(await isText(account, MESSAGE, signText(account, signer, 8453))).toBe(false);
    expect(await isText(account, MESSAGE, signDigest(signer, hashMessage(MESSAGE)))).toBe(false);
  });

  test('says that it nests as ERC-7739 does, and refuses what is no signature', async () => {
    const detection = `0x${'7739'.repeat(16)}`;
    expect(await read(chain.rpc, account, 'isValidSignature', detection, '0x')).toBe('0x77390001');
    for (const signature of ['0x', '0x00', '0xff', `0x00${'00'.repeat(65)}`, `0x01${'00'.repeat(300)}`]) {
      expect(await read(chain.rpc, account, 'isValidSignature', hashMessage(MESSAGE), signature)).toBe(INVALID);
    }
    const valid = signText(account, passkeySigner(account.passkey));
    expect(await read(chain.rpc, account, 'isValidSignature', hashMessage(MESSAGE), valid)).toBe(MAGIC);
  });

  test('its EIP-712 domain is published', async () => {
    const { domain } = await client.getEip712Domain({ address: account.address });
    expect(domain).toMatchObject({ ...domainOf(account.address, CHAIN_ID), verifyingContract: account.address });
  });

  function isText({ address }: SmartAccount, message: string, signature: Hex.Hex): Promise<boolean> {
    return client.verifyMessage({ address, message, signature });
  }

  function isMail({ address }: SmartAccount, signature: Hex.Hex): Promise<boolean> {
    return client.verifyTypedData({ address, signature, ...MAIL });
  }
});

function signText({ address }: SmartAccount, signer: Signer, chainId = CHAIN_ID): Hex.Hex {
  const verifierDomain = domainOf(address, chainId);
  return signDigest(signer, erc7739.hashMessage({ message: MESSAGE, verifierDomain }));
}

function signMail({ address }: SmartAccount, signer: Signer): Hex.Hex {
  const verifierDomain = { ...domainOf(address, CHAIN_ID), salt: Hex.padLeft('0x', 32) };
  const signature = signDigest(signer, erc7739.hashTypedData({ ...MAIL, verifierDomain }));
  return erc7739.wrapTypedDataSignature({ ...MAIL, signature });
}

/** The other form of an address's signature, behind its index. */
function withHighS(signature: Hex.Hex): Hex.Hex {
  const [head, s, v] = [
    Hex.slice(signature, 0, 33),
    Hex.slice(signature, 33, 65),
    Hex.toNumber(Hex.slice(signature, 65)),
  ];
  return Hex.concat(head, Hex.fromNumber(SECP256K1_ORDER - Hex.toBigInt(s), { size: 32 }), v === 27 ? '0x1c' : '0x1b');
}

const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
