import type { Log } from '../../../lib/base/log.ts';
import type { Config } from '../../../lib/config/config.ts';
import { type Context, createContext } from '../../../lib/context.ts';
import type { Database } from '../../../lib/db/database.ts';
import type { Env } from '../../../lib/env.ts';
import { createRouter } from '../../../routes/http/router.ts';
import { ROUTES } from '../../../routes/index.ts';
import { openDraw } from '../draw.ts';
import { SEED } from '../seed.ts';
import { timedBy } from '../vault.ts';
import type { KeptDatabase } from './kept-database.ts';
import type { RememberedChain } from './remembered-chain.ts';
import type { Stage } from './stage.ts';

/** What each order begins with. */
export interface World {
  readonly config: Config;
  readonly database: KeptDatabase;
  readonly chain: RememberedChain;
  readonly startMs: number;
  /** The files that its settings name. */
  readonly operatorFiles?: Env['operatorFiles'];
}

/** What is taken away from the product, to see that the orders find it. */
export interface Plant {
  /** Changes the text of each statement that has the one; a statement's parameters stay. */
  readonly edits?: readonly { readonly find: string; readonly replace: string }[];
  /** The statements of one write are no transaction: others come between. */
  readonly splits?: boolean;
}

/** What a client asks, and its address. */
export interface Asked {
  readonly peer: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** What a vault answered. */
export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered.
  readonly body: any;
}

/** A vault on the stage. */
export interface StagedVault {
  readonly ctx: Context;
  /** `call('POST /api/verify/send', { body, peer: '203.0.113.1' })`. */
  call(line: string, asked: Asked): Promise<Reply>;
}

/** A process on the world's database, whose every statement and call is a step. */
export function openVault(
  world: World,
  stage: Stage,
  { number, plant, log }: { readonly number: number; readonly plant: Plant | undefined; readonly log: Log },
): StagedVault {
  const { config, chain, database, operatorFiles } = world;
  const env: Env = {
    ...(operatorFiles ? { operatorFiles } : {}),
    vars: {},
    database: staged(timedBy({ monotonic: stage.clock.now }, database), stage, plant),
    clock: stage.clock,
    log,
    random: openDraw(SEED + number).bytes as NonNullable<Env['random']>,
    fetch: (_url, init) => stage.step(chain.nameOf(String(init.body)), () => chain.answer(String(init.body))),
  };
  const ctx = createContext(env, { config, isPrepared: true });
  // To set up all routes for each order would cost more than what they do.
  const routers = new Map<string, ReturnType<typeof createRouter>>();
  const routerOf = (path: string) => {
    const known =
      routers.get(path) ??
      createRouter(
        ctx,
        ROUTES.filter((one) => one.path === path),
      );
    routers.set(path, known);
    return known;
  };
  return {
    ctx,
    async call(line, { body, peer, headers = {} }) {
      const [method = '', path = ''] = line.split(' ');
      const given = body === undefined ? headers : { 'content-type': 'application/json', ...headers };
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      const url = new URL(path, config.baseUrl);
      const response = await routerOf(url.pathname)(new Request(url, { method, headers: given, ...text }), { peer });
      return { status: response.status, body: JSON.parse(await response.text()) };
    },
  };
}

function staged(database: Database, stage: Stage, plant: Plant | undefined): Database {
  const planted = <T extends { sql: string }>(one: T): T => (plant ? { ...one, sql: editedBy(plant, one.sql) } : one);
  return {
    execute: (statement) => stage.step(nameOf([statement]), () => database.execute(planted(statement))),
    async batch(statements, mode) {
      const all = statements.map(planted);
      if (mode === 'read' || !plant?.splits) return stage.step(nameOf(statements), () => database.batch(all, mode));
      const results = [];
      for (const one of all) results.push(await stage.step(nameOf([one]), () => database.execute(one)));
      return results;
    },
  };
}

const edited = new WeakMap<Plant, Map<string, string>>();

function editedBy(plant: Plant, sql: string): string {
  const known = edited.get(plant) ?? new Map<string, string>();
  edited.set(plant, known);
  const text =
    known.get(sql) ?? (plant.edits ?? []).reduce((one, { find, replace }) => one.replaceAll(find, replace), sql);
  known.set(sql, text);
  return text;
}

const names = new Map<string, string>();

/** What statements do, by the tables that they write, else read. */
function nameOf(statements: readonly { readonly sql: string }[]): string {
  const each = statements.map(({ sql }) => names.get(sql) ?? nameOne(sql));
  const writes = each.filter((name) => !name.startsWith('reads'));
  return [...new Set(writes.length > 0 ? writes : each)].join(', ');
}

function nameOne(sql: string): string {
  const [, verb = '', table] = /\b(INSERT INTO|UPDATE|DELETE FROM) (\w+)/.exec(sql) ?? [];
  const name = table
    ? `${{ I: 'inserts', U: 'updates', D: 'deletes' }[verb[0] ?? '']} ${table}`
    : `reads ${/\bFROM (\w+)/.exec(sql)?.[1] ?? 'nothing'}`;
  names.set(sql, name);
  return name;
}
