import { afterEach, beforeEach, expect, test } from 'bun:test';
import { dirname, join, normalize } from 'node:path';
import { openSqlite } from '../commands/storage/sqlite.ts';
import { systemClock } from '../lib/base/clock.ts';
import { readConfig } from '../lib/config/config.ts';
import type { Database } from '../lib/db/database.ts';
import { prepareDatabase } from '../lib/prepare-database.ts';
import { createVault } from '../routes/index.ts';
import { temporaryFolder } from './support/databases.ts';
import { startProgram } from './support/program.ts';
import { codeOf } from './support/sources.ts';
import { VAULT_SECRET } from './support/vault.ts';

// What a start costs, counted and not timed: `npm run bench:start` measures it.

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** What a start would pay for, and few starts need: loaded where it is used, or not at all. */
const ON_DEMAND = [
  // Each makes the tables of a curve.
  'ox/Ed25519',
  'ox/P256',
  'ox/Secp256k1',
  'ox/erc4337/UserOperation',
  'ox/TxEnvelopeEip1559',
  '@noble/curves',
  // Of the platform's own modules those that load many others.
  'node:dns/promises',
  'node:crypto',
  'node:fs/promises',
  'node:http',
  'node:net',
  'node:os',
  'node:stream',
  'node:tty',
  'node:url',
  'node:util',
  '@libsql/client/http',
  'nodemailer',
];

/** What the program loads before it reads its arguments, by name: `import` at the top of a file, types left out. */
function loadedAtStart(file: string, found: Set<string> = new Set()): ReadonlySet<string> {
  found.add(file);
  for (const [statement, from = ''] of codeOf(file).matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'/gm)) {
    if (/^(?:import|export) type\b/.test(statement)) continue;
    const target = from.startsWith('.') ? normalize(join(dirname(file), from)) : from;
    if (!target.endsWith('.ts')) found.add(target);
    else if (!found.has(target)) loadedAtStart(target, found);
  }
  return found;
}

test('a start loads no curve, no client of a server and no large module of the platform', () => {
  // The routes are loaded once the port is listened on.
  const loaded = loadedAtStart('routes/index.ts', new Set(loadedAtStart('server.ts')));
  expect(loaded.has('routes/index.ts') && loaded.has('node:fs') && loaded.has('ox/Address')).toBe(true);
  expect(ON_DEMAND.filter((name) => loaded.has(name))).toEqual([]);
  expect([...loaded].filter((name) => /^(?:commands\/(?:doctor|backup|mail)|lib\/ucan\/curves)/.test(name))).toEqual(
    [],
  );
});

test('a start checks the tables once, and makes them in one commit', async () => {
  const preload = join(import.meta.dir, 'support/log-statements.ts');
  const statementsOf = async () => {
    const program = await startProgram({}, { cwd: folder.path, preload });
    expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
    // All that it printed is there once it has ended.
    expect(await program.stop()).toBe(0);
    return Array.from(program.output().matchAll(/^ran: (.*)$/gm), ([, sql = '']) => sql);
  };
  const first = await statementsOf();
  expect(first.filter((sql) => sql.startsWith('SELECT version, name FROM migrations'))).toHaveLength(0);
  const tables = first.filter((sql) => sql.startsWith('CREATE TABLE '));
  expect(tables.length).toBeGreaterThan(20);
  expect(first.slice(0, first.lastIndexOf(tables.at(-1) ?? '')).filter((sql) => sql === 'COMMIT')).toEqual([]);
  const second = await statementsOf();
  expect(second.filter((sql) => sql.startsWith('SELECT version, name FROM migrations'))).toHaveLength(1);
  expect(second.filter((sql) => /^(?:CREATE|ALTER|DROP) /.test(sql))).toEqual([]);
});

test('a host that has read the settings and made the tables pays for neither again', async () => {
  const config = readConfig({ VAULT_SECRET, DID_REGISTRY_ADDRESS: 'none' });
  const sqlite = openSqlite(join(folder.path, 'vault.db'));
  await prepareDatabase(sqlite, systemClock, config);
  const asked: string[] = [];
  const database: Database = {
    execute(statement) {
      asked.push(statement.sql);
      return sqlite.execute(statement);
    },
    batch(statements, mode) {
      asked.push(...statements.map(({ sql }) => sql));
      return sqlite.batch(statements, mode);
    },
  };
  // Read again, these would be refused.
  const vault = createVault({ vars: {}, database, log: () => undefined }, { config, isPrepared: true });
  const response = await vault.fetch(new Request('http://localhost/api/sessions/status'));
  expect(response.status).toBe(200);
  expect(asked.filter((sql) => /migrations|sqlite_schema/.test(sql))).toEqual([]);
  expect(asked).not.toEqual([]);
  await vault.close();
  sqlite.close();
});
