import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { readBlockTime } from '../chain/blocks.ts';
import { readNonce, type SignerState } from '../chain/signer-state.ts';
import { agreed } from '../chain/witness.ts';
import type { Relayer } from './transactions.ts';

/** Blocks on top before a revert, or a nonce spent by another transaction, is taken as final. */
export const RELAY_SETTLED_BLOCKS = 12;
/** A newest block of this age is as good as a deep one: this chain makes blocks only for transactions. */
const IDLE_CHAIN_MS = 10 * MINUTE_MS;

/**
 * The nonce `depth` blocks below the newest one, for both nodes; undefined while a node does not answer. Meanwhile the
 * relay follows the transactions that it has sent.
 */
export async function readNonceAtDepth(
  relayer: Relayer,
  { head }: SignerState,
  depth: number,
): Promise<number | undefined> {
  const { clock, signer } = relayer;
  try {
    const isIdle = depth > 0 && clock.now() - 1_000 * (await readBlockTime(relayer, head)) >= IDLE_CHAIN_MS;
    const block = Math.max(0, isIdle ? head : head - depth);
    return await agreed(relayer, 'nonce', (chain) => readNonce(chain, signer.address, block));
  } catch (failure) {
    if (failure instanceof VaultError) return undefined;
    throw failure;
  }
}
