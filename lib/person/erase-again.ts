import { erasureDigest } from '../identity/erasure.ts';
import type { Platform } from '../platform.ts';
import { type Erasure, eraseFound } from './erase.ts';
import { IDENTIFYING_TABLES, keepErasure, selectErasuresAfter, selectIdentifiers } from './erase-store.ts';
import { findPerson } from './person.ts';

// A backup may be older than an erasure: its database is erased again before it is used.

type Ctx = Pick<Platform, 'config' | 'clock' | 'db'>;

/** Rows read at once. */
const READ_ROWS_MAX = 1_000;

/** The erasures that a database knows, and whether each is finished there. */
async function knownErasures({ db }: Pick<Ctx, 'db'>): Promise<ReadonlyMap<string, Erasure & { done: boolean }>> {
  const known = new Map<string, Erasure & { done: boolean }>();
  for (let after = ''; ; ) {
    const rows = await db.read(selectErasuresAfter(after, READ_ROWS_MAX));
    for (const row of rows) {
      const digest = String(row['digest']);
      known.set(digest, {
        digest,
        begunAt: Number(row['begun_at']),
        wasRegistered: Number(row['was_registered']) === 1,
        done: row['finished_at'] !== null,
      });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < READ_ROWS_MAX) return known;
    after = String(last['digest']);
  }
}

/**
 * Applies the erasures of a list that a database does not know to be finished. A finished one happened before the
 * backup, so a person who came back since then stays. Returns how many identifiers were erased.
 */
export async function eraseAgain(ctx: Ctx, list: ReadonlyMap<string, Erasure>): Promise<number> {
  const known = await knownErasures(ctx);
  const missing = [...list.values()].filter(({ digest, begunAt }) => {
    const own = known.get(digest);
    return own === undefined || !own.done || own.begunAt < begunAt;
  });
  const digests = new Set(missing.map(({ digest }) => digest));
  const found = new Set<string>();
  for (const table of digests.size > 0 ? IDENTIFYING_TABLES : []) {
    for (let after = ''; ; ) {
      const rows = await ctx.db.read(selectIdentifiers(table, after, READ_ROWS_MAX));
      const identifiers = rows.map((row) => String(row['identifier']));
      for (const one of identifiers) if (digests.has(erasureDigest(ctx.config.vaultSecret, one))) found.add(one);
      if (rows.length < READ_ROWS_MAX) break;
      after = identifiers.at(-1) ?? after;
    }
  }
  for (const identifier of found) {
    // Only the identifiers on the list: the backup may link the person to more than the erasure did.
    const person = await findPerson(ctx, identifier);
    await eraseFound(ctx, { ...person, identifiers: [identifier] });
  }
  // Where nothing was found, the erasure is over: a person who comes back from now on stays at the next restore.
  const foundDigests = new Set([...found].map((one) => erasureDigest(ctx.config.vaultSecret, one)));
  const now = ctx.clock.now();
  const notes = missing.map((one) => keepErasure({ ...one, finishedAt: foundDigests.has(one.digest) ? null : now }));
  for (let i = 0; i < notes.length; i += READ_ROWS_MAX) await ctx.db.write(...notes.slice(i, i + READ_ROWS_MAX));
  return found.size;
}
