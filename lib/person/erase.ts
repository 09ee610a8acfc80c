import { VaultError } from '../base/error.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';
import { type Fence, fencesHeld, withRow } from '../db/row-lock.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { erasureDigest } from '../identity/erasure.ts';
import type { Platform } from '../platform.ts';
import {
  beginErasure,
  countOf,
  EMPTY_LOG,
  eraseRows,
  finishErasure,
  selectEarliest,
  selectErasures,
  selectWaiting,
  unlinkRegistrations,
} from './erase-store.ts';
import { argsOf, findPerson, type Person } from './person.ts';
import { PERSONAL_TABLES, SCAN_ROWS_MAX } from './read.ts';
import { type PersonArgs, personal, selectStepEnd } from './store.ts';
import type { PersonalTable } from './table-store.ts';

// An erasure notes the person, empties the tables step by step, and takes the identifiers out of the live registrations
// last, in one commit with its event. Until then the person is found as before, so an erasure that died can be asked
// for again.

/** An erasure for the list outside the database, which a restore applies again. */
export interface Erasure {
  readonly digest: string;
  /** Milliseconds. */
  readonly begunAt: number;
  readonly wasRegistered: boolean;
}

/** Keeps erasures outside the database. */
export type KeepErasures = (erasures: readonly Erasure[]) => Promise<void>;

/** A person's rows in a table, and their erasure. */
export interface ErasedTable extends Pick<PersonalTable, 'about' | 'erasure' | 'why'> {
  readonly table: string;
  readonly rows: number;
}

