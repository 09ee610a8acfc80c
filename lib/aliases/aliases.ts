import type { Clock } from '../base/clock.ts';
import { rpcError, VaultError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import { readFinalBlock } from '../chain/finality.ts';
import type { Platform } from '../platform.ts';
import { indexState } from './index-state.ts';
import { type AliasQuestion, isFinalAt, isSettledAt, readLedTo } from './node.ts';
import { selectIndexedAlias } from './store.ts';

export { INDEX_SILENT_MS, type IndexState, indexState, isFollowed } from './index-state.ts';
export { type AliasQuestion, ANOTHER_DID, readLedTo } from './node.ts';
export { ALIAS_LEADS_ELSEWHERE, ALIAS_LEADS_HERE, indexedDid } from './store.ts';

/** How long an answer of the node is used again; that an alias leads nowhere is asked each time. */
export const ALIAS_KEPT_MS = 10_000;
/** How long `findSoon` waits for the node, and how long it does not ask again once the node failed. */
export const ALIAS_PATIENCE_MS = 2_000;
export const ALIAS_OUTAGE_MS = 5_000;
const ALIASES_KEPT_MAX = 10_000;

/** Where an alias leads now: to no DID, to the DID of the question, or to another one. */
export type AliasLead = 'none' | 'own' | 'elsewhere';

/** An answer; `ledTo` is the argument of the SQL of `./store.ts`. */
export interface AliasAnswer {
  readonly lead: AliasLead;
  readonly ledTo: string;
}

/** The answer for an email address or a phone number: no chain decides about it. */
export const UNALIASED: AliasAnswer = { lead: 'none', ledTo: '' };

/** How a question is asked. */
export interface AliasOptions {
  /** Called before the node is asked: spends the client's request limit, and may throw its refusal. */
  readonly spend?: (() => void) | undefined;
}

/** Where aliases lead now on the chain. */
export interface Aliases {
  /** Throws 502 `rpc_error` when neither index nor node can answer. */
  find(question: AliasQuestion, options?: AliasOptions): Promise<AliasAnswer>;
  /** As `find`, but waits `ALIAS_PATIENCE_MS` at most; an alias that is still unknown then counts as none. */
  findSoon(question: AliasQuestion, options?: AliasOptions): Promise<AliasAnswer>;
  /**
   * For background work; `ledTo` is the DID hash here, `ANOTHER_DID` where the registry does not name it, '' for none.
   * `isFinal`: the alias leads there at the final block too, so no re-org changes it. Throws 502 `rpc_error`.
   */
  findFinal(question: AliasQuestion): Promise<AliasAnswer & { readonly isFinal: boolean }>;
}

/** The node's recent answers and outage; several `Aliases` may share them. */
export interface AliasFacts {
  readonly answers: Cache<string, { readonly ledTo: string; readonly until: number }>;
  /** Until then `findSoon` does without the node. */
  outageUntil: number;
}

/** No facts yet. */
export function createAliasFacts(): AliasFacts {
  return { answers: createCache(ALIASES_KEPT_MAX), outageUntil: 0 };
}

/** Aliases by the follower's index while it is current, else by the registry itself. */
export function createAliases(ctx: Pick<Platform, 'config' | 'clock' | 'db' | 'rpc'>, facts: AliasFacts): Aliases {
  const { config, clock, db } = ctx;
  let final = NOT_READ;

  async function find(question: AliasQuestion, options: AliasOptions, ask: typeof askNode): Promise<AliasAnswer> {
    if (config.didRegistryAddress === null) return UNALIASED;
    const indexed = await readIndexed(question.aliasHash);
    const { isCurrent } = indexed;
    // That an alias leads nowhere the index knows a poll later than the chain.
    if (isCurrent && indexed.didHash !== null) return answerOf(question, indexed.didHash, INDEX);
    try {
      const ledTo = await ask(question, options.spend);
      // If both know of no alias, the statement that writes looks at the index once more.
      return answerOf(question, ledTo, ledTo === '' && isCurrent ? INDEX : ledTo);
    } catch (error) {
      // An alias of an index that is behind is still the best evidence there is.
      if (isOutage(error) && (isCurrent || indexed.didHash !== null)) return answerOf(question, indexed.didHash, INDEX);
      throw error;
    }
  }

  async function readIndexed(aliasHash: string) {
    const [row = {}] = await db.read(selectIndexedAlias(aliasHash));
    const { isOurs, isCurrent } = indexState(config, row, clock.now());
    const didHash = isOurs && row['did_hash'] !== null ? String(row['did_hash']) : null;
    return { isCurrent, didHash, block: Number(row['alias_block']) };
  }

  async function askNode(question: AliasQuestion, spend: AliasOptions['spend']): Promise<string> {
    const registry = config.didRegistryAddress;
    if (registry === null) return '';
    const [alias, pair] = [question.aliasHash, `${question.aliasHash} ${question.didHash}`];
    const kept = facts.answers.get(alias) ?? facts.answers.get(pair);
    if (kept && clock.monotonic() < kept.until) return kept.ledTo;
    spend?.();
    const { ledTo, isNamed } = await readLedTo({ ...ctx, registry }, question);
    if (ledTo !== '') facts.answers.set(isNamed ? alias : pair, { ledTo, until: clock.monotonic() + ALIAS_KEPT_MS });
    return ledTo;
  }

  /** One reading for all questions of a moment: a final block stays final. */
  async function finalBlock(): Promise<number> {
    if (clock.monotonic() >= final.until)
      final = { until: clock.monotonic() + FINAL_KEPT_MS, block: readFinalBlock(ctx) };
    const { block } = final;
    return block.catch((error) => {
      final = NOT_READ;
      throw error;
    });
  }

  async function askSoon(question: AliasQuestion, spend: AliasOptions['spend']): Promise<string> {
    if (clock.monotonic() < facts.outageUntil) throw rpcError('the node failed a moment ago');
    try {
      return await within(clock, ALIAS_PATIENCE_MS, askNode(question, spend));
    } catch (error) {
      if (isOutage(error)) facts.outageUntil = clock.monotonic() + ALIAS_OUTAGE_MS;
      throw error;
    }
  }

  return {
    find: (question, options = {}) => find(question, options, askNode),
    async findSoon(question, options = {}) {
      return find(question, options, askSoon).catch((error) => {
        if (isOutage(error)) return UNALIASED;
        throw error;
      });
    },
    async findFinal(question) {
      const indexed = await readIndexed(question.aliasHash);
      const registry = config.didRegistryAddress;
      if (registry === null || (indexed.isCurrent && indexed.didHash === null)) return { ...UNALIASED, isFinal: false };
      if (indexed.isCurrent) {
        const block = await finalBlock();
        const isFinal = indexed.block <= block && (await isSettledAt({ ...ctx, registry }, question.aliasHash, block));
        return { ...answerOf(question, indexed.didHash, indexed.didHash ?? ''), isFinal };
      }
      const { ledTo } = await readLedTo({ ...ctx, registry }, question);
      const isFinal = ledTo !== '' && (await isFinalAt({ ...ctx, registry }, question, ledTo, await finalBlock()));
      return { ...answerOf(question, ledTo, ledTo), isFinal };
    },
  };
}

/** How long a final block is used again. */
const FINAL_KEPT_MS = 5_000;
const NOT_READ: { readonly until: number; readonly block: Promise<number> } = { until: 0, block: Promise.resolve(-1) };

/** The value of `ledTo` by which the statement reads the index itself. */
const INDEX = 'index';

function answerOf(question: AliasQuestion, didHash: string | null, ledTo: string): AliasAnswer {
  return { lead: leadOf(question, didHash), ledTo };
}

function leadOf({ didHash: own }: AliasQuestion, didHash: string | null): AliasLead {
  if (didHash === null || didHash === '') return 'none';
  return didHash === own ? 'own' : 'elsewhere';
}

function isOutage(error: unknown): boolean {
  return error instanceof VaultError && error.code === 'rpc_error';
}

/** The promise's value; rejects as a timeout after `ms`. */
async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => reject(rpcError(new UpstreamError('timeout'))));
  });
  return Promise.race([promise, late]).finally(cancel);
}
