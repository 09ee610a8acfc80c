import { type Abi, AbiConstructor, AbiError, AbiEvent, AbiFunction, type Hex } from 'ox';
import { didRegistry2Abi, didRegistryAbi } from '../../../contracts/abi.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { ENTRY_POINTS } from '../../../scripts/dev-stack/entrypoints.ts';
import { openSmallChain } from '../evm/chain.ts';
import { commitment, consentFor, ZERO } from '../registries.ts';
import { type Outcome, REGISTRAR } from './model.ts';
import { OPENS, START, type Step, type World } from './world.ts';

// The byte code of both registries in an EVM of this process.

const OWNER = `0x${'dd'.repeat(20)}`;
const abi: Abi.Abi = didRegistry2Abi;

/** The registry as it runs. */
export interface Machine {
  readonly factory1: string;
  readonly implementation1: string;
  step(world: World, step: Step): Promise<Outcome>;
  view(name: string, ...args: readonly unknown[]): Promise<unknown>;
}

/** Deploys the registry, the one that it follows, and the first factory. */
export async function openMachine(): Promise<Machine> {
  compiled ??= compileContracts();
  const artifacts = await compiled;
  const small = openSmallChain(BigInt(START));
  const call = (from: string, to: string, data: Hex.Hex) =>
    small.call(BigInt(from), BigInt(to), new Uint8Array(Buffer.from(data.slice(2), 'hex')));
  const deploy = (name: string, ...args: readonly unknown[]) => {
    const { abi: own, bytecode } = artifacts[name] as { abi: Abi.Abi; bytecode: Hex.Hex };
    const code = AbiConstructor.encode(own as never, { bytecode, args } as never) as Hex.Hex;
    return addressOf(small.deploy(new Uint8Array(Buffer.from(code.slice(2), 'hex'))));
  };
  const factory1 = deploy('AccountFactory', ENTRY_POINTS['0.7']);
  const first = deploy('DIDRegistry', OWNER, REGISTRAR);
  const registry = deploy('DIDRegistry2', OWNER, REGISTRAR, factory1, first, OPENS);
  const encode = (name: string, args: readonly unknown[], of: Abi.Abi = abi) =>
    AbiFunction.encodeData(functionOf(of, name), args as never);
  const implementation1 = addressOf(BigInt(hexOf(call(OWNER, factory1, '0x5c60da1b').data)));
  const consents = new Map<string, ReturnType<typeof consentFor>>();

  /** An account's consent; the same one is signed once. */
  function consentOf(world: World, { did, alias, to, end }: Step) {
    const account = world.pairs.flatMap(({ old, next }) => [old, next]).find(({ address }) => address === to);
    const expiresAt = small.state.time + BigInt(end);
    const known = `${did} ${alias} ${to} ${expiresAt}`;
    const signed =
      consents.get(known) ??
      consentFor({
        account: account ?? (world.pairs[0] as World['pairs'][number]).old,
        registry: registry as Hex.Hex,
        didHash: did as Hex.Hex,
        aliasHash: alias as Hex.Hex,
        expiresAt,
      });
    consents.set(known, signed);
    return signed;
  }

  function argumentsOf(world: World, step: Step): readonly unknown[] {
    const { name, did, alias, to, salt } = step;
    const pair = world.pairs[salt === ZERO ? 0 : 1];
    const all: Readonly<Record<string, readonly unknown[]>> = {
      register: [did, alias, ''],
      registerSelf: [alias, ''],
      update: [did, 'cid'],
      deactivate: [did],
      offerDid: [did, to],
      voidOwn: [did],
      claimDid: [did, ZERO, alias, ''],
      acceptDid: [did],
      moveDid: [did, 0n, pair?.next.factory, pair?.next.initCode],
      commitAlias: [commitment(alias as Hex.Hex, to as Hex.Hex, ZERO)],
      commitDid: [commitment(did as Hex.Hex, to as Hex.Hex, ZERO)],
      claimAlias: [alias, ZERO],
      pointAlias: [alias],
      freeAlias: [alias],
    };
    return name === 'registerFor' ? [to, did, alias, consentOf(world, step)] : (all[name] ?? []);
  }

  return {
    factory1,
    implementation1,
    async step(world, step) {
      small.state.time = BigInt(step.time);
      const ofFirst = FIRST[step.name];
      if (ofFirst !== undefined) {
        const sent = encode(ofFirst, argumentsOf(world, { ...step, name: ofFirst }), didRegistryAbi);
        const { ok, data } = call(step.by, first, sent);
        return ok ? { events: [] } : { error: nameOf(hexOf(data)) };
      }
      const from = step.name === 'registerFor' ? REGISTRAR : step.by;
      const name = step.name === 'commitDid' ? 'commitAlias' : step.name;
      const { ok, data, logs } = call(from, registry, encode(name, argumentsOf(world, step)));
      return ok ? { events: logs.map(({ topics }) => eventOf(topics)) } : { error: nameOf(hexOf(data)) };
    },
    async view(name, ...args) {
      const item = functionOf(abi, name);
      return AbiFunction.decodeResult(item, hexOf(call(OWNER, registry, encode(name, args)).data));
    },
  };
}

/** The steps in the first registry, and their functions there. */
const FIRST: Readonly<Record<string, string>> = { firstRegister: 'register', firstDeactivate: 'deactivate' };

// Hashes of names take longer than the calls, so that each is made once.
let compiled: ReturnType<typeof compileContracts> | undefined;
const functions = new Map<string, AbiFunction.AbiFunction>();
const errors = new Map(
  abi.filter((item) => item.type === 'error').map((item) => [AbiError.getSelector(item), item.name]),
);
const events = new Map(
  abi.filter((item) => item.type === 'event').map((item) => [AbiEvent.getSelector(item), item.name]),
);

function functionOf(of: Abi.Abi, name: string): AbiFunction.AbiFunction {
  const key = `${of === abi ? 2 : 1} ${name}`;
  const known = functions.get(key) ?? (AbiFunction.fromAbi(of, name as never) as AbiFunction.AbiFunction);
  functions.set(key, known);
  return known;
}

function hexOf(data: Uint8Array): Hex.Hex {
  return `0x${Buffer.from(data).toString('hex')}`;
}

function addressOf(word: bigint): string {
  return `0x${word.toString(16).padStart(40, '0')}`;
}

function nameOf(data: Hex.Hex): string {
  return errors.get(data.slice(0, 10) as Hex.Hex) ?? `another revert: ${data}`;
}

/** An event's name and its indexed arguments, addresses as such; of a commitment the name alone. */
function eventOf(topics: readonly bigint[]): string {
  const [first, ...rest] = topics.map((topic) => `0x${topic.toString(16).padStart(64, '0')}` as Hex.Hex);
  const name = events.get(first as Hex.Hex) ?? `another event: ${first}`;
  if (name === 'AliasCommitted') return name;
  const words = rest.map((topic) => (/^0x0{24}/.test(topic) ? `0x${topic.slice(26)}` : topic));
  return [name, ...words].join(' ');
}
