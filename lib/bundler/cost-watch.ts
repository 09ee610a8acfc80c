import { USER_OPERATION_EVENT } from '../../client/operations.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { rpcError, VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { addressWord, uint256Word } from '../chain/contract-call.ts';
import { entryPointOf, FRESH_BLOCKS } from '../chain/entry-point.ts';
import { readReceipt } from '../chain/receipts.ts';
import { agreed } from '../chain/witness.ts';
import { inGwei } from '../limits/gwei.ts';
import {
  type ChainEnds,
  type FoundOperation,
  firstBlockOf,
  type OutcomeContext,
  readEnds,
  readOutcomeAt,
} from '../payments/outcome.ts';
import type { Platform } from '../platform.ts';
import {
  type OpenSponsorship,
  putOffLook,
  selectDueSponsorships,
  settleSponsorship,
  toOpenSponsorship,
} from './store.ts';

/** How long one process looks before it takes the lease again. It saves work, and is not what makes it safe. */
const COSTS_LEASE_MS = 5_000;
/** The nonces that one turn looks at. */
const COSTS_MAX = 50;
/** The pauses between two looks at a nonce, which grow with its age; and the longest after a node's failure. */
const PAUSE_MIN_MS = MINUTE_MS;
export const COST_PAUSE_MAX_MS = 60 * MINUTE_MS;
const RETRY_MAX_MS = 5 * MINUTE_MS;

type Ctx = OutcomeContext & Pick<Platform, 'leases'>;

/**
 * A background task: looks at sponsored nonces until a final block shows what their operation cost, and puts that in
 * the place of what is reserved. What is never sent stays reserved until it leaves the day.
 */
export function createCostWatch(): (ctx: Ctx) => Promise<boolean> {
  let failures = 0;
  let dueAt = 0;
  return async (ctx) => {
    const { config, clock, db, leases, log } = ctx;
    if (clock.monotonic() < dueAt || config.entryPointAddress === null) return false;
    const rows = await db.read(selectDueSponsorships(clock.now(), COSTS_MAX));
    if (rows.length === 0 || !(await leases.take('sponsorships', COSTS_LEASE_MS))) return false;
    try {
      await lookAt(ctx, rows.map(toOpenSponsorship));
      failures = 0;
      return rows.length === COSTS_MAX;
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      log({ level: 'debug', event: 'sponsorships_interrupted', ...describeError(error) });
      dueAt = clock.monotonic() + Math.min(RETRY_MAX_MS, 1000 * 2 ** failures++);
      return false;
    }
  };
}

/** One that cannot be judged now holds up no other. */
async function lookAt(ctx: Ctx, sponsorships: readonly OpenSponsorship[]): Promise<void> {
  const ends = await readEnds(ctx);
  const looks = await Promise.allSettled(sponsorships.map((one) => look(ctx, one, ends)));
  const failure = worstFailure(looks);
  if (failure && !(failure instanceof VaultError)) throw failure;
}

async function look(ctx: Ctx, one: OpenSponsorship, ends: ChainEnds): Promise<void> {
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
    // A search that found nothing goes on where it stopped, once it is through from where it began.
    await putOff(spent && next >= ends.head.number - FRESH_BLOCKS ? since : next);
  } catch (failure) {
    if (failure instanceof VaultError) await putOff(since);
    throw failure;
  }
}

/** What an operation cost its paymaster, in wei; 0 for one that its account paid itself. */
async function readCost(
  ctx: Ctx,
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
