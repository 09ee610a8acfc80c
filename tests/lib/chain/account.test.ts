import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AbiFunction, type Address, Hex, P256 } from 'ox';
import type { AccountFactory } from '../../../client/known-accounts.ts';
import { accountAbi, accountFactoryAbi } from '../../../contracts/abi.ts';
import { type AccountKey, computeAddress, initCodeOf } from '../../../lib/chain/account.ts';
import { keyInCode } from '../../../lib/chain/account-key.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';

const INPUTS = 500;
const CREATED = 25;
const UINT256_MAX = 2n ** 256n - 1n;

let chain: Chain;
const factories: AccountFactory[] = [];
beforeAll(async () => {
  chain = await startChain();
  const { accountFactory, accountFactory2 } = await deployContracts(chain.rpc);
  const implementation = AbiFunction.fromAbi(accountFactoryAbi, 'implementation');
  for (const [i, factory] of [accountFactory, accountFactory2].entries()) {
    const answer = await call(factory, AbiFunction.encodeData(implementation));
    factories.push({
      kind: i === 0 ? 1 : 2,
      factory,
      implementation: AbiFunction.decodeResult(implementation, answer),
    });
  }
});
afterAll(() => chain.stop());

async function call(to: string, data: Hex.Hex): Promise<Hex.Hex> {
  return (await chain.rpc('eth_call', [{ to, data }, 'latest'])) as Hex.Hex;
}

async function getAddress(of: AccountFactory, { x, y, salt }: AccountKey): Promise<Address.Address> {
  const item = AbiFunction.fromAbi(accountFactoryAbi, 'getAddress');
  return AbiFunction.decodeResult(item, await call(of.factory, AbiFunction.encodeData(item, [x, y, salt])), {
    checksumAddress: true,
  });
}

function randomUint256(): bigint {
  return Hex.toBigInt(Hex.random(32));
}

function randomKey(): AccountKey {
  const { x, y } = P256.createKeyPair().publicKey;
  return { x: BigInt(x), y: BigInt(y), salt: randomUint256() };
}

describe.each([1, 2] as const)('the predicted address of the kind %d', (kind) => {
  const of = () => factories[kind - 1] as AccountFactory;

  test(`is what the factory's getAddress answers, for ${INPUTS} random keys and salts`, async () => {
    for (let i = 0; i < INPUTS; i++) {
      const key = randomKey();
      expect(computeAddress(of(), key)).toBe(await getAddress(of(), key));
    }
  });

  test.each<[string, AccountKey]>([
    ['zeros', { x: 0n, y: 0n, salt: 0n }],
    ['the highest values', { x: UINT256_MAX, y: UINT256_MAX, salt: UINT256_MAX }],
    ['leading zeros in each word', { x: 2n ** 63n, y: 2n ** 64n, salt: 2n ** 128n }],
  ])('is the same for what is no key: %s', async (_, key) => {
    expect(computeAddress(of(), key)).toBe(await getAddress(of(), key));
  });

  test(`is where the account then is, ${CREATED} times, and the account's key is the one predicted for`, async () => {
    const create = AbiFunction.fromAbi(accountFactoryAbi, 'createAccount');
    const getOwner = AbiFunction.fromAbi(accountAbi, 'getOwner');
    for (let i = 0; i < CREATED; i++) {
      const { x, y, salt } = randomKey();
      const predicted = computeAddress(of(), { x, y, salt });
      const data = AbiFunction.encodeData(create, [x, y, salt]);
      await sendTransaction(chain.rpc, devAccount('alice').privateKey, { to: of().factory as Address.Address, data });
      const owner = AbiFunction.decodeResult(getOwner, await call(predicted, AbiFunction.encodeData(getOwner)));
      expect(owner).toEqual([x, y]);
      const code = (await chain.rpc('eth_getCode', [predicted, 'latest'])) as string;
      expect(keyInCode(code)).toEqual({ key: { x, y, salt }, kind });
      expect(initCodeOf(of(), { x, y, salt })).toEndWith(code.slice(2));
    }
  });

  test('does not depend on the case of the addresses, and is not the one of another factory or implementation', () => {
    const key = randomKey();
    const { factory, implementation } = of();
    const lower = { kind, factory: factory.toLowerCase(), implementation: implementation.toLowerCase() };
    const address = computeAddress(of(), key);
    expect(computeAddress(lower, key)).toBe(address);
    expect(computeAddress({ kind, factory, implementation: factory }, key)).not.toBe(address);
    expect(computeAddress({ kind, factory: implementation, implementation }, key)).not.toBe(address);
    expect(computeAddress({ ...of(), kind: kind === 1 ? 2 : 1 }, key)).not.toBe(address);
  });

  test.each(['', '0x', '0x12', `0x${'g'.repeat(40)}`, `0x${'0'.repeat(42)}`])(
    'is refused for %p, which is no address',
    (factory) => {
      expect(() => computeAddress({ ...of(), factory }, randomKey())).toThrow(RangeError);
      expect(() => computeAddress({ ...of(), implementation: factory }, randomKey())).toThrow(RangeError);
    },
  );
});
