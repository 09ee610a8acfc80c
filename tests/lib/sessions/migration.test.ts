import { afterAll, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { MIGRATIONS } from '../../../lib/db/schema.ts';
import { engines } from '../../support/databases.ts';

/** The last schema under which the chain linked emails and phones too. */
const BEFORE = MIGRATIONS.filter(({ version }) => version <= 9);

for (const engine of engines()) {
  test(`M9: on ${engine.name} what only an alias linked is linked no more, if it is no handle; A5: what is attested counts no more`, async () => {
    const database = await engine.openEmpty();
    afterAll(() => database.close());
    const run = (sql: string) => database.execute({ sql, args: {} });
    await migrate(database, systemClock, BEFORE);
    for (const [identifier, linked] of [
      ['email:squatted@example.com', 1],
      ['email:owner@example.com', 1],
      ['sms:+14155550100', 1],
      ['handle:alice', 1],
      ['handle:recorded', 1],
      ['handle:open', 0],
    ]) {
      await run(`INSERT INTO sessions (identifier, did, ip, created_at, expires_at, linked, alias_hash, did_hash)
        VALUES ('${identifier}', 'did:key:z', 'ip', 1, 2, ${linked}, '0xa', '0xd')`);
    }
    for (const [n, identifier] of ['email:owner@example.com', 'handle:recorded'].entries()) {
      await run(`INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash,
        status, registered_at, unseen_since) VALUES ('${identifier}', 'c', 'did:key:z${n || ''}', '0xd', '0xa', 'c${n}', '0x', 'submitted', 1, 1)`);
    }
    await run(`UPDATE sessions SET did = 'did:key:z1' WHERE identifier = 'handle:recorded'`);
    await migrate(database, systemClock, MIGRATIONS);
    const { rows } = await run(`SELECT identifier, linked, ask_at FROM sessions ORDER BY identifier`);
    expect(rows.map(({ identifier, linked, ask_at }) => [identifier, linked, ask_at])).toEqual([
      ['email:owner@example.com', 1, null],
      ['email:squatted@example.com', 0, null],
      ['handle:alice', 1, 0],
      ['handle:open', 0, 0],
      ['handle:recorded', 1, null],
      ['sms:+14155550100', 0, null],
    ]);
    const { rows: counts } = await run(`SELECT identifier FROM sessions WHERE counts = 0`);
    // Its registration has its time and opened it: an attestation stands for it.
    expect(counts.map(({ identifier }) => identifier)).toEqual(['email:owner@example.com']);
    const { rows: tallies } = await run(`SELECT value FROM tallies WHERE name = 'linked_sessions'`);
    expect(Number(tallies[0]?.['value'])).toBe(3);
  });
}
