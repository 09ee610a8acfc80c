import * as Address from 'ox/Address';
import { type AccountFactory, KNOWN_ENTRY_POINTS } from '../../client/known-accounts.ts';
import { type AccountKind, computeAddress } from '../chain/account.ts';
import {
  type FactoryReader,
  factoryOf,
  knownFactory,
  readOwnFactory,
  readPrediction,
} from '../chain/account-factory.ts';
import { findWords, readCode, uint256Word } from '../chain/contract-call.ts';
import { agreed } from '../chain/witness.ts';
import type { Config } from '../config/config.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const SETTINGS = { 1: 'HYPERAUTH_FACTORY_ADDRESS', 2: 'ACCOUNT_FACTORY_2_ADDRESS' } as const;
const CONTRACTS = { 1: 'AccountFactory', 2: 'AccountFactory2' } as const;
/** Any key does. */
const PROBE = { x: 1n, y: 2n, salt: 3n };

/** Checks that a factory is ours, that the node says so too, and that its accounts trust the configured EntryPoint. */
export async function checkAccounts(
  chain: FactoryReader & { readonly config: Config },
  kind: AccountKind,
): Promise<readonly Finding[]> {
  const factory = factoryOf(chain.config, kind);
  if (factory === null) return [];
  const [known, found] = [knownFactory(kind, factory), await readOwnFactory(chain, kind, factory)];
  // The check of the contracts already reports the missing code.
  if (found === undefined) return [];
  const own = known ?? found;
  if (own === null)
    return [
      warn(
        'accounts',
        `${SETTINGS[kind]} has other code than ${CONTRACTS[kind]}: its addresses are as true as the node`,
        'set it to the factory that vault contracts deploy prints, or set RPC_WITNESS_URL',
      ),
    ];
  const prediction = await readPrediction(chain, factory, PROBE).catch(() => undefined);
  if (found === null || prediction !== computeAddress(own, PROBE))
    return [fail('accounts', `RPC_URL gives an impossible answer about ${SETTINGS[kind]}, ${factory}`, ANOTHER_NODE)];
  return [await checkEntryPoint(chain, own)];
}

/** Warns of former factories without code: none of their accounts can be on this chain. */
export async function checkFormerFactories(chain: FactoryReader & { readonly config: Config }): Promise<Finding[]> {
  const former = chain.config.accountFactoriesFormer;
  const codes = await Promise.all(former.map((factory) => agreed(chain, 'factory', (one) => readCode(one, factory))));
  const gone = former.filter((_, i) => codes[i] === '0x');
  const remedy = 'write the addresses as the former vault contracts deploy printed them, for this chain';
  if (gone.length > 0)
    return [warn('accounts', `there is no contract at ${gone.join(', ')} of ACCOUNT_FACTORIES_FORMER`, remedy)];
  return [ok('accounts', `accounts of ${former.length} in ACCOUNT_FACTORIES_FORMER are still read and recovered`)];
}

/** Warns of an EntryPoint whose hashes the pages and the enclave do not know. */
export function checkEntryPointVersion({ entryPointAddress: address }: Config): readonly Finding[] {
  const isKnown = KNOWN_ENTRY_POINTS.some((known) => known.toLowerCase() === address?.toLowerCase());
  if (address === null || isKnown) return [];
  const remedy = 'set it to one of these: /pay and /account sign nothing for another';
  return [warn('contracts', `ENTRY_POINT_ADDRESS ${address} is not an EntryPoint 0.7, 0.8 or 0.9`, remedy)];
}

async function checkEntryPoint(
  { config, rpc }: { readonly config: Config; readonly rpc: FactoryReader['rpc'] },
  { kind, implementation: to }: AccountFactory,
): Promise<Finding> {
  const { chainId, entryPointAddress } = config;
  const ask = (data: string) => findWords(rpc, chainId, { to, data }, 1);
  const [trusted, version] = await Promise.all([ask(ENTRY_POINT), ask(VERSION)]);
  if ((kind === 2 && version?.[0] !== uint256Word(2n)) || trusted === undefined)
    return fail('accounts', `${SETTINGS[kind]} has no valid implementation`, deployAgain(kind));
  const entryPoint = Address.checksum(`0x${trusted[0]?.slice(24)}`);
  const isWrong = entryPointAddress?.toLowerCase() !== entryPoint.toLowerCase();
  // Accounts of the first kind can be named, and registered for, without an EntryPoint.
  if (isWrong && (kind === 2 || entryPointAddress !== null))
    return fail(
      'accounts',
      `accounts of ${SETTINGS[kind]} trust the EntryPoint ${entryPoint}, but ENTRY_POINT_ADDRESS is ${entryPointAddress ?? 'none'}`,
      deployAgain(kind),
    );
  return ok('accounts', `the ${kind === 1 ? 'first' : 'second'} kind is offered, for the EntryPoint ${entryPoint}`);
}

const ANOTHER_NODE = 'the node lies, is broken or of another chain: set RPC_URL to another one, and RPC_WITNESS_URL';

function deployAgain(kind: AccountKind): string {
  return `set ${SETTINGS[kind]} to the factory for this EntryPoint (vault contracts deploy)`;
}

/** Selectors of `entryPoint()` and `version()`. */
const ENTRY_POINT = '0xb0d691fe';
const VERSION = '0x54fd4d50';
