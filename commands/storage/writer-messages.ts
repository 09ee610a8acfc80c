import type { Result, Value } from '../../lib/db/database.ts';
import type { BoundStatement } from './statements.ts';

/** The writer's task: to run one statement by itself, or all in one transaction. */
export type WriterTask = 'execute' | 'batch';

/**
 * An order on its way between the threads, in JSON: a text costs a third of the same objects. `texts` holds each text
 * of SQL once, with the names of its arguments, and a statement its place there and the values: the writes of many
 * callers share a few texts, of kilobytes each.
 */
interface Order {
  readonly id: number;
  readonly task: WriterTask;
  readonly texts: readonly Text[];
  readonly statements: readonly (readonly [place: number, values: readonly Crossing[]])[];
}

interface Text {
  readonly sql: string;
  readonly names: readonly string[];
}

/** A value in JSON: a number is an exact integer, an object the text of any other number. */
type Crossing = null | string | number | { readonly integer: string } | { readonly real: string };

/** Writes an order. Throws a `TypeError` for an argument that no column can store. */
export function writeOrder(id: number, task: WriterTask, statements: readonly BoundStatement[]): string {
  const places = new Map<string, number>();
  const texts: Text[] = [];
  const crossing = statements.map(({ sql, args }) => {
    const given = Object.keys(args);
    let place = places.get(sql);
    // The engine refuses a text that comes with another number of arguments.
    if (place === undefined || texts[place]?.names.length !== given.length) {
      place = texts.push({ sql, names: given }) - 1;
      places.set(sql, place);
    }
    const values = (texts[place] as Text).names.map((name) => toCrossing(args[name], name));
    return [place, values] as const;
  });
  const order: Order = { id, task, texts, statements: crossing };
  return JSON.stringify(order);
}

/** An order as the writer reads it. */
export interface ReadOrder {
  readonly id: number;
  readonly task: WriterTask;
  readonly statements: BoundStatement[];
}

/** Reads an order. */
export function readOrder(json: string): ReadOrder {
  const { id, task, texts, statements } = JSON.parse(json) as Order;
  const read = statements.map(([place, values]) => {
    const { sql, names } = texts[place] as Text;
    const args: Record<string, Value> = {};
    for (let i = 0; i < names.length; i++) args[names[i] as string] = fromCrossing(values[i] as Crossing);
    return { sql, args };
  });
  return { id, task, statements: read };
}

function toCrossing(value: unknown, name: string): Crossing {
  if (typeof value === 'string' || value === null) return value;
  if (typeof value === 'bigint')
    return Number.MIN_SAFE_INTEGER <= value && value <= Number.MAX_SAFE_INTEGER
      ? Number(value)
      : { integer: String(value) };
  if (typeof value === 'number') return { real: Object.is(value, -0) ? '-0' : String(value) };
  throw new TypeError(`:${name} is not a value that a column can store`);
}

function fromCrossing(value: Crossing): Value {
  if (typeof value === 'number') return BigInt(value);
  if (value === null || typeof value === 'string') return value;
  return 'integer' in value ? BigInt(value.integer) : Number(value.real);
}

/** The outcome of an order. */
export type WriterOutcome = { readonly results: Result[] } | { readonly failure: Failure };

/** An error as it crosses: its class would be lost, and with it what callers decide by. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly errno?: number;
  readonly statementIndex?: number;
}

/** An answer to the order with this id: as JSON wherever that keeps every value. */
export function toAnswer(id: number, outcome: WriterOutcome): string | [number, WriterOutcome] {
  const isPlain = 'failure' in outcome || outcome.results.every(({ rows }) => rows.every(isPlainRow));
  return isPlain ? JSON.stringify([id, outcome]) : [id, outcome];
}

/** Reads an answer. */
export function fromAnswer(answer: string | [number, WriterOutcome]): [number, WriterOutcome] {
  return typeof answer === 'string' ? JSON.parse(answer) : answer;
}

function isPlainRow(row: Readonly<Record<string, unknown>>): boolean {
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'number' ? !Number.isFinite(value) || Object.is(value, -0) : typeof value === 'object')
      if (value !== null) return false;
  }
  return true;
}

/** An error in plain values. */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: 'a thrown value that is not an error' };
  const { code, errno, statementIndex } = error as Error & Partial<Failure>;
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof errno === 'number' ? { errno } : {}),
    ...(typeof statementIndex === 'number' ? { statementIndex } : {}),
  };
}

/** The error on this side: of the same class, where callers ask for it. */
export function fromFailure({ name, message, ...members }: Failure): Error {
  const error = name === 'RangeError' ? new RangeError(message) : new Error(message);
  if (error.name !== name) error.name = name;
  return Object.assign(error, members);
}
