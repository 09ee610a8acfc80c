import { isoTime } from '../base/clock.ts';
import { badRequest } from '../base/error.ts';
import type { Row } from '../db/database.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { argsOf, findPerson, type Person } from './person.ts';
import { type PersonArgs, personal, selectOfPerson, selectOfStep, selectStepEnd } from './store.ts';
import { type PersonalTable, TABLES } from './table-store.ts';

/** Rows of a step of a table that is searched from end to end, and of a page of one that is not. */
export const SCAN_ROWS_MAX = 2_000;
export const PERSON_ROWS_MAX = 200;
/** Steps of one call, so that its cost does not grow with the tables. */
const STEPS_MAX = 40;

/** The tables with rows of persons, in the order of the export. */
export const PERSONAL_TABLES: readonly string[] = Object.keys(TABLES).filter(
  (name) => !('none' in (TABLES[name] ?? {})),
);

/** Rows of one table, whole except for secrets. */
export interface RowsOfPerson extends Pick<PersonalTable, 'about' | 'kept' | 'erasure' | 'why'> {
  readonly table: string;
  readonly rows: readonly Readonly<Record<string, string | number | null>>[];
}

/** A part of the stored data of a person; `next` continues it, null at the end. */
export interface PersonPage extends Person {
  readonly tables: readonly RowsOfPerson[];
  readonly next: string | null;
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'db'>;

/**
 * Reads the stored data of a person, from the position `after`. The first part emits an event that names nobody. Throws
 * 400 for an identifier or an `after` in the wrong form.
 */
export async function readPerson(
  ctx: Ctx,
  identifier: string,
  why: 'shown' | 'exported',
  after?: string | undefined,
): Promise<PersonPage> {
  let place: Place | undefined =
    after === undefined ? { table: PERSONAL_TABLES[0] ?? '', position: '' } : placeOf(after);
  const person = await findPerson(ctx, identifier);
  if (after === undefined) {
    const told = { identifiers: person.identifiers.length, dids: person.dids.length };
    await ctx.db.write(emitEvent(eventOf(`person.${why}`, { app: DEFAULT_APP, at: ctx.clock.now() }, told)));
  }
  const args = argsOf(ctx, person);
  const found = new Map<string, Row[]>();
  for (let steps = 0, rows = 0; place && steps < STEPS_MAX && rows < PERSON_ROWS_MAX; steps++) {
    const step: Step = await readStep(ctx, args, place);
    if (step.rows.length > 0) found.set(place.table, [...(found.get(place.table) ?? []), ...step.rows]);
    rows += step.rows.length;
    place = step.next;
  }
  const tables = Array.from(found, ([table, rows]) => {
    const { about, kept, erasure, why: reason } = personal(table);
    const rest = { kept: keptInForce(kept, ctx.config), erasure, why: reason };
    return { table, about, ...rest, rows: rows.map((row) => withoutSecrets(table, row)) };
  });
  return { ...person, tables, next: place ? `${place.table}:${place.position}` : null };
}

/** For how long rows are kept, with the times of the settings that it names. */
function keptInForce(kept: string, config: Platform['config']): string {
  const seconds: Readonly<Record<string, number>> = {
    KEEP_EVENTS_DAYS: config.keepEventsDays * DAY_S,
    KEEP_SIGNINS_DAYS: config.keepSigninsDays * DAY_S,
    KEEP_VERIFICATIONS_DAYS: config.keepVerificationsDays * DAY_S,
    KEEP_IPS_DAYS: config.keepIpsDays * DAY_S,
    SESSION_TTL_SECONDS: config.sessionTtlSeconds,
  };
  return kept.replace(/(for good, or |for )?`(\w+)`/g, (_, before = '', name) => {
    const time = seconds[name] ?? 0;
    // Of sign-ins 0 keeps none.
    if (time === 0 && name !== 'KEEP_SIGNINS_DAYS') return 'for good';
    return `${before === 'for ' ? before : ''}${inUnits(time)}`;
  });
}

/** Seconds in the largest unit that gives a whole number, as in `15 minutes`. */
function inUnits(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds % size === 0) ?? [1, 'second'];
  return `${seconds / size} ${unit}${seconds === size ? '' : 's'}`;
}

const DAY_S = 86_400;
const UNITS = [
  [DAY_S, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const;

/** A row for people: names in words, times in ISO 8601, without empty values. */
export function inWords(row: Readonly<Record<string, string | number | null>>): Record<string, string> {
  const cells = Object.entries(row).filter(([, value]) => value !== null && value !== '');
  return Object.fromEntries(
    cells.map(([name, value]) => [name.replaceAll('_', ' '), textOf(value as string | number)]),
  );
}

/** Times are the only numbers as large as milliseconds since 1970. */
function textOf(value: string | number): string {
  return typeof value === 'number' && value > MILLISECONDS_MIN ? isoTime(value) : String(value);
}

const MILLISECONDS_MIN = 1e12;

/** Where a reading continues: behind a key of a table that is searched, or a number of rows of another. */
interface Place {
  readonly table: string;
  readonly position: string;
}

interface Step {
  readonly rows: readonly Row[];
  readonly next: Place | undefined;
}

async function readStep({ db }: Pick<Ctx, 'db'>, args: PersonArgs, { table, position }: Place): Promise<Step> {
  if (personal(table).scan) {
    const [end] = await db.read(selectStepEnd(table, position, SCAN_ROWS_MAX));
    const last = end === undefined ? undefined : String(end['last']);
    const rows = await db.read(selectOfStep(table, args, position, last));
    return { rows, next: last === undefined ? behind(table) : { table, position: last } };
  }
  const offset = Number(position || 0);
  const rows = await db.read(selectOfPerson(table, args, offset, PERSON_ROWS_MAX));
  const isLast = rows.length < PERSON_ROWS_MAX;
  return { rows, next: isLast ? behind(table) : { table, position: String(offset + rows.length) } };
}

function behind(table: string): Place | undefined {
  const next = PERSONAL_TABLES[PERSONAL_TABLES.indexOf(table) + 1];
  return next === undefined ? undefined : { table: next, position: '' };
}

function placeOf(after: string): Place {
  const [, table = '', position = ''] = /^([a-z_]+):([\w-]{0,128})$/.exec(after) ?? [];
  const isNumber = !PERSONAL_TABLES.includes(table) || personal(table).scan !== 'text';
  if (!PERSONAL_TABLES.includes(table) || (isNumber && !/^\d{0,15}$/.test(position))) throw badRequest('Invalid after');
  return { table, position };
}

/** Secrets that let somebody in while they are good: they say nothing about the person. */
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  codes: ['id', 'digest', 'pass'],
  invites: ['digest'],
  authorization_codes: ['proof', 'code', 'challenge'],
  joins: ['id'],
  idempotency: ['key', 'request', 'owner'],
};

function withoutSecrets(table: string, row: Row): Record<string, string | number | null> {
  const secrets = SECRETS[table] ?? [];
  const cells = Object.entries(row).filter(([name]) => !secrets.includes(name));
  return Object.fromEntries(cells.map(([name, value]) => [name, name === 'body' ? unsigned(value) : plain(value)]));
}

/** A kept reply may hold an attestation that is still good. */
function unsigned(body: unknown): string {
  return String(body).replace(/("signature"\s*:\s*)"[^"]*"/g, '$1"…"');
}

function plain(value: unknown): string | number | null {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' || value === null ? value : String(value);
}
