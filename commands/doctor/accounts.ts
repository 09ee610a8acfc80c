import * as Address from 'ox/Address';
import { readOwnFactory } from '../../lib/chain/account-factory.ts';
import { findWords, uint256Word } from '../../lib/chain/contract-call.ts';
import type { Rpc } from '../../lib/chain/rpc.ts';
import type { Config } from '../../lib/config/config.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Checks that ACCOUNT_FACTORY_2_ADDRESS is our factory, and its accounts' implementation one for this EntryPoint. */
export async function checkSecondFactory(
  { config, rpc }: { readonly config: Config; readonly rpc: Rpc },
  factory: Address.Address,
): Promise<readonly Finding[]> {
  const { chainId, entryPointAddress } = config;
  const own = await readOwnFactory({ config, rpc }, 2, factory);
  // The check of the contracts already reports that there is no code.
  if (own === undefined) return [];
  if (own === null)
    return [
      warn(
        'accounts',
        'ACCOUNT_FACTORY_2_ADDRESS has other code than AccountFactory2: it is asked for each address',
        'set it to the factory that vault contracts deploy prints, or to none',
      ),
    ];
  const ask = (data: string) => findWords(rpc, chainId, { to: own.implementation, data }, 1);
  const [trusted, version] = await Promise.all([ask(ENTRY_POINT), ask(VERSION)]);
  if (version?.[0] !== uint256Word(2n) || trusted === undefined)
    return [fail('accounts', 'the implementation of ACCOUNT_FACTORY_2_ADDRESS is no Account2', DEPLOY_AGAIN)];
  const entryPoint = Address.checksum(`0x${trusted[0]?.slice(24)}`);
  if (entryPointAddress?.toLowerCase() !== entryPoint.toLowerCase())
    return [
      fail(
        'accounts',
        `accounts of ACCOUNT_FACTORY_2_ADDRESS trust the EntryPoint ${entryPoint}, but ENTRY_POINT_ADDRESS is ${entryPointAddress ?? 'none'}`,
        DEPLOY_AGAIN,
      ),
    ];
  return [ok('accounts', `the second kind is offered, for the EntryPoint ${entryPoint}`)];
}

const DEPLOY_AGAIN = 'set ACCOUNT_FACTORY_2_ADDRESS to the factory for this EntryPoint (vault contracts deploy)';
/** Selectors of `entryPoint()` and `version()`. */
const ENTRY_POINT = '0xb0d691fe';
const VERSION = '0x54fd4d50';
