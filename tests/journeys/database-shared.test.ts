import { afterEach, expect, test } from 'bun:test';
import { openDatabase } from '../../commands/storage/database.ts';
import { libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../support/databases.ts';
import { startLibsqlProxy } from '../support/hostile/libsql-proxy.ts';
import { startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const VAULTS = 4;
const keys = { VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'), FOLLOWER: 'false' };

test.skipIf(!libsqlProgram())(
  'four vaults that start at once on an empty libSQL server all come up, and one of them makes the tables',
  async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const server = await startLibsql({ dir: `${folder.path}/sqld` });
    if (!server) throw new Error('no libSQL server');
    ends.push(server.stop);
    const started = await Promise.allSettled(
      Array.from({ length: VAULTS }, () => startProgram({ ...keys, DATABASE_URL: server.url }, { cwd: folder.path })),
    );
    const programs = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    for (const program of programs) ends.push(() => program.stop('SIGKILL'));
    expect(started.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([]);
    for (const [n, program] of programs.entries()) {
      const answer = await fetch(`${program.url}/api/sessions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Edge-Connecting-IP': `203.0.113.${n}` },
        body: JSON.stringify({ handle: `handle${n}`, did: 'did:key:zAlice' }),
      });
      expect(answer.status).toBe(200);
      expect(program.output()).not.toContain('"level":"error"');
    }
    for (const program of programs) expect(await program.stop()).toBe(0);
  },
);

test.skipIf(!libsqlProgram())(
  'a start on a server that shows a page, or is busy for long, waits: the vault serves once it answers',
  async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const server = await startLibsql({ dir: `${folder.path}/sqld` });
    if (!server) throw new Error('no libSQL server');
    ends.push(server.stop);
    const proxy = await startLibsqlProxy(server.url);
    ends.push(proxy.stop);
    proxy.trouble = () => 'garble';
    const program = await startProgram({ ...keys, DATABASE_URL: proxy.url }, { cwd: folder.path });
    ends.push(() => program.stop('SIGKILL'));
    await until('it says so', () => program.output().includes('"event":"started_without_database"'));
    expect((await fetch(`${program.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${program.url}/readyz`)).status).toBe(503);
    proxy.trouble = undefined;
    const state = await until('the vault is ready', async () => {
      const answer = (await (await fetch(`${program.url}/readyz`)).json()) as Record<string, unknown>;
      return answer['ok'] === true && answer;
    });
    expect(state).toMatchObject({ database: 'writable', server: { sqlite: '3.45.1', survivesPowerLoss: false } });
    expect(await program.stop()).toBe(0);
  },
);

test.skipIf(!libsqlProgram())(
  'a read replica is no database of a vault: it misses writes that were answered',
  async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const grpc = `127.0.0.1:${freePort()}`;
    const primary = await startLibsql({ dir: `${folder.path}/primary`, more: ['--grpc-listen-addr', grpc] });
    const replica = await startLibsql({
      dir: `${folder.path}/replica`,
      more: ['--primary-grpc-url', `http://${grpc}`],
    });
    if (!primary || !replica) throw new Error('no libSQL server');
    ends.push(primary.stop, replica.stop);
    const database = await openDatabase({ url: replica.url, maxConnections: 2 });
    ends.push(() => database.close());
    await database.batch([{ sql: 'CREATE TABLE seen (n INTEGER) STRICT', args: {} }], 'write');
    await until('the table is there', async () => {
      const { rows } = await database.execute({ sql: `SELECT name FROM sqlite_schema WHERE name = 'seen'`, args: {} });
      return rows.length === 1;
    });
    // Now and then it is in time.
    let written = 0;
    await until('a write that was answered is missed', async () => {
      await database.batch([{ sql: 'INSERT INTO seen VALUES (:n)', args: { n: BigInt(++written) } }], 'write');
      const { rows } = await database.execute({ sql: 'SELECT count(*) AS n FROM seen', args: {} });
      return Number(rows[0]?.['n']) < written;
    });
  },
);
