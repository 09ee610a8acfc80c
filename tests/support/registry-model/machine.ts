import { createCustomCommon, Hardfork, Mainnet } from '@ethereumjs/common';
import { createEVM } from '@ethereumjs/evm';
import { createAddressFromString } from '@ethereumjs/util';
import { type Abi, AbiConstructor, AbiError, AbiEvent, AbiFunction, type Hex } from 'ox';
import { didRegistry2Abi } from '../../../lib/chain/abi.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { ENTRY_POINTS } from '../../../scripts/dev-stack/entrypoints.ts';
import { commitment, consentFor, NOBODY, ZERO } from '../registries.ts';
import { type Outcome, REGISTRAR } from './model.ts';
import type { Step, World } from './world.ts';

// The registry's own byte code in a complete EVM of this process.

const OWNER = `0x${'dd'.repeat(20)}`;
const abi: Abi.Abi = didRegistry2Abi;

/** The registry as it runs. */
export interface Machine {
  readonly factory1: string;
  readonly implementation1: string;
  step(world: World, step: Step): Promise<Outcome>;
  view(name: string, ...args: readonly unknown[]): Promise<unknown>;
}

/** Deploys the registry and the first factory. */
export async function openMachine(): Promise<Machine> {
  const common = createCustomCommon({ chainId: 84532 }, Mainnet, { hardfork: Hardfork.Osaka });
  const evm = await createEVM({ common });
  const artifacts = await compileContracts();
  let time = 1_700_000_000;
  const block = () => ({
    header: { number: 1n, timestamp: BigInt(time), gasLimit: 30_000_000n, coinbase: createAddressFromString(NOBODY) },
  });
  const call = async (from: string, to: string | undefined, data: Hex.Hex) => {
    const { execResult, createdAddress } = await evm.runCall({
      caller: createAddressFromString(from as Hex.Hex),
      ...(to === undefined ? {} : { to: createAddressFromString(to as Hex.Hex) }),
      data: Buffer.from(data.slice(2), 'hex'),
      gasLimit: 30_000_000n,
      skipBalance: true,
      block: block() as never,
    });
    return { execResult, created: createdAddress?.toString() ?? '' };
  };
  const deploy = async (name: string, ...args: readonly unknown[]) => {
    const { abi: own, bytecode } = artifacts[name] as { abi: Abi.Abi; bytecode: Hex.Hex };
    return (await call(OWNER, undefined, AbiConstructor.encode(own as never, { bytecode, args } as never))).created;
  };
  const factory1 = await deploy('AccountFactory', ENTRY_POINTS['0.7']);
  const registry = await deploy('DIDRegistry2', OWNER, REGISTRAR, factory1, NOBODY);
  const encode = (name: string, args: readonly unknown[]) =>
    AbiFunction.encodeData(AbiFunction.fromAbi(abi, name as never) as AbiFunction.AbiFunction, args as never);
  const { execResult } = await call(OWNER, factory1, '0x5c60da1b');
  const consents = new Map<string, ReturnType<typeof consentFor>>();

  /** An account's consent; the same one is signed once. */
  function consentOf(world: World, { did, alias, to, end }: Step) {
    const account = world.pairs.flatMap(({ old, next }) => [old, next]).find(({ address }) => address === to);
    const expiresAt = BigInt(time + end);
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
      acceptDid: [did],
      moveDid: [did, 0n, pair?.next.factory, pair?.next.initCode],
      commitAlias: [commitment(alias as Hex.Hex, to as Hex.Hex, ZERO)],
      claimAlias: [alias, ZERO],
      pointAlias: [alias],
      freeAlias: [alias],
    };
    return name === 'registerFor' ? [to, did, alias, consentOf(world, step)] : (all[name] ?? []);
  }

  return {
    factory1,
    implementation1: `0x${Buffer.from(execResult.returnValue).toString('hex').slice(24)}`,
    async step(world, step) {
      time = step.time;
      const from = step.name === 'registerFor' ? REGISTRAR : step.by;
      const result = (await call(from, registry, encode(step.name, argumentsOf(world, step)))).execResult;
      const answer: Hex.Hex = `0x${Buffer.from(result.returnValue).toString('hex')}`;
      if (result.exceptionError) return { error: nameOf(answer) };
      return { events: (result.logs ?? []).map(([, topics, data]) => eventOf(topics, data)) };
    },
    async view(name, ...args) {
      const result = (await call(OWNER, registry, encode(name, args))).execResult;
      const item = AbiFunction.fromAbi(abi, name as never) as AbiFunction.AbiFunction;
      return AbiFunction.decodeResult(item, `0x${Buffer.from(result.returnValue).toString('hex')}`);
    },
  };
}

function nameOf(data: Hex.Hex): string {
  const error = abi.find((item) => item.type === 'error' && data.startsWith(AbiError.getSelector(item)));
  return (error as { name?: string } | undefined)?.name ?? `another revert: ${data}`;
}

/** An event's name and its indexed arguments, addresses as such; of a commitment the name alone. */
function eventOf(topics: readonly Uint8Array[], _data: Uint8Array): string {
  const [first, ...rest] = topics.map((topic) => `0x${Buffer.from(topic).toString('hex')}` as Hex.Hex);
  const event = AbiEvent.fromAbi(abi, first as Hex.Hex) as AbiEvent.AbiEvent;
  if (event.name === 'AliasCommitted') return event.name;
  const words = rest.map((topic) => (/^0x0{24}/.test(topic) ? `0x${topic.slice(26)}` : topic));
  return [event.name, ...words].join(' ');
}
