import type { Database, Result, Together } from './database.ts';

/** Statements as the engine takes them. */
export type Batch = Parameters<Database['batch']>[0];

/** As `Together`, with statements as the engine takes them. */
export type Kind<Item, Own> = Pick<Together<Item, Own>, 'keysOf' | 'split' | 'size'> & {
  statements(items: readonly Item[]): Batch;
};

/** Any kind of write, with its items. */
export type AnyKind = Kind<unknown, unknown>;

/** One caller's write. */
export interface AskedWrite {
  readonly kind: AnyKind;
  readonly item: unknown;
  /** How many statements it has alone. */
  readonly size: number;
}

/** The kind of statements that no other caller's join: the item is the batch. */
export const ALONE: Kind<Batch, readonly Result[]> = {
  size: 1,
  statements: (batches) => batches.flat(),
  keysOf: () => [],
  split: (results) => [results],
};

/** Writes with statements of their own, in one transaction with other parts. */
export interface Part<W extends AskedWrite> {
  readonly kind: AnyKind;
  readonly writes: W[];
}

/** A part that is being gathered, and the keys of its items. */
interface OpenPart<W extends AskedWrite> extends Part<W> {
  readonly keys: Set<string>;
}

/**
 * The writes of one commit by what is written together: each joins the newest part of its kind, or makes the next one
 * where they have a key in common. So of writes that share a key the earlier one comes first.
 */
export function partsOf<W extends AskedWrite>(writes: readonly W[]): readonly Part<W>[] {
  const parts: Part<W>[] = [];
  const newest = new Map<AnyKind, OpenPart<W>>();
  for (const write of writes) {
    const { kind, item } = write;
    if (kind === ALONE) {
      parts.push({ kind, writes: [write] });
      continue;
    }
    const keys = kind.keysOf(item);
    let part = newest.get(kind);
    if (!part || keys.some((key) => part?.keys.has(key))) {
      part = { kind, writes: [], keys: new Set() };
      newest.set(kind, part);
      parts.push(part);
    }
    part.writes.push(write);
    for (const key of keys) part.keys.add(key);
  }
  return parts;
}
