// The recipe of docs/operating.md, with the real program: Litestream copies the log of a vault that leaves it to it.
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/databases.ts';
import { createLitestream, type Litestream, litestreamProgram } from '../support/litestream.ts';
import { isLong } from '../support/long.ts';
import { type Program, startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';
import { startBucket } from '../support/s3/server.ts';
import { until, untilNothing } from '../support/until.ts';

const CLIENTS = 8;
const SESSIONS = 200;
const ROUNDS = 25;

let folder: ReturnType<typeof temporaryFolder>;
const ends: (() => unknown)[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  folder.remove();
});

const at = (name: string) => join(folder.path, name);
const database = () => at('vault-data/vault.db');

async function startVault(vars: Record<string, string> = {}): Promise<Program> {
  const open = { MAX_REGISTRATIONS_PER_IP: '1000000', RATE_LIMIT_WRITES_PER_IP: '1000000' };
  const program = await startProgram({ DATABASE_CHECKPOINT: 'external', ...open, ...vars }, { cwd: folder.path });
  ends.push(() => program.stop('SIGKILL'));
  return program;
}

function startLitestream(litestream: Litestream): Litestream {
  litestream.start();
  ends.push(litestream.kill);
  return litestream;
}

async function openSession({ url }: Program, handle: string): Promise<number> {
  const response = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ handle, did: `did:key:z${handle}` }),
  });
  return response.status;
}

