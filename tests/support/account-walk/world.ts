// A second account on a small chain, its people, and what its own functions say of it.
import { AbiFunction, AbiParameters, Hex } from 'ox';
import { account2Abi, accountFactory2Abi } from '../../../contracts/abi.ts';
import { addressSigner, passkeySigner, type Signer } from '../../../scripts/dev-stack/account2.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { openSmallChain, type SmallChain } from '../evm/chain.ts';
import { toBytes32, toWord } from '../evm/machine.ts';

/** Who calls: the EntryPoint speaks for owners, and the account for itself. */
export const PEOPLE = { owners: 0xe9n, itself: 0n, guardian: 0xa1n, second: 0xa2n, stranger: 0xb1n } as const;

/** One of `PEOPLE`. */
export type Person = keyof typeof PEOPLE;

/** What an account says of itself. */
export interface View {
  /** Numbers of keys by index. */
  readonly keys: ReadonlyMap<number, number>;
  readonly guardian: bigint;
  readonly delay: number;
  readonly commitment: bigint;
  readonly vetoes: number;
  readonly barredUntil: number;
  /** The pending proposal, or an id of zero. */
  readonly id: number;
  readonly proposed: number;
  readonly readyAt: number;
  readonly wei: bigint;
  /** How long the account's code is. */
  readonly size: number;
  /** Where the owners had it lead, or zero. */
  readonly leadsTo: bigint;
}

/** A chain with one account that holds ether, and the keys that may become its own. */
export interface World {
  readonly chain: SmallChain;
  readonly factory: bigint;
  readonly implementation: bigint;
  readonly account: bigint;
  readonly keys: readonly Signer[];
}

export const START = 1_800_000_000;
/** Points come first, then addresses. */
export const POINTS = 6;
export const WALLETS = 30;
const ETHER = 10n ** 18n;
const IMPLEMENTATION_SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn;

/** All that could be keys, the first one of the account first; of a fixed seed. */
const KEYS: readonly Signer[] = [
  ...Array.from({ length: POINTS }, (_, i) => passkeySigner(createPasskey(undefined, privateKey(i)))),
  ...Array.from({ length: WALLETS }, (_, i) => addressSigner(privateKey(i), 0)),
];
const NUMBERS = new Map(KEYS.map(({ x, y }, number) => [`${x} ${y}`, number]));

/** A chain with the factory of this creation code; every world begins as a copy of it. */
export function openFactory(creationCode: Hex.Hex): { chain: SmallChain; factory: bigint } {
  const chain = openSmallChain(BigInt(START));
  const args = AbiParameters.encode([{ type: 'address' }], [Hex.fromNumber(PEOPLE.owners, { size: 20 })]);
  return { chain, factory: chain.deploy(Hex.toBytes(Hex.concat(creationCode, args))) };
}

/** The account of the first key and a salt, created. */
export function openWorld({ chain, factory }: ReturnType<typeof openFactory>, salt: number): World {
  chain.state.time = BigInt(START);
  const account = toWord(create(chain, factory, salt).data);
  chain.state.balances.set(account, ETHER);
  const implementation = toWord(chain.call(PEOPLE.stranger, factory, IMPLEMENTATION).data);
  return { chain, factory, implementation, account, keys: KEYS };
}

/** Has a stranger call the factory. */
export function create(chain: SmallChain, factory: bigint, salt: number) {
  const { x, y } = KEYS[0] as Signer;
  return chain.call(PEOPLE.stranger, factory, encode(CREATE, x, y, BigInt(salt)));
}

/** The call data of a function whose parameters are words. */
export function encode(selector: Uint8Array, ...words: readonly bigint[]): Uint8Array {
  return Buffer.concat([selector, ...words.map(toBytes32)]);
}

/** The selector of one of the account's functions. */
export function selectorOf(name: string): Uint8Array {
  const known = selectors.get(name);
  if (known) return known;
  const item = AbiFunction.fromAbi(account2Abi as never, name as never) as AbiFunction.AbiFunction;
  const selector = Hex.toBytes(AbiFunction.getSelector(item));
  selectors.set(name, selector);
  return selector;
}

/** Asks the account for all that it says of itself. */
export function look(world: World): View {
  const { chain, account } = world;
  const words = (name: string) => read(world, selectorOf(name));
  const [, count = 0n, ...listed] = words('getKeys');
  const keys = new Map<number, number>();
  for (let i = 0; i < Number(count); i++) {
    const [index = 0n, x, y] = listed.slice(5 * i, 5 * i + 3);
    keys.set(Number(index), NUMBERS.get(`${x} ${y}`) ?? -1);
  }
  const [guardian = 0n, delay, commitment = 0n, vetoes, barredUntil] = words('getGuardian');
  const [id, x, y, readyAt] = words('getRecovery');
  const contract = chain.state.contracts.get(account);
  return {
    keys,
    guardian,
    delay: Number(delay),
    commitment,
    vetoes: Number(vetoes),
    barredUntil: Number(barredUntil),
    id: Number(id),
    proposed: NUMBERS.get(`${x} ${y}`) ?? -1,
    readyAt: Number(readyAt),
    wei: chain.state.balances.get(account) ?? 0n,
    size: contract?.code.bytes.length ?? 0,
    leadsTo: contract?.storage.get(IMPLEMENTATION_SLOT) ?? 0n,
  };
}

const [CREATE, IMPLEMENTATION] = (['createAccount', 'implementation'] as const).map((name) =>
  Hex.toBytes(AbiFunction.getSelector(AbiFunction.fromAbi(accountFactory2Abi, name))),
) as [Uint8Array, Uint8Array];
const selectors = new Map<string, Uint8Array>();

function read({ chain, account }: World, data: Uint8Array): bigint[] {
  const { data: answer } = chain.call(PEOPLE.stranger, account, data);
  return Array.from({ length: answer.length / 32 }, (_, i) => toWord(answer.subarray(32 * i, 32 * i + 32)));
}

function privateKey(i: number): Hex.Hex {
  return Hex.fromNumber(0x1234567890abcdefn ** 3n * BigInt(i + 1), { size: 32 });
}
