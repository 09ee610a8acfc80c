import { afterAll, describe, expect, test } from 'bun:test';
import { toHex } from '../../../lib/base/bytes.ts';
import type { Database } from '../../../lib/db/database.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { MIGRATIONS } from '../../../lib/db/schema.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { testClock } from '../../support/clock.ts';
import { engines } from '../../support/databases.ts';
import { startTestChain } from '../../support/onchain.ts';
import { createPeople } from '../../support/people.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

/** The last schema under which a stronger claim displaced a weaker one. */
const BEFORE = MIGRATIONS.filter(({ version }) => version < 14);

interface Old {
  readonly identifier: string;
  readonly did: string;
  readonly credential: string;
  readonly tx?: string;
  readonly status?: string;
  readonly failure?: string;
  readonly strength?: number;
  readonly proof?: string;
  readonly didHash?: string;
  readonly next?: number;
}

/** Rows as the schema before had them. */
async function fill(database: Database, rows: readonly Old[]): Promise<void> {
  for (const row of rows) {
    await database.execute({
      sql: `INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash,
          smart_account, proof, status, failure, strength, registered_at, unseen_since, next_check_at)
        VALUES (:identifier, substr(:identifier, 1, instr(:identifier, ':') - 1), :did, :did_hash, '0xa', :credential,
          :tx, '0xhint', :proof, :status, :failure, :strength, 1, 1, :next)`,
      args: {
        identifier: row.identifier,
        did: row.did,
        did_hash: row.didHash ?? '0xd',
        credential: row.credential,
        tx: row.tx ?? '0x1',
        proof: row.proof ?? null,
        status: row.status ?? 'confirmed',
        failure: row.failure ?? null,
        strength: BigInt(row.strength ?? 0),
        next: row.next === undefined ? null : BigInt(row.next),
      },
    });
  }
}

for (const engine of engines()) {
  test(`on ${engine.name} live rows hold what they held, and nothing becomes more proven`, async () => {
    const database = await engine.openEmpty();
    afterAll(() => database.close());
    const clock = testClock();
    await migrate(database, clock, BEFORE);
    await fill(database, [
      { identifier: 'email:attested@example.com', did: 'did:key:z1', credential: 'c1' },
      { identifier: 'handle:aliased', did: 'did:key:z2', credential: 'c2', strength: 1 },
      { identifier: 'email:signed@example.com', did: 'did:key:z3', credential: 'c3', strength: 2, proof: '{"a":1}' },
      { identifier: 'email:relayed@example.com', did: 'did:key:z4', credential: 'c4', strength: 2, proof: '{"a":1}' },
      {
        identifier: 'email:new@example.com',
        did: 'did:key:z5',
        credential: 'c5',
        status: 'submitted',
        proof: '{}',
        next: 7,
      },
      { identifier: 'handle:lost', did: 'did:key:z6', credential: 'c1', status: 'failed', failure: 'displaced' },
    ]);
    const run = async (sql: string) => (await database.execute({ sql, args: {} })).rows;
    await run(`INSERT INTO relays (registration_id, chain_id, registry, controller, did_hash, status, created_at)
      VALUES (4, 1, '0xr', '0xc4', '0xd', 'confirmed', 1)`);
    await migrate(database, clock);
    const now = clock.now();
    const rows = await run(`SELECT id, holds, controller, final, strength, proof, proof_key, next_check_at
      FROM registrations ORDER BY id`);
    const plain = rows.map((row) =>
      Object.values({ ...row }).map((value) => (typeof value === 'bigint' ? Number(value) : value)),
    );
    expect(plain).toEqual([
      [1, 1, null, 0, 0, null, null, now],
      [2, 1, null, 0, 1, null, null, now + 100],
      [3, 1, null, 0, 2, null, null, now + 200],
      [4, 1, '0xc4', 1, 2, null, null, null],
      [5, 1, null, 0, 0, null, null, 7],
      [6, 0, null, 0, 0, null, null, null],
    ]);
    const credentials = await run(
      `SELECT credentials.credential_id, key, did, since, registration_id FROM credentials
        JOIN registrations ON registrations.id = registration_id ORDER BY since`,
    );
    expect(
      credentials.map((row) => [row['credential_id'], row['key'], row['did'], Number(row['registration_id'])]),
    ).toEqual([1, 2, 3, 4, 5].map((n) => [`c${n}`, '', `did:key:z${n}`, n]));
  });
}