/** Opens sessions until the vault is gone or `stop`, and keeps the handles that it acknowledged. */
function openSessions(program: Program, name: string) {
  const acknowledged: string[] = [];
  let isStopped = false;
  const client = async (number: number) => {
    for (let n = 0; !isStopped; n++) {
      const handle = `${name}${number}x${n}`;
      const status = await openSession(program, handle).catch(() => undefined);
      if (status === undefined) return;
      expect(status).toBe(200);
      acknowledged.push(`handle:${handle}`);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  return {
    acknowledged,
    until: (count: number) =>
      untilNothing(`${count} sessions are acknowledged`, () =>
        acknowledged.length >= count ? [] : [`${count - acknowledged.length} sessions`],
      ),
    async end() {
      isStopped = true;
      await clients;
    },
  };
}

const rowsOf = (path: string, sql: string) => {
  const opened = new Database(path, { readonly: true });
  try {
    return opened.query(sql).values();
  } finally {
    opened.close();
  }
};
const sessionsIn = (path: string) => new Set(rowsOf(path, 'SELECT identifier FROM sessions').flat());

/** What a restore gives: its snapshot comes before its log, and until that is there too it may be damaged or empty. */
function stateOf(path: string): 'whole' | 'empty' | 'damaged' {
  try {
    if (rowsOf(path, 'PRAGMA integrity_check')[0]?.[0] !== 'ok') return 'damaged';
    return rowsOf(path, `SELECT 1 FROM sqlite_schema WHERE name = 'sessions'`).length > 0 ? 'whole' : 'empty';
  } catch {
    return 'damaged';
  }
}

/** Restores again and again until the replica has all of these, and returns the milliseconds that took. */
async function untilReplicated(litestream: Litestream, identifiers: readonly string[]): Promise<number> {
  const start = performance.now();
  for (;;) {
    rmSync(at('trial.db'), { force: true });
    if ((await litestream.restore(at('trial.db'))) === 0 && stateOf(at('trial.db')) === 'whole') {
      const found = sessionsIn(at('trial.db'));
      if (identifiers.every((identifier) => found.has(identifier))) return performance.now() - start;
    }
    await Bun.sleep(100);
  }
}

/** The restored file is one commit of the original: all rows up to it, none of a later one, each the same. */
function expectPrefix(restored: string, original: string): number {
  expect(rowsOf(restored, 'PRAGMA integrity_check')).toEqual([['ok']]);
  const events = rowsOf(restored, 'SELECT * FROM events ORDER BY id');
  expect(events).toEqual(rowsOf(original, `SELECT * FROM events WHERE id <= ${events.length} ORDER BY id`));
  const sessions = rowsOf(restored, 'SELECT * FROM sessions ORDER BY identifier');
  expect(sessions).toHaveLength(events.length);
  const same = new Set(rowsOf(original, 'SELECT * FROM sessions').map((row) => JSON.stringify(row)));
  expect(sessions.filter((row) => !same.has(JSON.stringify(row)))).toEqual([]);
  expect(rowsOf(restored, `SELECT value FROM tallies WHERE name = 'sessions'`)).toEqual([[events.length]]);
  return events.length;
}

const isThere = litestreamProgram() !== undefined;
if (!isThere) console.log('There is no Litestream for this machine: its recipe is not tried.');

describe.skipIf(!isThere)('Litestream beside a vault', () => {
  test('that both are killed beside: the bucket gives back all up to its last sync, and nothing half', async () => {
    const bucket = startBucket();
    ends.push(bucket.stop);
    const vault = await startVault();
    const litestream = startLitestream(createLitestream(database(), bucket, folder.path));
    const sessions = openSessions(vault, 'a');
    await sessions.until(SESSIONS);
    const synced = [...sessions.acknowledged];
    const ms = await untilReplicated(litestream, synced);
    console.log(`${synced.length} sessions were in the bucket ${Math.round(ms)} ms after the last was acknowledged`);
    await sessions.until(synced.length + SESSIONS);
    await Promise.all([litestream.kill(), vault.stop('SIGKILL')]);
    await sessions.end();

    expect(await litestream.restore(at('restored.db'))).toBe(0);
    const restored = sessionsIn(at('restored.db'));
    expect(synced.filter((identifier) => !restored.has(identifier))).toEqual([]);
    const kept = sessionsIn(database());
    expect(sessions.acknowledged.filter((identifier) => !kept.has(identifier))).toEqual([]);
    const count = expectPrefix(at('restored.db'), database());
    expect(count).toBeGreaterThanOrEqual(synced.length);

    // The restored file is a vault's: checked as a backup, and served from.
    const vars = { DATABASE_URL: `file:${at('restored.db')}` };
    expect((await runProgram(['backup', 'a.backup'], { cwd: folder.path, vars })).code).toBe(0);
    const again = await startVault(vars);
    expect((await fetch(`${again.url}/readyz`)).status).toBe(200);
    expect(await openSession(again, 'anew')).toBe(200);
  });

  test('that it was away from catches up; until then the vault leaves the log alone', async () => {
    const bucket = startBucket();
    ends.push(bucket.stop);
    const vault = await startVault();
    const litestream = startLitestream(createLitestream(database(), bucket, folder.path));
    const sessions = openSessions(vault, 'b');
    await sessions.until(20);
    await untilReplicated(litestream, [...sessions.acknowledged]);
    await litestream.kill();
    const before = statSync(database()).mtimeMs;
    const log = statSync(`${database()}-wal`).size;
    // More than the 1,000 pages after which SQLite would have brought the log into the file.
    const pages = () => (statSync(`${database()}-wal`).size - log) / 4_096;
    await until('the log has 1,500 pages more', () => pages() > 1_500);
    expect(statSync(database()).mtimeMs).toBe(before);
    startLitestream(litestream);
    await sessions.end();
    await untilReplicated(litestream, sessions.acknowledged);
    expect(expectPrefix(at('trial.db'), database())).toBe(sessions.acknowledged.length);
    expect(await vault.stop()).toBe(0);
  });

  test.skipIf(!isLong)('killed right after its first snapshot: how often a restore is damaged', async () => {
    const found = { whole: 0, empty: 0, damaged: 0, none: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      folder.remove();
      folder = temporaryFolder();
      const bucket = startBucket();
      const vault = await startVault();
      const litestream = createLitestream(database(), bucket, folder.path);
      litestream.start();
      const sessions = openSessions(vault, 'c');
      while (![...bucket.objects.keys()].some((key) => key.includes('snapshot'))) await Bun.sleep(1);
      await Bun.sleep((round / ROUNDS) * 400);
      await Promise.all([litestream.kill(), vault.stop('SIGKILL')]);
      await sessions.end();
      found[(await litestream.restore(at('restored.db'))) === 0 ? stateOf(at('restored.db')) : 'none']++;
      await bucket.stop();
      // The vault's own file has all of it, whatever the copy has.
      const kept = sessionsIn(database());
      expect(sessions.acknowledged.filter((identifier) => !kept.has(identifier))).toEqual([]);
    }
    console.log(`of ${ROUNDS} restores: ${JSON.stringify(found)}`);
  });
});
