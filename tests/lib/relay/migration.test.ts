import { expect, test } from 'bun:test';
import { migrate } from '../../../lib/db/migrations.ts';
import { MIGRATIONS } from '../../../lib/db/schema.ts';
import { OUTBOX_OF_SEVERAL_KINDS } from '../../../lib/db/schema-relays.ts';
import { testClock } from '../../support/clock.ts';
import { engines } from '../../support/databases.ts';

const { version } = OUTBOX_OF_SEVERAL_KINDS;

for (const engine of engines()) {
  test(`relays of before keep their ids, nonces, transactions and attempts, on ${engine.name}`, async () => {
    const [database, clock] = [await engine.openEmpty(), testClock()];
    const run = async (sql: string) =>
      (await database.execute({ sql, args: {} })).rows.map((row) => Object.values({ ...row }).map(String));
    const before = MIGRATIONS.filter((one) => one.version < version);
    await migrate(database, clock, before);
    await run(`INSERT INTO registrations (id, identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash,
        status, registered_at, unseen_since, mined_hash, final)
      VALUES (3, 'email:a@example.com', 'email', 'did:a', '0xa', '', 'c1', '0xt1', 'confirmed', 1, 1, '0xb1', 1),
        (4, 'email:b@example.com', 'email', 'did:b', '0xb', '', 'c2', '0xt2', 'submitted', 1, 1, NULL, 0)`);
    await run(`INSERT INTO relays (id, registration_id, chain_id, registry, controller, did_hash, network, status, signer,
        nonce, waiting_since, created_at, next_check_at, checks)
      VALUES (7, 3, 1, '0xr', '0xc1', '0xa', 'n', 'confirmed', '0xs', 5, 9, 1, NULL, 2),
        (8, 4, 1, '0xr', '0xc2', '0xb', 'n', 'signed', '0xs', 6, 9, 2, 3, 0)`);
    await run(`INSERT INTO relay_attempts (seq, relay_id, hash, raw, gas, max_fee, tip, kind)
      VALUES (11, 7, '0xt1', '0x1', 1, 2, 3, 'call'), (12, 8, '0xt2', '0x2', 1, 2, 3, 'call')`);

    await migrate(database, clock);

    const columns =
      'id, kind, role, registration_id, target, controller, status, signer, nonce, tx_hash, mined_hash, final';
    expect(await run(`SELECT ${columns}, next_check_at FROM relays ORDER BY id`)).toEqual([
      ['7', 'registration', 'registrar', '3', '0xr', '0xc1', 'confirmed', '0xs', '5', '0xt1', '0xb1', '1', 'null'],
      ['8', 'registration', 'registrar', '4', '0xr', '0xc2', 'signed', '0xs', '6', '0xt2', 'null', '0', '3'],
    ]);
    expect(await run('SELECT seq, relay_id, hash FROM relay_attempts ORDER BY seq')).toEqual([
      ['11', '7', '0xt1'],
      ['12', '8', '0xt2'],
    ]);
    // The nonce stays taken, and an attempt still needs its relay.
    const again = `INSERT INTO relays (kind, role, chain_id, target, signer, nonce, created_at)
      VALUES ('veto', 'guardian', 1, '0xt', '0xs', 6, 1)`;
    expect(run(again)).rejects.toThrow(/UNIQUE/);
    expect(await run(`SELECT "table" FROM pragma_foreign_key_list('relay_attempts')`)).toEqual([['relays']]);
    await database.close();
  });
}
