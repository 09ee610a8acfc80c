import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AbiEvent, AbiFunction, type Address, Hex, Secp256k1, Signature, TypedData } from 'ox';
import { USDC_DOMAINS, usdcDomainOf } from '../../../client/usdc.ts';
import { CHAINS } from '../../../lib/config/chain-settings.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { mintUsdc, placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import type { SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import {
  type Authorization,
  authorizationCall,
  authorizationDigest,
  settleAuthorization,
  signAuthorization,
} from '../../support/authorizations.ts';
import { createPayer, PAYEE } from '../../support/payers.ts';

const { rpc, stop } = await startChain();
afterAll(stop);
const alice = devAccount('alice');
const { privateKey: bob } = devAccount('bob');
beforeAll(async () => {
  await placeUsdc(rpc);
  await mintUsdc(rpc, alice.address, 100_000_000n);
});

const authorizationBy = (from: Address.Address, more: Partial<Authorization> = {}): Authorization => ({
  ...{ from, to: PAYEE, value: 1_250_000n, validAfter: 0n, validBefore: 2n ** 40n, nonce: Hex.random(32) },
  ...more,
});
const signed = (authorization: Authorization) =>
  Secp256k1.sign({ payload: authorizationDigest(authorization), privateKey: alice.privateKey });

async function read<T>(signature: string, ...args: readonly unknown[]): Promise<T> {
  const item = AbiFunction.from(signature) as AbiFunction.AbiFunction;
  const call = { to: USDC, data: AbiFunction.encodeData(item, args as never) };
  return AbiFunction.decodeResult(item, (await rpc('eth_call', [call, 'latest'])) as Hex.Hex) as T;
}
const isUsed = ({ from, nonce }: Authorization) =>
  read<boolean>('function authorizationState(address, bytes32) view returns (bool)', from, nonce);
const refusal = (authorization: Authorization, signature: Hex.Hex) =>
  rpc('eth_call', [authorizationCall(authorization, signature), 'latest']).then(
    () => 'taken',
    ({ message }: Error) => /FiatTokenV2: ([\w ]+)/.exec(message)?.[1] ?? message,
  );

describe('the domain of USDC', () => {
  test('is pinned for each chain whose USDC the vault knows, and is the real one there', () => {
    const known = Object.entries(CHAINS).filter(([, { USDC_ADDRESS }]) => USDC_ADDRESS);
    expect(known.map(([id, chain]) => [id, chain['USDC_ADDRESS'] ?? ''])).toEqual(
      Object.entries(USDC_DOMAINS).map(([id, { address }]) => [id, address]),
    );
    const separatorOf = (chainId: 84532 | 8453) => {
      const { address: verifyingContract, name, version } = USDC_DOMAINS[chainId];
      return TypedData.domainSeparator({ name, version, chainId, verifyingContract });
    };
    // What `DOMAIN_SEPARATOR()` of the deployed tokens answers.
    expect(separatorOf(84532)).toBe('0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818');
    expect(separatorOf(8453)).toBe('0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f');
    expect(usdcDomainOf(84532)).toBe(USDC_DOMAINS[84532]);
    expect(usdcDomainOf(1)).toBeUndefined();
  });

  test('is that of the local USDC too, with its name and version', async () => {
    const { address: verifyingContract, name, version } = USDC_DOMAINS[84532];
    expect(await read<string>('function name() view returns (string)')).toBe(name);
    expect(await read<string>('function version() view returns (string)')).toBe(version);
    expect(await read<string>('function DOMAIN_SEPARATOR() view returns (bytes32)')).toBe(
      TypedData.domainSeparator({ name, version, chainId: 84532, verifyingContract }),
    );
  });
});

