import type { Database, Row } from '../../../lib/db/database.ts';
import { auditClaims } from '../hostile/claimants.ts';
import { isSigned, WEBHOOK_SECRET } from '../receiver.ts';
import type { StreamReader } from './clients/streams.ts';
import { CLIENTS_LIKE, LAPSED_MS, type Ledger, SESSIONS_LIKE } from './ledger.ts';
import type { Place } from './place.ts';

type Rows = (sql: string) => Promise<readonly Row[]>;

/**
 * Holds what is in the database, on the chain, at the receiver and at the readers against what was acknowledged. The
 * receiver was waited for up to the event `newest`.
 */
export async function audit(
  world: Place,
  { ledger, readers, newest }: { ledger: Ledger; readers: readonly StreamReader[]; newest: number },
): Promise<void> {
  const database = await world.open();
  const rows: Rows = async (sql) => (await database.execute({ sql, args: {} })).rows;
  try {
    await auditTables(world, database, ledger);
    await auditRegistrations(world, rows, ledger);
    const events = await rows('SELECT id, channel FROM events ORDER BY id');
    auditStreams(events, ledger, readers);
    auditWebhooks(
      world,
      events.filter(({ id }) => Number(id) <= newest),
      ledger,
    );
  } finally {
    database.close();
  }
}

/** Whether the database is whole, and has what was acknowledged of sessions and codes. */
export async function auditTables(
  { hasFile }: Pick<Place, 'hasFile'>,
  database: Database,
  ledger: Ledger,
): Promise<void> {
  if (hasFile) await auditFile(database, ledger);
  await auditWrites(database, ledger);
}

async function auditFile(database: Database, ledger: Ledger): Promise<void> {
  const { rows: found } = await database.execute({ sql: 'PRAGMA integrity_check', args: {} });
  if (found[0]?.['integrity_check'] !== 'ok') ledger.violate('the database is whole', JSON.stringify(found));
}

async function auditWrites(database: Database, ledger: Ledger): Promise<void> {
  const found = await auditClaims(database, ledger);
  for (const lost of [...found.lostSessions, ...found.lostVerifications])
    ledger.violate('an acknowledged write is there', `${lost} is not in the database`);
  for (const twice of found.twiceVerified) ledger.violate('each code verifies once', String(twice));
  // Fewer of them: a vault whose clock was a day ahead has swept some.
  if (found.verificationsWithoutEvent > 0)
    ledger.violate('each code verifies once', `${found.verificationsWithoutEvent} more codes used than events`);
  const twice = `SELECT json_extract(data, '$.did') AS did FROM events WHERE type = 'session.created'
    GROUP BY did HAVING count(*) > 1 AND max(at) - min(at) < ${LAPSED_MS} AND ${SESSIONS_LIKE}`;
  for (const { did } of (await database.execute({ sql: twice, args: {} })).rows)
    ledger.violate('no registration is doubled', `two sessions of ${did} were created`);
}

async function auditRegistrations({ chain }: Place, rows: Rows, ledger: Ledger): Promise<void> {
  const found = await rows(
    `SELECT credential_id, did, identifier, status, failure FROM registrations WHERE ${CLIENTS_LIKE}`,
  );
  const live = found.filter(({ status }) => status !== 'failed');
  const keys = live.map((row) => `${row['identifier']} ${row['did']} ${row['credential_id']}`);
  for (const key of keys.filter((one, i) => keys.indexOf(one) !== i))
    ledger.violate('no registration is doubled', `${key} is there twice`);
  const byCredential = new Map(live.map((row) => [String(row['credential_id']), row]));
  for (const [credentialId, { did }] of ledger.registrations) {
    const row = byCredential.get(credentialId);
    const failed = found.find((one) => one['credential_id'] === credentialId)?.['failure'];
    if (row?.['did'] !== did)
      ledger.violate('an acknowledged write is there', `${credentialId} of ${did} is not there: ${failed}`);
    else if (row['status'] !== 'confirmed')
      ledger.violate('it recovers without a human', `${credentialId} is ${row['status']} at the end`);
  }
  const { twice } = await chain.registered();
  if (twice > 0) ledger.violate('no registration is doubled', `${twice} on the chain`);
  // A request that is given up withdraws its claim and frees its attestation, which the next one uses.
  const used = await rows(
    `SELECT identifier, count(*) AS n FROM registrations
      WHERE ${CLIENTS_LIKE} AND failure IS NOT 'withdrawn' GROUP BY identifier HAVING n > 1`,
  );
  for (const { identifier, n } of used) ledger.violate('no attestation is used twice', `${identifier}: ${n} claims`);
}

function auditStreams(events: readonly Row[], ledger: Ledger, readers: readonly StreamReader[]): void {
  const all = events.map(({ id }) => Number(id));
  for (const { ids } of readers) {
    const begin = ids[0] ?? 0;
    const seen = new Set(ids);
    const newest = ids.at(-1) ?? Number.POSITIVE_INFINITY;
    const missed = all.filter((id) => id > begin && id <= newest && !seen.has(id));
    if (missed.length > 0) ledger.violate('streams have no gap', `not shown: ${missed.slice(0, 10)}`);
    const there = new Set(all);
    const unknown = ids.filter((id) => !there.has(id));
    if (unknown.length > 0) ledger.violate('no answer is a lie', `events that are not there: ${unknown.slice(0, 10)}`);
    ledger.checked('stream compared with events');
  }
}

function auditWebhooks({ receiver }: Place, events: readonly Row[], ledger: Ledger): void {
  const texts = new Map<string, string>();
  const came = new Set<number>();
  for (const webhook of receiver.received) {
    if (!isSigned(webhook, WEBHOOK_SECRET))
      ledger.violate('webhooks arrive at least once, as they were signed', `${webhook.id} is forged`);
    const before = texts.get(webhook.id) ?? webhook.text;
    if (before !== webhook.text)
      ledger.violate('webhooks arrive at least once, as they were signed', `${webhook.id} has two texts`);
    texts.set(webhook.id, webhook.text);
    came.add(Number(webhook.body.id));
  }
  const due = events.filter(({ channel }) => channel !== 'webhooks').map(({ id }) => Number(id));
  const missed = due.filter((id) => !came.has(id));
  if (missed.length > 0)
    ledger.violate(
      'webhooks arrive at least once, as they were signed',
      `${missed.length} never came: ${missed.slice(0, 10)}`,
    );
  ledger.checked('webhooks compared with events');
}
