import { readBlockTime, readGenesis } from '../chain/blocks.ts';
import type { Rpc } from '../chain/rpc.ts';
import { readDecimals, USDC_DECIMALS } from '../chain/tokens.ts';
import type { Witnessed } from '../chain/witness.ts';
import type { Config } from '../config/config.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Nothing is final for the vault before both nodes have it. */
const BEHIND_WARN_SECONDS = 120;

/** Checks that the second node is one of the same chain, not far behind, and of another provider. */
export async function checkWitness(
  { config, rpc }: { readonly config: Config; readonly rpc: Rpc },
  witness: { readonly rpc: Rpc },
): Promise<readonly Finding[]> {
  const theirs = { config, rpc: witness.rpc };
  const id = Number(await witness.rpc.call(config.chainId, 'eth_chainId', []));
  if (id !== config.chainId)
    return [fail('witness', `RPC_WITNESS_URL is an endpoint of chain ${id}`, 'set it to one of CHAIN_ID')];
  const [first, other] = await Promise.all([readGenesis({ config, rpc }), readGenesis(theirs)]);
  if (first.hash !== other.hash)
    return [fail('witness', 'RPC_WITNESS_URL has another first block than RPC_URL', 'set both to the same chain')];
  const [time, theirTime] = await Promise.all([readBlockTime({ config, rpc }), readBlockTime(theirs)]);
  const behind = time - theirTime;
  const isSameHost = new URL(config.rpcUrl).host === new URL(config.rpcWitnessUrl ?? '').host;
  return [
    Math.abs(behind) > BEHIND_WARN_SECONDS
      ? warn(
          'witness',
          `${behind > 0 ? 'RPC_WITNESS_URL' : 'RPC_URL'} is ${Math.abs(behind)} s behind the other node`,
          'replace the slow one: a payment is final when it is for both',
        )
      : ok('witness', 'RPC_WITNESS_URL is a second node of the same chain'),
    ...(isSameHost
      ? [warn('witness', 'is at the same host as RPC_URL', 'use another provider: one that lies would lie twice')]
      : []),
  ];
}

/** Checks that the configured USDC has the decimals of USDC. */
export async function checkTokens(chain: Witnessed, usdc: string): Promise<readonly Finding[]> {
  const decimals = await readDecimals(chain, usdc);
  if (decimals === USDC_DECIMALS) return [ok('tokens', `USDC_ADDRESS has ${USDC_DECIMALS} decimals`)];
  return [
    fail(
      'tokens',
      `USDC_ADDRESS ${usdc} has ${decimals ?? 'no'} decimals, USDC has ${USDC_DECIMALS}`,
      'set it to the chain’s USDC or to none; if it is that, the node lies: set RPC_URL to another one',
    ),
  ];
}
