import type { Database } from '../../lib/db/database.ts';

/** The time of the first row; each later one is a minute after the one before. */
export const FIRST_AT = Date.parse('2024-01-01T00:00:00.000Z');
export const ROW_EVERY_MS = 60_000;

/** How many of each kind there are in `count` rows. */
export const isFailed = (i: number) => i % 10 === 0;
export const isOfShop = (i: number) => i === 7;

const NUMBERS = `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < :rows)`;
const KIND = `CASE i % 3 WHEN 0 THEN 'email' WHEN 1 THEN 'sms' ELSE 'handle' END`;
const NAME = `CASE i % 3 WHEN 0 THEN 'person' || i || '@example.com' WHEN 1 THEN printf('+49151%08d', i)
  ELSE 'person' || i END`;
const APP = `iif(i = 7, 'shop', 'default')`;
const HASH = `printf('0x%064x', i)`;

/**
 * Writes so many registrations and as many sessions, by one statement each. Every tenth registration failed, and has an
 * open session; one is of the app `shop`.
 */
export async function writePeople(database: Database, rows: number): Promise<void> {
  const args = { rows: BigInt(rows), first: BigInt(FIRST_AT), every: BigInt(ROW_EVERY_MS) };
  await database.execute({
    sql: `INSERT INTO registrations (identifier, channel, app, did, did_hash, alias_hash, credential_id, tx_hash,
        status, failure, holds, final, block_number, registered_at, unseen_since)
      ${NUMBERS} SELECT ${KIND} || ':' || ${NAME}, ${KIND}, ${APP}, 'did:key:z' || i, ${HASH}, ${HASH},
        printf('AAAAAAAAAAAAAAAA%08d', i), ${HASH}, iif(i % 10 = 0, 'failed', 'confirmed'),
        iif(i % 10 = 0, 'reverted', NULL), i % 10 <> 0, i % 10 <> 0, iif(i % 10 = 0, NULL, i),
        :first + i * :every, :first + i * :every FROM numbers`,
    args,
  });
  await database.execute({
    sql: `INSERT INTO sessions (identifier, app, did, did_hash, alias_hash, ip, created_at, expires_at, linked)
      ${NUMBERS} SELECT ${KIND} || ':' || ${NAME}, ${APP}, 'did:key:z' || i, ${HASH}, ${HASH}, '203.0.113.7',
        :first + i * :every, 4102444800000, i % 10 <> 0 FROM numbers`,
    args,
  });
}
