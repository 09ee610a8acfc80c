import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import type { LogEntry } from '../../lib/base/log.ts';
import { DATABASE_NOW } from '../../lib/db/clocks.ts';
import type { Database } from '../../lib/db/database.ts';
import type { Env } from '../../lib/env.ts';
import { createVault, type Vault } from '../../routes/index.ts';
import { testAssets } from './assets.ts';
import { type TestClock, testClock } from './clock.ts';
import { putMigratedFile } from './migrated-file.ts';
import { refusedScans, refusingScans } from './plans.ts';
import { counted, idle } from './under-way.ts';
import { watchOwnAnswer } from './watch-answers.ts';

/** An answer as the wire showed it. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered.
  readonly body: any;
  readonly text: string;
}

/** A vault over real HTTP and a real SQLite file, with a clock that a test moves. */
export interface TestVault {
  readonly url: string;
  readonly clock: TestClock;
  readonly vault: Vault;
  readonly database: Env['database'];
  readonly entries: LogEntry[];
  /** `await t.call('POST /api/verify/send', body)`: the body of a POST, the query of a GET. */
  call(
    line: string,
    fields?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  /** A POST with a body of any type. */
  post(path: string, body: URLSearchParams | string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** The same as a client at this address. */
  from(ip: string): Pick<TestVault, 'call' | 'post'>;
  /** The newest code that was delivered to an address. */
  codeFor(to: string): string;
  /** The newest pass that was delivered to an address. */
  passFor(to: string): string;
  /** The code and the pass of each message that was delivered to an address. */
  mailsTo(to: string): { code: string | undefined; pass: string | undefined }[];
  /** Rows of a query, for what the wire does not show. */
  rows(
    sql: string,
    args?: Readonly<Record<string, string | number>>,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Background work up to now: turns that begin after this call, also where others were under way. */
  work(): Promise<void>;
  /** Until no request, statement, background turn or delivery of this process is under way (`under-way.ts`). */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** The root secret of test vaults. */
export const VAULT_SECRET = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';

/**
 * Starts a vault in this process; `vars` are settings on top of the defaults, `dir` keeps its file between two starts.
 */
export async function startVault(
  vars: Readonly<Record<string, string | undefined>> = {},
  { dir, clock = testClock(), ...env }: Partial<Omit<Env, 'vars' | 'clock'>> & { dir?: string; clock?: TestClock } = {},
): Promise<TestVault> {
  const folder = env.database ? undefined : (dir ?? mkdtempSync(join(tmpdir(), 'vault-test-')));
  if (folder !== undefined) putMigratedFile(join(folder, 'vault.db'));
  const sqlite = folder === undefined ? undefined : openSqlite(join(folder, 'vault.db'), {}, clock);
  const database = env.database ?? (sqlite as Env['database']);
  const entries: LogEntry[] = [];
  let vault: Vault | undefined;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    // Bun's 10 seconds would end a request that a starved machine is long in answering.
    idleTimeout: 0,
    fetch: async (request, server) => {
      const response = await (vault as Vault).fetch(request, { peer: server.requestIP(request)?.address });
      // The first look loads much: not counted, minutes of a test's time would pass before its answer is there.
      await counted('a look at an answer', watchOwnAnswer(request.method, request.url, response));
      return response;
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  vault = createVault({
    vars: {
      VAULT_SECRET,
      OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
      BASE_URL: `http://localhost:${server.port}`,
      LOG_LEVEL: 'debug',
      // Tests that count a node's calls would count its looks too.
      FOLLOWER: 'false',
      // No test has a node but those on a chain of their own: without a registry nothing is asked about handles.
      DID_REGISTRY_ADDRESS: 'none',
      ...vars,
    },
    assets: testAssets,
    ...env,
    database: sqlite ? refusingScans(timedBy(clock, sqlite)) : timedBy(clock, database),
    clock,
    log: (entry) => entries.push(entry),
  });
  const started = vault;
  const caller =
    (ip?: string) =>
    (line: string, fields = {}, headers = {}) =>
      call(url, line, fields, { ...(ip === undefined ? {} : { 'Edge-Connecting-IP': ip }), ...headers });
  const poster =
    (ip?: string): TestVault['post'] =>
    async (path, body, headers = {}) => {
      const from = { ...(ip === undefined ? {} : { 'Edge-Connecting-IP': ip }), ...headers };
      return replyOf(await fetch(new URL(path, url), { method: 'POST', body, headers: from, redirect: 'manual' }));
    };
  const mailsTo: TestVault['mailsTo'] = (to) =>
    entries
      .filter((one) => one.event === 'code' && one['to'] === to)
      .map((one) => ({ code: one['code'] as string | undefined, pass: String(one['pass'] ?? '').split('#')[1] }));
  return {
    url,
    clock,
    vault: started,
    database,
    entries,
    call: caller(),
    post: poster(),
    from: (ip) => ({ call: caller(ip), post: poster(ip) }),
    codeFor(to) {
      const code = mailsTo(to).findLast((one) => one.code !== undefined)?.code;
      if (code === undefined) throw new Error(`no code was sent to ${to}`);
      return code;
    },
    passFor(to) {
      const pass = mailsTo(to).findLast((one) => one.pass !== undefined)?.pass;
      if (pass === undefined) throw new Error(`no pass was sent to ${to}`);
      return pass;
    },
    mailsTo,
    rows: async (sql, args = {}) => (await database.execute({ sql, args })).rows,
    async work() {
      // The first may only wait for turns that a request began, which have read what is due already.
      await started.work(clock.now() + 60_000);
      await started.work(clock.now() + 60_000);
    },
    idle,
    async stop() {
      await server.stop(true);
      await started.close();
      sqlite?.close();
      const scans = refusedScans();
      if (scans.length > 0) throw new Error(scans.join('\n'));
      if (folder !== undefined && dir === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const timedDatabases = new WeakSet<Database>();

/** A database whose own time is that of a test. */
export function timedBy(clock: Pick<TestClock, 'monotonic'>, database: Database): Database {
  if (timedDatabases.has(database)) return database;
  const timed = <One extends { sql: string }>(one: One): One =>
    one.sql.includes(DATABASE_NOW)
      ? { ...one, sql: one.sql.replaceAll(DATABASE_NOW, String(Math.floor(clock.monotonic()))) }
      : one;
  const result: Database = {
    ...database,
    execute: (statement) => database.execute(timed(statement)),
    batch: (statements, mode) => database.batch(statements.map(timed), mode),
  };
  timedDatabases.add(result);
  return result;
}

async function call(
  url: string,
  line: string,
  fields: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>>,
): Promise<Reply> {
  const [method = 'GET', path = '/'] = line.split(' ');
  const target = new URL(path, url);
  const init: RequestInit = { method, headers: { ...headers }, redirect: 'manual' };
  if (method === 'POST') {
    init.body = JSON.stringify(fields);
    init.headers = { 'Content-Type': 'application/json', ...headers };
  } else for (const [name, value] of Object.entries(fields)) target.searchParams.set(name, String(value));
  return replyOf(await fetch(target, init));
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}
