import { systemClock } from '../../lib/base/clock.ts';
import type { Log } from '../../lib/base/log.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import { readQuantity } from '../../lib/chain/contract-call.ts';
import { createRpc } from '../../lib/chain/rpc.ts';
import { CHAINS } from '../../lib/config/chain-settings.ts';
import { UsageError } from '../cli/arguments.ts';
import type { Settings } from '../setup/settings.ts';
import { describeWarning, findWarnings } from '../setup/warnings.ts';

/** How often a node that gives no answer is asked, and the pause between. It may start later than the vault. */
const CHAIN_ASKED_MAX = 6;
const CHAIN_PAUSE_MS = 10_000;

/**
 * Says what the settings contradict, and resolves with the error if the node is of another chain. It runs beside the
 * serving, so no answer waits for it (docs/decisions/0034). A node that gives no answer stops nothing.
 */
export async function wrongChainError(settings: Settings, log: Log): Promise<UsageError> {
  for (const one of findWarnings(settings)) log({ level: 'warn', event: 'settings', message: describeWarning(one) });
  const error = await findWrongChain(settings);
  if (error === undefined) return new Promise(() => undefined);
  log({ level: 'error', event: 'wrong_chain', message: error.message });
  return error;
}

/**
 * Asks the operator's own node once which chain it is of. Resolves with an error if it is another one than `CHAIN_ID`,
 * undefined if it is that one or gives no answer. A public endpoint is of its chain by our own table.
 */
async function findWrongChain({ config, sources }: Settings): Promise<UsageError | undefined> {
  const { chainId, rpcUrl } = config;
  if (rpcUrl === CHAINS[chainId]?.['RPC_URL']) return undefined;
  const outside = { fetch, clock: systemClock, metrics: createMetrics(), log: () => undefined };
  const rpc = createRpc({ ...outside, urls: { [chainId]: rpcUrl } });
  for (let asked = 1; asked <= CHAIN_ASKED_MAX; asked++) {
    try {
      const found = Number(readQuantity(await rpc.call(chainId, 'eth_chainId', [])));
      if (found === chainId) return undefined;
      const name = sources['RPC_URL'] === undefined ? `RPC_URL_${chainId}` : 'RPC_URL';
      return new UsageError(
        `${name} is an endpoint of chain ${found}, but CHAIN_ID is ${chainId}: set both to the same chain.`,
      );
    } catch {
      await Bun.sleep(CHAIN_PAUSE_MS);
    }
  }
  return undefined;
}
