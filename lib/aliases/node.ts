import { readBlockTime } from '../chain/blocks.ts';
import { readableBlock } from '../chain/finality.ts';
import { type RegistryAt, readAlias, readAliasEntry, readDidEntry, readSettledAt } from '../chain/registry-views.ts';
import type { ChainReader } from '../chain/rpc.ts';

/** An alias and the DID that claims it, by their hashes; without a DID, whether it leads to any. */
export interface AliasQuestion {
  readonly aliasHash: string;
  readonly didHash: string | null;
}

/** The value of `ledTo` for an alias of a DID that the registry does not name. */
export const ANOTHER_DID = 'another';

/** Where the registry's alias leads: a DID's hash, `ANOTHER_DID`, or '' for none. */
export interface LedTo {
  readonly ledTo: string;
  /** True of the alias by itself; else true of the question's DID only. */
  readonly isNamed: boolean;
  /** False where the registry gave no answer: then '' does not mean that there is no alias. */
  readonly isTold: boolean;
}

/**
 * Asks the registry: `aliases`, and where it has no such function, `resolveAlias` held against `resolve` of the DID.
 * Where neither names one, there is no alias. Throws 502 `rpc_error` when the node cannot be asked.
 */
export async function readLedTo(at: RegistryAt, { aliasHash, didHash }: AliasQuestion): Promise<LedTo> {
  const named = await readAlias(at, aliasHash);
  if (named !== undefined) return { ledTo: named ?? '', isNamed: true, isTold: true };
  const [entry, own] = await Promise.all([
    readAliasEntry(at, aliasHash),
    didHash === null ? undefined : readDidEntry(at, didHash),
  ]);
  if (!entry) return { ledTo: '', isNamed: false, isTold: entry === null };
  const ledTo = didHash !== null && own?.bytes === entry.bytes ? didHash : ANOTHER_DID;
  return { ledTo, isNamed: false, isTold: true };
}

/** Whether the alias led to the same at the final block, where nothing can take it any more. Throws 502 `rpc_error`. */
export async function isFinalAt(
  chain: ChainReader & Pick<RegistryAt, 'registry'>,
  question: AliasQuestion,
  ledTo: string,
  finalBlock: number,
): Promise<boolean> {
  const block = await readableBlock(chain, chain.registry, finalBlock);
  if (block < 0 || (await readLedTo({ ...chain, block }, question)).ledTo !== ledTo) return false;
  return isSettledAt(chain, question.aliasHash, block);
}

/**
 * Whether the block is past the time in which an older claim may take the alias, which the second registry allows.
 * Throws 502 `rpc_error`.
 */
export async function isSettledAt(
  chain: ChainReader & Pick<RegistryAt, 'registry'>,
  aliasHash: string,
  block: number,
): Promise<boolean> {
  const settledAt = await readSettledAt(chain, aliasHash);
  return settledAt === undefined || (await readBlockTime(chain, block)) >= settledAt;
}
