import { toQuantity } from '../chain/contract-call.ts';
import { KEY_TOPICS } from '../chain/followed-contracts.ts';
import type { ChainReader } from '../chain/rpc.ts';

/** The most accounts of one range that are looked at for their events; others are found by look-ups. */
const KEY_ACCOUNTS_MAX = 5_000;

/**
 * The accounts, lower-case, that say that a key came or went in blocks `from` to `to`. Anyone can emit such an event,
 * so it is only a reason to look; where the node does not tell, look-ups find it out later. Never rejects.
 */
export async function readKeyAccounts(
  { config, rpc }: ChainReader<'accountFactory2Address'>,
  from: number,
  to: number,
): Promise<readonly string[]> {
  // Where no such accounts are offered, none is known.
  if (config.accountFactory2Address === null) return [];
  const filter = { topics: [Object.values(KEY_TOPICS)], fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  const logs = await rpc.call(config.chainId, 'eth_getLogs', [filter]).catch(() => []);
  if (!Array.isArray(logs)) return [];
  const accounts = new Set(logs.map((log) => String((log as { address?: unknown } | null)?.address).toLowerCase()));
  return Array.from(accounts).slice(0, KEY_ACCOUNTS_MAX);
}
