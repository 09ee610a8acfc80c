import { SQL_TEXTS_MAX } from '../../lib/constants.ts';
import type { Result, Value } from '../../lib/db/database.ts';
import type { BoundStatement } from './statements.ts';

/** What the writer does with statements: one by itself, or all in one transaction. */
export type WriterTask = 'execute' | 'batch';

/** An order as it crosses between the threads, in JSON: a text costs a third of what the same objects cost. */
interface Order {
  readonly id: number;
  readonly task: WriterTask;
  /** Every known text is forgotten first. */
  readonly forget: boolean;
  /** Texts that have not crossed before, under new numbers. */
  readonly texts: readonly NumberedText[];
  /** The number of a text, then its arguments in the order of its names. */
  readonly calls: readonly (readonly [number, ...Crossing[]])[];
}

/** A text with the names of its arguments. */
interface NumberedText {
  readonly number: number;
  readonly sql: string;
  readonly names: readonly string[];
}

/** A value in JSON: a number is an exact integer, an object the text of any other number. */
type Crossing = null | string | number | { readonly integer: string } | { readonly real: string };

/** Writes an order. Throws a `TypeError` for an argument that no column can store; nothing has crossed then. */
export type WriteOrder = (id: number, task: WriterTask, statements: readonly BoundStatement[]) => string;

/** Writes orders in which each text crosses once. */
export function createOrders(): WriteOrder {
  const known = new Map<string, NumberedText[]>();
  let last = 0;
  let forget = false;

  function forgetAll(): void {
    known.clear();
    forget = true;
  }

  /** The text with the names of these arguments: it may come again with others, or in another order. */
  function numbered({ sql, args }: BoundStatement, texts: NumberedText[]): NumberedText {
    const variants = known.get(sql);
    const found = variants?.find(({ names }) => hasNames(args, names));
    if (found) return found;
    const text = { number: ++last, sql, names: Object.keys(args) };
    texts.push(text);
    known.set(sql, [...(variants ?? []), text]);
    return text;
  }

  return (id, task, statements) => {
    if (known.size >= SQL_TEXTS_MAX) forgetAll();
    const texts: NumberedText[] = [];
    try {
      const calls = statements.map((statement): Order['calls'][number] => {
        const { number, names } = numbered(statement, texts);
        const call: [number, ...Crossing[]] = [number];
        for (const name of names) call.push(toCrossing(name, statement.args[name]));
        return call;
      });
      const order: Order = { id, task, forget, texts, calls };
      forget = false;
      return JSON.stringify(order);
    } catch (error) {
      // What has not crossed is not known over there.
      forgetAll();
      throw error;
    }
  };
}

function hasNames(args: BoundStatement['args'], names: readonly string[]): boolean {
  let i = 0;
  for (const name in args) if (names[i++] !== name) return false;
  return i === names.length;
}

function toCrossing(name: string, value: unknown): Crossing {
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

/** An order as the writer reads it. */
export interface ReadOrder {
  readonly id: number;
  readonly task: WriterTask;
  readonly statements: BoundStatement[];
}

/** Reads orders, and keeps their texts. */
export function createOrderReader(): (order: string) => ReadOrder {
  const known = new Map<number, NumberedText>();
  return (json) => {
    const { id, task, forget, texts, calls } = JSON.parse(json) as Order;
    if (forget) known.clear();
    for (const text of texts) known.set(text.number, text);
    const statements = calls.map(([number, ...values]) => {
      const text = known.get(number);
      if (text === undefined) throw new Error(`the writer was never given the text ${number}`);
      const args: Record<string, Value> = {};
      for (let i = 0; i < values.length; i++) args[text.names[i] as string] = fromCrossing(values[i] as Crossing);
      return { sql: text.sql, args };
    });
    return { id, task, statements };
  };
}

/** What became of an order. */
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
  if (!(error instanceof Error)) return { name: 'Error', message: 'a thrown value that is no error' };
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
