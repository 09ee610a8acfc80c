/** Which block a resolution reads: the newest, one by its number, or the newest at or before a time. */
import { rpcError } from '../base/error.ts';
import { readTimedBlock, type TimedBlock } from '../chain/blocks.ts';
import { agreed, readCommonFinal, readCommonHead } from '../chain/witness.ts';
import type { Platform } from '../platform.ts';
import { ResolutionError } from './fault.ts';

/** The options of a resolution that name a state of the chain. */
export interface Version {
  readonly versionId?: string | undefined;
  readonly versionTime?: string | undefined;
}

/** Headers of final blocks by number, which never change; shared over isolated requests. */
export interface ResolutionFacts {
  readonly headers: Map<number, TimedBlock>;
}

/** The block that is read. */
export interface ChosenBlock extends TimedBlock {
  /** It was asked for, and neither it nor the one behind it can be replaced. */
  readonly isFinal: boolean;
  readonly isPinned: boolean;
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'rpc' | 'witness' | 'log' | 'metrics'> & {
  readonly resolutionFacts: ResolutionFacts;
};

/** Headers that are kept, and the most that one search reads. */
const HEADERS_MAX = 10_000;
export const HEADER_READS_MAX = 40;
/** So many places of a search are guessed by the time that blocks take; the rest halve what is left. */
const GUESSES = 8;

/** No headers yet. */
export function createResolutionFacts(): ResolutionFacts {
  return { headers: new Map() };
}

/** Throws `ResolutionError` `INVALID_OPTIONS` where an option has another form, or where both are given. */
export function checkVersion({ versionId, versionTime }: Version): void {
  if (versionId !== undefined && versionTime !== undefined)
    throw new ResolutionError('INVALID_OPTIONS', 'Give versionId or versionTime, not both.');
  if (versionId !== undefined && !/^(?:0|[1-9]\d{0,14})$/.test(versionId))
    throw new ResolutionError('INVALID_OPTIONS', 'versionId is the number of a block: decimal, no leading zeros.');
  if (versionTime !== undefined && !isTime(versionTime))
    throw new ResolutionError(
      'INVALID_OPTIONS',
      'versionTime is a time such as 2026-11-23T08:00:00Z: UTC, no fraction.',
    );
}

/**
 * The block of a checked version, as both nodes have it. Throws `ResolutionError` for one that is not there, and 502
 * `rpc_error`.
 */
export async function chooseBlock(ctx: Ctx, { versionId, versionTime }: Version): Promise<ChosenBlock> {
  const head = await readCommonHead(ctx);
  if (versionId === undefined && versionTime === undefined)
    return { ...(await readHeader(ctx, head)), isFinal: false, isPinned: false };
  const final = await readCommonFinal(ctx);
  const read = (number: number) => keptHeader(ctx, number, final);
  if (Number(versionId) > head) throw new ResolutionError('INVALID_OPTIONS', `The newest block is ${head}.`);
  const found =
    versionTime === undefined
      ? await read(Number(versionId))
      : await findByTime(read, head, Date.parse(versionTime) / 1000);
  return { ...found, isFinal: found.number < final, isPinned: true };
}

function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false;
  const time = Date.parse(text);
  // The 30th of February would be a day in March.
  return !Number.isNaN(time) && new Date(time).toISOString().replace('.000', '') === text;
}

function readHeader(ctx: Ctx, number: number): Promise<TimedBlock> {
  return agreed(ctx, 'chain', (chain) => readTimedBlock(chain, number));
}

async function keptHeader(ctx: Ctx, number: number, final: number): Promise<TimedBlock> {
  const { headers } = ctx.resolutionFacts;
  const kept = headers.get(number);
  if (kept) return kept;
  const header = await readHeader(ctx, number);
  if (number < final) {
    headers.set(number, header);
    if (headers.size > HEADERS_MAX) headers.delete(headers.keys().next().value as number);
  }
  return header;
}

/** The newest block at or before a time in seconds. */
async function findByTime(
  read: (number: number) => Promise<TimedBlock>,
  head: number,
  time: number,
): Promise<TimedBlock> {
  let high = await read(head);
  if (time > high.time)
    throw new ResolutionError(
      'INVALID_OPTIONS',
      'The newest block is older than that: ask again once there is a newer one.',
    );
  if (time === high.time) return high;
  let low = await read(0);
  if (time < low.time) throw new ResolutionError('NOT_FOUND', 'The chain is younger than that.');
  for (let reads = 2; high.number - low.number > 1; reads++) {
    if (reads === HEADER_READS_MAX) throw rpcError('a node’s blocks are in no order of time');
    const middle = await read(reads < 2 + GUESSES ? guess(low, high, time) : (low.number + high.number) >>> 1);
    if (middle.time <= time) low = middle;
    else high = middle;
  }
  return low;
}

/** Where the block of a time is between two others if all take as long; neither of the two. */
function guess(low: TimedBlock, high: TimedBlock, time: number): number {
  const share = (time - low.time) / (high.time - low.time);
  const at = low.number + Math.floor(share * (high.number - low.number));
  return Math.min(Math.max(at, low.number + 1), high.number - 1);
}
