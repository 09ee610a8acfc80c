import {
  type Abi,
  AbiConstructor,
  AbiError,
  AbiEvent,
  AbiFunction,
  AbiParameters,
  Address,
  ContractAddress,
  Hash,
  Hex,
  Secp256k1,
} from 'ox';
import { accountFactory2Abi, accountFactoryAbi, didRegistry2Abi, didRegistryAbi } from '../../contracts/abi.ts';
import { registrationChallenge } from '../../lib/registration/challenge.ts';
import { compileContracts } from '../../scripts/contracts.ts';
import { type ChainRpc, startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { type Ceremony, createPasskey, type Passkey } from '../../scripts/dev-stack/passkey.ts';
import { encodeAssertion } from '../../scripts/dev-stack/user-operation.ts';
import {
  type Account,
  addressOf,
  devAccount,
  sendTransaction,
  waitForReceipt,
} from '../../scripts/dev-stack/wallet.ts';

// Both editions of the registry and of the accounts on one chain, for tests of the contracts. The consent is encoded here
// by ox alone, so that the vault's own code does not judge itself.

/** The hash that stands for none. */
export const ZERO: Hex.Hex = `0x${'0'.repeat(64)}`;

/** The address of nobody. */
export const NOBODY: Address.Address = `0x${'0'.repeat(40)}`;

/** A registry and what people do with it; each call is a transaction of its own. */
export interface Registry {
  readonly address: Address.Address;
  read(name: string, ...args: readonly unknown[]): Promise<unknown>;
  /** The registry's events of the transaction, each as its name and arguments. */
  act(from: Account, name: string, ...args: readonly unknown[]): Promise<unknown[]>;
  /** The custom error a call is refused with, as its name and arguments. */
  refused(from: Account, name: string, ...args: readonly unknown[]): Promise<unknown[]>;
  encode(name: string, ...args: readonly unknown[]): Hex.Hex;
}

/** An account of a passkey that need not exist. */
export interface TestAccount {
  readonly address: Address.Address;
  readonly factory: Address.Address;
  readonly initCode: Hex.Hex;
  readonly passkey: Passkey;
  readonly create: () => Promise<unknown>;
}

/** A registry at an address. */
export function openRegistry(rpc: ChainRpc, address: Address.Address, edition: 1 | 2): Registry {
  const abi: Abi.Abi = edition === 1 ? didRegistryAbi : didRegistry2Abi;
  const item = (name: string) => AbiFunction.fromAbi(abi, name as never) as AbiFunction.AbiFunction;
  const encode = (name: string, ...args: readonly unknown[]) => AbiFunction.encodeData(item(name), args as never);
  const act: Registry['act'] = async (from, name, ...args) => {
    const { logs } = await sendTransaction(rpc, from.privateKey, { to: address, data: encode(name, ...args) });
    return logs.map((log) => {
      const event = AbiEvent.fromAbi(abi, log.topics[0] as Hex.Hex) as AbiEvent.AbiEvent;
      return [event.name, AbiEvent.decode(event, log as never) as unknown];
    });
  };
  return {
    address,
    encode,
    act,
    async read(name, ...args) {
      const data = await rpc('eth_call', [{ to: address, data: encode(name, ...args) }, 'latest']);
      return AbiFunction.decodeResult(item(name), data as Hex.Hex);
    },
    async refused(from, name, ...args) {
      const error: unknown = await act(from, name, ...args).catch(({ cause }) => cause);
      const { data } = error as { data?: Hex.Hex };
      if (data === undefined) throw new Error(`not refused: ${JSON.stringify(error)}`);
      const own = AbiError.fromAbi(abi, data) as AbiError.AbiError;
      const values = own.inputs.length ? [AbiError.decode(own, data, { as: 'Array' } as never) as unknown] : [];
      return [own.name, ...values.flat()];
    },
  };
}

/** Both registries and both factories of EntryPoint 0.7. The second registry knows the first factory. */
export async function deployBoth(rpc: ChainRpc) {
  await deployEntryPoints(rpc, ['0.7']);
  const artifacts = await compileContracts();
  const deploy = (name: string, ...args: readonly unknown[]) => {
    const { abi, bytecode } = artifacts[name] as { abi: Abi.Abi; bytecode: Hex.Hex };
    return create2(rpc, AbiConstructor.encode(abi as never, { bytecode, args } as never));
  };
  const [owner, registrar] = [devAccount('owner').address, devAccount('registrar').address];
  const factory1 = await deploy('AccountFactory', ENTRY_POINTS['0.7']);
  const factory2 = await deploy('AccountFactory2', ENTRY_POINTS['0.7']);
  return {
    factory1,
    factory2,
    registry1: openRegistry(rpc, await deploy('DIDRegistry', owner, registrar), 1),
    registry2: openRegistry(rpc, await deploy('DIDRegistry2', owner, registrar, factory1, NOBODY, 0), 2),
    deploy,
  };
}

/** A chain of its own with both editions, and who and when there; the file's `afterAll` stops it. */
export async function startRegistries() {
  const { rpc, stop } = await startChain();
  const world = await deployBoth(rpc);
  const later = (seconds: bigint) => nextBlockAfter(rpc, seconds);
  return { rpc, stop, ...world, stranger: () => stranger(rpc), later };
}

/** A wallet with money and no history. */
export async function stranger(rpc: ChainRpc): Promise<Account> {
  const privateKey = Secp256k1.randomPrivateKey();
  const address = addressOf(privateKey);
  await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
  return { privateKey, address };
}

/** The account of a passkey that a factory of a kind would create. */
export async function accountOf(
  rpc: ChainRpc,
  factory: Address.Address,
  kind: 1 | 2,
  passkey = createPasskey(),
  salt = 0n,
): Promise<TestAccount> {
  const abi: Abi.Abi = kind === 1 ? accountFactoryAbi : accountFactory2Abi;
  const key = [...keyOf(passkey), salt];
  const call = (name: string, args: readonly unknown[]) =>
    AbiFunction.encodeData(AbiFunction.fromAbi(abi, name as never) as AbiFunction.AbiFunction, args as never);
  const answer = (await rpc('eth_call', [{ to: factory, data: call('implementation', []) }, 'latest'])) as Hex.Hex;
  const initCode = proxyCode(kind, Hex.slice(answer, 12), key);
  const address = ContractAddress.fromCreate2({
    from: factory,
    salt: Hex.toBytes(Hex.fromNumber(salt, { size: 32 })),
    bytecode: initCode,
  });
  const create = () =>
    sendTransaction(rpc, devAccount('owner').privateKey, { to: factory, data: call('createAccount', key) });
  return { address, factory, initCode, passkey, create };
}

/** The creation code of an account: its proxy, then x ‖ y ‖ salt. */
export function proxyCode(kind: 1 | 2, implementation: Hex.Hex, key: readonly bigint[]): Hex.Hex {
  const [head, tail] = PROXIES[kind];
  return Hex.concat(head, implementation, tail, ...key.map((one) => Hex.fromNumber(one, { size: 32 })));
}

/** What a consent is for, and how it differs from an honest one. */
export interface ConsentOptions {
  readonly account: TestAccount;
  readonly controller?: Address.Address;
  readonly registry: Address.Address;
  readonly didHash: Hex.Hex;
  readonly aliasHash?: Hex.Hex;
  readonly expiresAt: bigint;
  readonly chainId?: number;
  /** Who signs, and whose key is named. */
  readonly passkey?: Passkey;
  readonly ceremony?: Ceremony;
}

/** The consent that a registrar brings, signed by the account's passkey. */
export function consentFor({ account, registry, didHash, aliasHash = ZERO, expiresAt, ...more }: ConsentOptions) {
  const { passkey = account.passkey, chainId = 84532, controller = account.address, ceremony } = more;
  const [x, y] = keyOf(passkey);
  const credentialId = 'Y3JlZGVudGlhbC1vZi1hLXRlc3Q';
  const named = { registrarDidHash: Hash.keccak256('0x01'), identifierHash: Hash.keccak256('0x02') };
  const challenge = registrationChallenge({
    ...named,
    chainId,
    registry,
    didHash,
    aliasHash,
    smartAccount: controller,
    credentialId,
    expiresAt: Number(expiresAt),
  });
  return {
    ...named,
    credentialHash: Hash.keccak256(Hex.fromString('credential-of-a-test')),
    expiresAt,
    x,
    y,
    factory: account.factory,
    initCode: account.initCode,
    assertion: encodeAssertion(passkey.assert(challenge, ceremony)),
    salt: ZERO,
  };
}

/** A passkey's key as two numbers. */
export function keyOf({ key }: Passkey): readonly [bigint, bigint] {
  return [Hex.toBigInt(Hex.fromBytes(key.x)), Hex.toBigInt(Hex.fromBytes(key.y))];
}

/** The hash of the did:pkh of an address on Base Sepolia, with the capitals of EIP-55. */
export function pkhHash(address: Address.Address): Hex.Hex {
  return Hash.keccak256(Hex.fromString(`did:pkh:eip155:84532:${Address.checksum(address)}`));
}

/** A transaction from an address whose key nobody here has; returns its gas. */
export async function sendAs(
  rpc: ChainRpc,
  from: Address.Address,
  to: Address.Address,
  data: Hex.Hex,
): Promise<number> {
  await rpc('anvil_setBalance', [from, '0xde0b6b3a7640000']);
  await rpc('anvil_impersonateAccount', [from]);
  const hash = (await rpc('eth_sendTransaction', [{ from, to, data }])) as Hex.Hex;
  await rpc('anvil_stopImpersonatingAccount', [from]);
  return Number((await waitForReceipt(rpc, hash)).gasUsed);
}

/** The time of the newest block, in seconds. */
export async function timeNow(rpc: ChainRpc): Promise<bigint> {
  const { timestamp } = (await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  return BigInt(timestamp);
}

/** Lets the next block have this time, in seconds. */
export async function nextBlockAt(rpc: ChainRpc, time: bigint): Promise<void> {
  await rpc('evm_setNextBlockTimestamp', [Number(time)]);
}

/** Lets the next block be this much later than the newest, in seconds. */
export async function nextBlockAfter(rpc: ChainRpc, seconds: bigint): Promise<void> {
  await nextBlockAt(rpc, (await timeNow(rpc)) + seconds);
}

/** A hash that no other call of this process answers. */
export function freshHash(): Hex.Hex {
  return Hash.keccak256(Hex.fromNumber(++hashes, { size: 32 }));
}

let hashes = 0;

/** A commitment to an alias, as `commitAlias` takes it. */
export function commitment(aliasHash: Hex.Hex, controller: Address.Address, salt: Hex.Hex): Hex.Hex {
  const parameters = AbiParameters.from('bytes32, address, bytes32');
  return Hash.keccak256(AbiParameters.encode(parameters, [aliasHash, controller, salt]));
}

/** The creation code of the accounts before and behind the implementation (`account2-facts`, ERC-1167). */
const PROXIES: Readonly<Record<1 | 2, readonly [Hex.Hex, Hex.Hex]>> = {
  1: ['0x61008d3d81600a3d39f3363d3d373d3d3d363d73', '0x5af43d82803e903d91602b57fd5bf3'],
  2: [
    '0x60bb8060335f3960365160601c7fbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b5f5fa25ff336600557005b365f5f375f5f365f7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc5480604a575073',
    '0x5b5af43d5f5f3e6057573d5ffd5b3d5ff3',
  ],
};