for (const engine of engines()) {
  test(`on ${engine.name} a credential’s rows keep their key, their age and their registration`, async () => {
    const database = await engine.openEmpty();
    afterAll(() => database.close());
    const clock = testClock();
    await migrate(
      database,
      clock,
      MIGRATIONS.filter(({ version }) => version < 30),
    );
    const identifiers = ['one', 'two', 'three', 'four'].map((name) => `email:${name}@example.com`);
    await fill(
      database,
      identifiers.map((identifier) => ({ identifier, did: `did:key:${identifier}`, credential: 'c' })),
    );
    const run = async (sql: string) => (await database.execute({ sql, args: {} })).rows;
    const rows = [
      ['c', '', 1, 3],
      ['c', '', 2, 2],
      ['c', '0xk', 1, 4],
    ];
    await run(`INSERT INTO credentials (credential_id, key, did, since, registration_id) VALUES
      ('c', '', 'did:a', 1, 3), ('c', '', 'did:b', 2, 2), ('c', '0xk', 'did:a', 1, 4)`);
    await migrate(database, clock);
    const after = await run(`SELECT credential_id, key, since, registration_id FROM credentials ORDER BY key, since`);
    expect(
      after.map((row) => [row['credential_id'], row['key'], Number(row['since']), Number(row['registration_id'])]),
    ).toEqual(rows);
    const another = run(
      `INSERT INTO credentials (credential_id, key, since, registration_id) VALUES ('c', '0xk', 1, 1)`,
    );
    expect(await another.catch(() => 'refused')).toBe('refused');
  });
}

describe('rows of before, read again on the chain', async () => {
  const chain = await startTestChain();
  afterAll(chain.stop);
  let t: TestVault;
  const people = createPeople(chain, () => t);

  /** A vault on a database of the schema before, in which these people are registered. */
  async function startBefore(change: Partial<Old>) {
    const who = await people.create('email');
    const { txHash: tx, block } = await people.publish(who);
    const [engine] = engines();
    const database = await (engine as ReturnType<typeof engines>[number]).openEmpty();
    const clock = testClock();
    await migrate(database, clock, BEFORE);
    const { did } = who;
    const old = { identifier: `email:${who.identifier}`, did, didHash: didHash(did), credential: who.credentialId, tx };
    await fill(database, [{ ...old, ...change }]);
    t = await startVault({ ...chain.vars }, { database, clock });
    const stop = async () => {
      await t.stop();
      database.close();
    };
    return { who, block, stop };
  }

  test('show the controller of their event; one proven by version 1 stays proven, and has its key from then on', async () => {
    const { who, stop } = await startBefore({ strength: 2, proof: '{"authenticatorData":"AA"}' });
    expect(await people.lookup(who)).toMatchObject({
      status: 'confirmed',
      proven: true,
      smartAccount: null,
      pubKeyX: null,
    });
    await t.work();
    const key = { pubKeyX: `0x${toHex(who.passkey.key.x)}`, pubKeyY: `0x${toHex(who.passkey.key.y)}` };
    const found = { status: 'confirmed', final: true, proven: true, smartAccount: who.account.toLowerCase(), ...key };
    expect(await people.lookup(who)).toMatchObject(found);
    expect(await people.lookup(who, key)).toMatchObject(found);
    await stop();
  });

  test('without a proof stay unproven, and take one of version 2', async () => {
    const { who, stop } = await startBefore({});
    await t.work();
    expect(await people.lookup(who)).toMatchObject({
      status: 'confirmed',
      proven: false,
      proofs: { identifier: 'attestation', controller: null },
    });
    const [row] = await t.rows('SELECT tx_hash FROM registrations');
    expect((await people.claim(who, String(row?.['tx_hash']), { proof: true })).status).toBe(200);
    await t.work();
    expect(await people.lookup(who)).toMatchObject({ proven: true, proofs: { controller: 'passkey' } });
    await stop();
  });

  test('whose receipt the node has forgotten stay confirmed while their block is part of the chain', async () => {
    const { who, block, stop } = await startBefore({ tx: `0x${'00'.repeat(31)}08` });
    const { hash } = (await chain.rpc('eth_getBlockByNumber', [`0x${block.toString(16)}`, false])) as { hash: string };
    await t.rows('UPDATE registrations SET mined_block = :block, mined_hash = :hash', { block, hash });
    await t.work();
    const found = { status: 'confirmed', smartAccount: who.account.toLowerCase() };
    expect(await people.lookup(who)).toMatchObject(found);
    await t.clock.advance(20 * 60_000);
    await t.work();
    expect(await people.lookup(who)).toMatchObject(found);
    await t.rows(`UPDATE registrations SET mined_hash = '0xanother', next_check_at = 0`);
    await t.work();
    expect(await people.lookup(who)).toMatchObject({ status: 'submitted', smartAccount: null });
    await stop();
  });

  test('of a transaction that the chain does not have are submitted again, and fail after 15 minutes', async () => {
    const { who, stop } = await startBefore({ tx: `0x${'00'.repeat(31)}07` });
    await t.work();
    expect(await people.lookup(who)).toMatchObject({ status: 'submitted', smartAccount: null });
    for (let minute = 0; minute < 15; minute++) {
      await t.clock.advance(60_000);
      await t.work();
    }
    expect(await people.lookup(who)).toEqual({ error: 'not_found' });
    await stop();
  });
});
