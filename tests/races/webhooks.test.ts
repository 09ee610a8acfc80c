import { Database } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { WEBHOOK_SLOTS } from '../../lib/webhooks/slots.ts';
import { WEBHOOK_LEASE_MS } from '../../lib/webhooks/store.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { isSigned, type Receiver, startReceiver, WEBHOOK_SECRET } from '../support/receiver.ts';
import { until, untilNothing } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const EVENTS = 300;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Place {
  readonly receiver: Receiver;
  readonly database: Database;
  start(): Promise<Program>;
}

/** Two processes and more on one database file, all posting to one receiver. */
async function open(): Promise<Place> {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const receiver = startReceiver();
  ends.push(() => receiver.stop());
  const vars = {
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATA_DIR: folder.path,
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const start = async () => {
    const program = await startProgram(vars, { cwd: folder.path });
    ends.push(() => program.stop('SIGKILL'));
    return program;
  };
  await (await start()).stop();
  const database = new Database(join(folder.path, 'vault.db'));
  database.run('PRAGMA busy_timeout = 5000');
  ends.push(() => database.close());
  return { receiver, database, start };
}

function tell(database: Database, from: number, count: number): void {
  const insert = database.prepare(
    `INSERT INTO events (app, channel, type, at, data) VALUES ('default', 'audit', 'token.revoked', ?, ?)`,
  );
  database.transaction(() => {
    for (let n = from; n < from + count; n++) insert.run(Date.now(), JSON.stringify({ cid: String(n) }));
  })();
}

function untilDelivered(database: Database, count: number): Promise<void> {
  const select = database.prepare(`SELECT count(*) AS n FROM webhook_deliveries WHERE status = 'delivered'`);
  return untilNothing(`${count} webhooks are delivered`, () => {
    const { n } = select.get() as { n: number };
    return n >= count ? [] : [`${count - n} webhooks`];
  });
}

test('a stop does not wait for a receiver that hangs, and the next start sends again what it left', async () => {
  const { receiver, database, start } = await open();
  const program = await start();
  const isHeld = Promise.withResolvers<void>();
  receiver.answer = () => {
    if (receiver.received.length === WEBHOOK_SLOTS) isHeld.resolve();
    return new Promise(() => {});
  };
  tell(database, 0, EVENTS);
  await isHeld.promise;
  expect(await program.stop()).toBe(0);
  // Nothing timed out meanwhile, and no more were begun.
  const attempts = database.prepare('SELECT sum(attempts) AS n FROM webhook_deliveries').get();
  expect([attempts, receiver.received.length]).toEqual([{ n: 0 }, WEBHOOK_SLOTS]);
  receiver.answer = () => new Response(null, { status: 204 });
  await start();
  await untilDelivered(database, EVENTS);
  expect(receiver.received).toHaveLength(EVENTS + WEBHOOK_SLOTS);
});

describe('two processes on one database file', () => {
  test('deliver each event exactly once while both run', async () => {
    const { receiver, database, start } = await open();
    await Promise.all([start(), start()]);
    for (let n = 0; n < EVENTS; n += 10) {
      tell(database, n, 10);
      await Bun.sleep(10);
    }
    await untilDelivered(database, EVENTS);
    expect(receiver.received).toHaveLength(EVENTS);
    expect(new Set(receiver.received.map(({ body }) => body.data.cid)).size).toBe(EVENTS);
    expect(receiver.received.every((webhook) => isSigned(webhook, WEBHOOK_SECRET))).toBe(true);
  });

  test(
    'lose none when the one that delivers is killed: what was under way comes again under the same id',
    async () => {
      const { receiver, database, start } = await open();
      const programs = await Promise.all([start(), start()]);
      const first = Promise.withResolvers<void>();
      // Nobody is answered until one of them is dead, so that it dies between sending and noting.
      let isDead = false;
      receiver.answer = async () => {
        first.resolve();
        await until('one of the two is dead', () => isDead);
        return new Response(null, { status: 204 });
      };
      tell(database, 0, EVENTS);
      await first.promise;
      const lease = database.prepare(`SELECT owner FROM leases WHERE name = 'webhooks'`).get();
      expect(lease).not.toBeNull();
      // Which of the two delivers is not told outside: whoever is asked for it holds connections to the receiver.
      const victim = programs[(await connectionsOf(programs[0] as Program, receiver)) > 0 ? 0 : 1] as Program;
      await victim.stop('SIGKILL');
      const held = receiver.received.map(({ id }) => id);
      isDead = true;
      await untilDelivered(database, EVENTS);
      const ids = receiver.received.map(({ id }) => id);
      expect(new Set(ids).size).toBe(EVENTS);
      const again = ids.filter((id, at) => ids.indexOf(id) < at);
      expect(held.filter((id) => !again.includes(id))).toEqual([]);
      // Nothing else comes again, but what the dead one had sent and was not read before.
      expect(again.length).toBeLessThanOrEqual(WEBHOOK_SLOTS);
      expect(new Set(again).size).toBe(again.length);
      // One id, one text: a repetition is the same message.
      expect(new Set(receiver.received.map(({ id, text }) => `${id} ${text}`)).size).toBe(EVENTS);
    },
    WEBHOOK_LEASE_MS + 400_000,
  );
});

/** Established connections of a process to the receiver. */
async function connectionsOf({ pid }: Program, { url }: Receiver): Promise<number> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const table = await Bun.file(`/proc/${pid}/net/tcp`).text();
  const sockets = new Set(
    table
      .split('\n')
      .filter((line) => line.trim().split(/\s+/)[2]?.endsWith(`:${port}`))
      .map((line) => `socket:[${line.trim().split(/\s+/)[9]}]`),
  );
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return sockets.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;
}