describe('a transfer by authorization', () => {
  test('by an address, in both forms: the log of the nonce stands directly before that of the transfer', async () => {
    const forms = {
      bytes: (authorization: Authorization) => authorizationCall(authorization, Signature.toHex(signed(authorization))),
      vrs: (authorization: Authorization) => {
        const { from, to, value, validAfter, validBefore, nonce } = authorization;
        const { r, s, yParity } = signed(authorization);
        const [rWord, sWord] = [Hex.fromNumber(BigInt(r), { size: 32 }), Hex.fromNumber(BigInt(s), { size: 32 })];
        const args = [from, to, value, validAfter, validBefore, nonce, 27 + yParity, rWord, sWord] as const;
        return { to: USDC, data: AbiFunction.encodeData(WITH_VRS, args) };
      },
    };
    for (const form of Object.values(forms)) {
      const authorization = authorizationBy(alice.address);
      expect(await isUsed(authorization)).toBe(false);
      const { logs } = await sendTransaction(rpc, bob, form(authorization));
      expect(logs.map(({ topics }) => topics)).toEqual([
        [AbiEvent.getSelector(USED), Hex.padLeft(alice.address, 32).toLowerCase() as Hex.Hex, authorization.nonce],
        [AbiEvent.getSelector(TRANSFERRED), ...[alice.address, PAYEE].map(wordOf)],
      ]);
      expect(await isUsed(authorization)).toBe(true);
      expect(await refusal(authorization, Signature.toHex(signed(authorization)))).toBe(
        'authorization is used or canceled',
      );
    }
  });

  test('outside its time, or of another signer or other members, is refused', async () => {
    const { timestamp } = (await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex.Hex };
    const now = BigInt(timestamp);
    const late = authorizationBy(alice.address, { validBefore: now - 100n });
    const early = authorizationBy(alice.address, { validAfter: now + 10_000n });
    expect(await refusal(late, Signature.toHex(signed(late)))).toBe('authorization is expired');
    expect(await refusal(early, Signature.toHex(signed(early)))).toBe('authorization is not yet valid');
    const good = authorizationBy(alice.address);
    const signature = Signature.toHex(signed(good));
    expect(await refusal(good, signature)).toBe('taken');
    for (const other of [{ value: 1_250_001n }, { to: USDC }, { nonce: Hex.random(32) }, { from: PAYEE }] as const)
      expect(await refusal({ ...good, ...other }, signature)).toBe('invalid signature');
  });

  test.each([1, 2] as const)('by an account of kind %d, once it exists (ERC-1271)', async (kind) => {
    const account = await createPayer(rpc, kind);
    const authorization = authorizationBy(account.address);
    const signature = signAuthorization(account, authorization);
    expect(await refusal(authorization, signature)).toBe('invalid signature');
    await settleAuthorization(rpc, account, authorization);
    expect(await isUsed(authorization)).toBe(true);
    const balanceOf = 'function balanceOf(address) view returns (uint256)';
    expect(await read<bigint>(balanceOf, account.address)).toBe(98_750_000n);
    await expectRefused(account, authorizationBy(account.address));
  });

  async function expectRefused(account: SmartAccount, authorization: Authorization): Promise<void> {
    const sign = (domain = {}) => signAuthorization(account, authorization, domain);
    expect(await refusal(authorization, sign())).toBe('taken');
    for (const domain of [{ name: 'USD Coin' }, { version: '1' }, { chainId: 8453 }, { verifyingContract: PAYEE }])
      expect(await refusal(authorization, sign(domain))).toBe('invalid signature');
    const thief = await createPayer(rpc, account.kind ?? 1);
    const stolen = signAuthorization({ ...account, passkey: thief.passkey }, authorization);
    expect(await refusal(authorization, stolen)).toBe('invalid signature');
  }
});

const wordOf = (address: string) => Hex.padLeft(address.toLowerCase() as Hex.Hex, 32);
const USED = AbiEvent.from('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)');
const TRANSFERRED = AbiEvent.from('event Transfer(address indexed from, address indexed to, uint256 value)');
const WITH_VRS = AbiFunction.from(
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
);
