import type { Client } from '@libsql/client/http';
import { systemClock } from '../../lib/base/clock.ts';
import { callUpstream } from '../../lib/base/http-client.ts';
import type { Config } from '../../lib/config/config.ts';
import { FIND_MIGRATIONS, recordedOf, SELECT_MIGRATIONS } from '../../lib/db/migrations.ts';
import { type DoctorCheck, type Finding, ok, warn } from '../../lib/doctor/finding.ts';
import { checkSchema } from '../../lib/doctor/schema.ts';
import { countReadinessCheck } from '../../lib/monitoring/health.ts';
import { databaseOf } from '../storage/database.ts';
import { openServer, requestUrl } from '../storage/server.ts';

/** The check of a libSQL server: that it answers and takes writes, and its promises. */
export function serverCheck(config: Config): DoctorCheck {
  return {
    name: 'database',
    remedy: 'check the server at DATABASE_URL, and DATABASE_AUTH_TOKEN',
    async run() {
      const client = await openServer(databaseOf(config));
      try {
        const start = performance.now();
        const { rows } = await client.execute(FIND_MIGRATIONS);
        const ms = Math.ceil(performance.now() - start);
        const reached = ok('database', `the server answers within ${ms} ms${await versionOf(config)}`);
        const promises = [...(await checkDurability(client)), ...(await checkWriters(client))];
        if (rows.length === 0) return [reached, ...promises, checkSchema(new Map())];
        const { rows: recorded } = await client.execute(SELECT_MIGRATIONS);
        await client.batch([{ ...countReadinessCheck(), args: {} }], 'write');
        return [reached, ok('database', 'accepts writes'), ...promises, checkSchema(recordedOf(recorded))];
      } finally {
        client.close();
      }
    },
  };
}

const VERSION_TIMEOUT_MS = 5_000;
const VERSION_BYTES_MAX = 1_000;

/** The server's own version, in parentheses; empty if it does not give one. */
async function versionOf({ databaseUrl, databaseAuthToken: token }: Config): Promise<string> {
  const url = new URL('/version', requestUrl(databaseUrl)).href;
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const limits = { timeoutMs: VERSION_TIMEOUT_MS, maxBytes: VERSION_BYTES_MAX };
  const answer = await callUpstream({ fetch, clock: systemClock }, { url, method: 'GET', headers }, limits).catch(
    () => undefined,
  );
  const found = /^[a-z]+ v?\d+(?:\.\d+)*/i.exec(answer?.status === 200 ? answer.text.trim() : '')?.[0];
  return found === undefined ? '' : ` (${found})`;
}

/** `PRAGMA synchronous`: below FULL a commit is answered before it is on the disk. */
async function checkDurability(client: Client): Promise<readonly Finding[]> {
  const level = await pragma(client, 'synchronous');
  if (level === undefined) return [];
  if (level >= 2) return [ok('database', 'a write that was answered survives a power loss of the server')];
  const text = `a power loss of the server can undo writes that were answered (synchronous=${level})`;
  return [warn('database', text, 'set its durability_mode to strong: docs/operating.md, On a libSQL server')];
}

/**
 * `PRAGMA wal_autocheckpoint`: where commits checkpoint, sqld's queue of writers can stand still for ever once three
 * processes write at the same moment.
 */
async function checkWriters(client: Client): Promise<readonly Finding[]> {
  const pages = await pragma(client, 'wal_autocheckpoint');
  if (pages === undefined || pages === 0) return [];
  const text = 'three or more vaults that write at once can bring this server to a stop';
  return [warn('database', text, 'start sqld with --checkpoint-interval-s 5: docs/operating.md, On a libSQL server')];
}

async function pragma(client: Client, name: string): Promise<number | undefined> {
  const rows = await client.execute(`PRAGMA ${name}`).then(
    (result) => result.rows,
    () => [],
  );
  const value = rows[0]?.[name];
  return value === undefined || value === null ? undefined : Number(value);
}
