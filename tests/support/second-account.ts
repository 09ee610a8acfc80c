import { AbiFunction, Address, Hex } from 'ox';
import { account2Abi, accountFactory2Abi } from '../../contracts/abi.ts';
import type { P256PublicKey } from '../../lib/identity/passkey.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import type { Deployment } from '../../scripts/dev-stack/deploy.ts';
import { devAccount, sendTransaction, waitForReceipt } from '../../scripts/dev-stack/wallet.ts';

/** Where the second-kind account of a key is or would be. */
export async function secondAddress(
  rpc: ChainRpc,
  { accountFactory2: to }: Pick<Deployment, 'accountFactory2'>,
  key: P256PublicKey,
  salt = 0n,
): Promise<Address.Address> {
  const getAddress = AbiFunction.fromAbi(accountFactory2Abi, 'getAddress');
  const data = AbiFunction.encodeData(getAddress, [...pointOf(key), salt]);
  return Address.checksum(
    AbiFunction.decodeResult(getAddress, (await rpc('eth_call', [{ to, data }, 'latest'])) as Hex.Hex),
  );
}

/** Deploys the second-kind account of a key, with ether for what it does. */
export async function createSecond(
  rpc: ChainRpc,
  contracts: Pick<Deployment, 'accountFactory2'>,
  key: P256PublicKey,
  salt = 0n,
): Promise<Address.Address> {
  const create = AbiFunction.fromAbi(accountFactory2Abi, 'createAccount');
  const data = AbiFunction.encodeData(create, [...pointOf(key), salt]);
  await sendTransaction(rpc, devAccount('bob').privateKey, { to: contracts.accountFactory2, data });
  const address = await secondAddress(rpc, contracts, key, salt);
  await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
  return address;
}

/** Lets an account make a call of its own, as an operation that an owner signed does. */
export async function callAs(rpc: ChainRpc, from: string, to: string, data: Hex.Hex): Promise<Hex.Hex> {
  await rpc('anvil_impersonateAccount', [from]);
  const hash = (await rpc('eth_sendTransaction', [{ from, to, data, gas: '0x1e8480' }])) as Hex.Hex;
  await waitForReceipt(rpc, hash);
  return hash;
}

/** Adds a key, as an owner does. */
export function addKey(
  rpc: ChainRpc,
  account: string,
  key: P256PublicKey,
  label: Hex.Hex = NO_LABEL,
): Promise<Hex.Hex> {
  const add = AbiFunction.fromAbi(account2Abi, 'addKey');
  return callAs(rpc, account, account, AbiFunction.encodeData(add, [...pointOf(key), label]));
}

/** Removes a key, as an owner does. */
export function removeKey(rpc: ChainRpc, account: string, index: number, key: P256PublicKey): Promise<Hex.Hex> {
  const remove = AbiFunction.fromAbi(account2Abi, 'removeKey');
  return callAs(rpc, account, account, AbiFunction.encodeData(remove, [index, ...pointOf(key)]));
}

/** A key's coordinates as the contracts take them. */
export function pointOf({ x, y }: P256PublicKey): [bigint, bigint] {
  return [Hex.toBigInt(Hex.fromBytes(x)), Hex.toBigInt(Hex.fromBytes(y))];
}

const NO_LABEL = Hex.padLeft('0x', 32);

/** The key of an Ethereum address: the address as x, and y zero. */
export function addressKey(address: Address.Address): P256PublicKey {
  return { x: Hex.toBytes(Hex.padLeft(address, 32)), y: new Uint8Array(32) };
}