/** The result of an erasure, done or planned. */
export interface ErasureReport extends Person {
  readonly erased: boolean;
  readonly tables: readonly ErasedTable[];
  /** Rows that keep an address while a recovery of an account is not over. */
  readonly waiting: number;
  /** Whether the log of the database was emptied; false where that is not the vault's to do, or a reader was in it. */
  readonly logEmptied: boolean;
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'db'> & { readonly keepErasures?: KeepErasures | undefined };

/** Plans an erasure without changing anything. Throws 400 for an invalid identifier. */
export async function planErasure(ctx: Ctx, identifier: string): Promise<ErasureReport> {
  const person = await findPerson(ctx, identifier);
  const args = argsOf(ctx, person);
  const waiting = Number((await ctx.db.read(selectWaiting(args)))[0]?.['waiting'] ?? 0);
  return { ...person, erased: false, tables: await countTables(ctx, args), waiting, logEmptied: false };
}

/**
 * Erases a person: nothing in the database leads to the identifiers any more, except digests under the vault's secret.
 * Changes nothing the second time. Throws 400 for an invalid identifier, 503 `identifier_busy` while it is registered.
 */
export async function erasePerson(ctx: Ctx, identifier: string): Promise<ErasureReport> {
  return eraseFound(ctx, await findPerson(ctx, identifier));
}

/** Erases the persons whose identifiers are on a list. */
export async function eraseFound(ctx: Ctx, person: Person): Promise<ErasureReport> {
  const { db, clock } = ctx;
  const args = argsOf(ctx, person);
  const tables = await countTables(ctx, args);
  const digests = person.identifiers.map((key) => [erasureDigest(ctx.config.vaultSecret, key), key] as const);
  await db.write(...digests.map(([digest, key]) => beginErasure(digest, key, clock.now())));
  await ctx.keepErasures?.(
    await readErasures(
      ctx,
      digests.map(([digest]) => digest),
    ),
  );
  let rows = await eraseTables(ctx, args);
  const waiting = await withRows(ctx, [...person.identifiers].sort(), async (fences) => {
    // Rows that were added meanwhile; no search of a whole table while a lock is held.
    rows += await eraseTables(ctx, args, (table) => personal(table).scan === undefined);
    const left = Number((await db.read(selectWaiting(args)))[0]?.['waiting'] ?? 0);
    rows += await finish(ctx, digests, fences, { rows, left });
    return left;
  });
  // The locks named the identifiers.
  await eraseTable(ctx, 'identifier_rows', args);
  return { ...person, erased: true, tables, waiting, logEmptied: await emptyLog(ctx) };
}

/** The erasures of these digests, as they are kept outside the database. */
export async function readErasures({ db }: Pick<Ctx, 'db'>, digests: readonly string[]): Promise<readonly Erasure[]> {
  return (await db.read(selectErasures(digests))).map((row) => ({
    digest: String(row['digest']),
    begunAt: Number(row['begun_at']),
    wasRegistered: Number(row['was_registered']) === 1,
  }));
}

/** Works under the locks of all identifiers, taken in their order, so that nobody registers one of them meanwhile. */
async function withRows<T>(
  ctx: Ctx,
  keys: readonly string[],
  work: (fences: readonly Fence[]) => Promise<T>,
  fences: readonly Fence[] = [],
): Promise<T> {
  const [key, ...others] = keys;
  if (key === undefined) return work(fences);
  return withRow(ctx, key, (fence) => withRows(ctx, others, work, [...fences, fence]));
}

/**
 * The last commit; the number of rows that it changed. Throws 503 `identifier_busy` where a lock was lost: then nothing
 * is unlinked, and no event says so.
 */
async function finish(
  { db, clock }: Ctx,
  digests: readonly (readonly [string, string])[],
  fences: readonly Fence[],
  { rows, left }: { readonly rows: number; readonly left: number },
): Promise<number> {
  const now = clock.now();
  const held = fencesHeld(fences, now);
  const unlinks: Statement[] = [];
  for (const [, identifier] of digests) {
    const [earliest] = await db.read(selectEarliest(identifier));
    const id = earliest?.['id'] === null ? null : Number(earliest?.['id']);
    unlinks.push(...unlinkRegistrations(identifier, id, held));
  }
  const begins = digests.map(([digest, identifier]) => beginErasure(digest, identifier, now));
  const ends = left === 0 ? digests.map(([digest]) => finishErasure(digest, now, held)) : [];
  const told = { identifiers: digests.length, rows, waiting: left };
  const event = emitEvent(eventOf('person.erased', { app: DEFAULT_APP, at: now }, told), { when: held });
  const results = await db.write(...begins, ...unlinks, ...ends, event);
  if (results.at(-1)?.rowsAffected === 0) throw new VaultError('identifier_busy', { retryAfterSeconds: 1 });
  const unlinked = results.slice(begins.length, begins.length + unlinks.length);
  return unlinked.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
}

async function countTables(ctx: Ctx, args: PersonArgs): Promise<readonly ErasedTable[]> {
  const found: ErasedTable[] = [];
  for (const table of PERSONAL_TABLES) {
    const { about, erasure, why } = personal(table);
    let rows = 0;
    for await (const step of stepsOf(ctx, table)) {
      const [counted] = await ctx.db.read(countOf(table, { args, ...step }));
      rows += Number(counted?.['rows'] ?? 0);
    }
    if (rows > 0) found.push({ table, about, erasure, why, rows });
  }
  return found;
}

async function eraseTables(ctx: Ctx, args: PersonArgs, isMeant = (_table: string) => true): Promise<number> {
  let rows = 0;
  const tables = PERSONAL_TABLES.filter((table) => table !== 'identifier_rows' && isMeant(table));
  for (const table of tables) rows += await eraseTable(ctx, table, args);
  return rows;
}

async function eraseTable(ctx: Ctx, table: string, args: PersonArgs): Promise<number> {
  let rows = 0;
  for await (const step of stepsOf(ctx, table)) {
    for (let more = true; more; ) {
      const statements = eraseRows(table, { args, now: ctx.clock.now(), ...step });
      if (statements.length === 0) return rows;
      const results = await ctx.db.write(...statements);
      const changed = results.map(({ rowsAffected }) => rowsAffected);
      rows += changed.reduce((sum, count) => sum + count, 0);
      more = personal(table).scan === undefined && changed.some((count) => count >= SWEEP_ROWS_MAX);
    }
  }
  return rows;
}

/** The steps of a table that is searched; one of nothing where an index leads to the rows. */
async function* stepsOf({ db }: Ctx, table: string): AsyncGenerator<{ after?: string; last?: string | undefined }> {
  if (personal(table).scan === undefined) return yield {};
  for (let after = ''; ; ) {
    const [end] = await db.read(selectStepEnd(table, after, SCAN_ROWS_MAX));
    const last = end === undefined ? undefined : String(end['last']);
    yield { after, last };
    if (last === undefined) return;
    after = last;
  }
}

/**
 * Empties the log, which holds pages as they were: of a file, where no other program does it. A reader that is in it
 * keeps it; SQLite waits a moment at each try.
 */
export async function emptyLog({ db, config }: Pick<Ctx, 'db' | 'config'>): Promise<boolean> {
  if (!/^file:/i.test(config.databaseUrl) || config.databaseCheckpoint === 'external') return false;
  for (let tries = 0; tries < LOG_TRIES_MAX; tries++) {
    const [row] = await db.read(EMPTY_LOG).catch(() => []);
    if (Number(row?.['busy'] ?? 1) === 0) return true;
  }
  return false;
}

const LOG_TRIES_MAX = 10;
