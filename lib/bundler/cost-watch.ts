import { USER_OPERATION_EVENT } from '../../client/operations.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { rpcError, VaultError } from '../base/error.ts';
import { addressWord, uint256Word } from '../chain/contract-call.ts';
import { entryPointOf, FRESH_BLOCKS } from '../chain/entry-point.ts';
import { readReceipt } from '../chain/receipts.ts';
import { agreed } from '../chain/witness.ts';
import { inGwei } from '../limits/gwei.ts';
import { type ChainEnds, type FoundOperation, firstBlockOf, readOutcomeAt } from '../payments/outcome.ts';
import { createWatch, type WatchContext } from '../payments/watching.ts';
import {
  COST_PAUSE_MAX_MS,
  type OpenSponsorship,
  putOffLook,
  selectDueSponsorships,
  settleSponsorship,
  toOpenSponsorship,
} from './store.ts';

/** The first pause between two looks at a nonce, which grows with its age; and the longest after a node's failure. */
const PAUSE_MIN_MS = MINUTE_MS;
const RETRY_MAX_MS = 5 * MINUTE_MS;

/**
 * A background task: looks at sponsored nonces until a final block shows the cost of their operation, which then
 * replaces the reserved amount. An operation that is never sent stays reserved until it leaves the day.
 */
export function createCostWatch(): (ctx: WatchContext) => Promise<boolean> {
  return createWatch({
    name: 'sponsorships',
    retryMaxMs: RETRY_MAX_MS,
    select: ({ clock }, limit) => selectDueSponsorships(clock.now(), limit),
    read: toOpenSponsorship,
    look,
  });
}

async function look(ctx: WatchContext, one: OpenSponsorship, ends: ChainEnds): Promise<void> {
  const { clock, db } = ctx;
  const since = one.nextBlock ?? firstBlockOf(one.sponsoredAt, ends, clock.now());
  const pauseMs = Math.min(COST_PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, (clock.now() - one.sponsoredAt) / 4));
  const putOff = (nextBlock: number) => db.write(putOffLook(one, nextBlock, Math.round(clock.now() + pauseMs)));
  try {
    const query = { account: one.sender, nonce: BigInt(one.nonce), movement: undefined, since, hint: undefined };
    const { operation, spent, next } = await readOutcomeAt(ctx, query, ends);
    if (operation?.final) {
      await db.write(settleSponsorship(one, inGwei(await readCost(ctx, one, operation))));
      return;
    }
    // A search that found nothing continues where it stopped; once it is through, it begins again.
    await putOff(spent && next >= ends.head.number - FRESH_BLOCKS ? since : next);
  } catch (failure) {
    if (failure instanceof VaultError) await putOff(since);
    throw failure;
  }
}

/** The cost of an operation to its paymaster, in wei; 0 for one that its account paid itself. */
async function readCost(
  ctx: WatchContext,
  { sender, nonce }: OpenSponsorship,
  { txHash }: Pick<FoundOperation, 'txHash'>,
): Promise<bigint> {
  return agreed(ctx, 'payment', async (chain) => {
    const receipt = await readReceipt(chain, txHash);
    const entryPoint = entryPointOf(chain.config);
    const words = `0x${uint256Word(BigInt(nonce))}`;
    const event = receipt?.logs.find(
      ({ address, topics: [topic, , of], data }) =>
        address.toLowerCase() === entryPoint &&
        topic === USER_OPERATION_EVENT &&
        of === `0x${addressWord(sender)}` &&
        data.startsWith(words),
    );
    const [paymaster, cost] = [event?.topics[3], event?.data.slice(2 + 2 * 64, 2 + 3 * 64)];
    if (!paymaster || !/^[0-9a-f]{64}$/i.test(cost ?? '')) throw rpcError('a node answered another receipt');
    return BigInt(paymaster) === 0n ? 0n : BigInt(`0x${cost}`);
  });
}
