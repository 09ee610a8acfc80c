import type { Migration } from './schema-1.ts';

const COUNTED = `NOT (status = 'failed' AND nonce IS NULL)`;

/**
 * Migration 20: the outbox carries calls for recoveries beside registrations, each by one of two keys. SQLite drops no
 * NOT NULL, so the table and the one that refers to it are made again and filled.
 */
export const OUTBOX_OF_SEVERAL_KINDS: Migration = {
  version: 20,
  name: 'the outbox carries several kinds of calls',
  statements: [
    `ALTER TABLE relays RENAME TO relays_19`,
    `ALTER TABLE relay_attempts RENAME TO relay_attempts_19`,
    `CREATE TABLE relays (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL,
      role TEXT NOT NULL,
      registration_id INTEGER UNIQUE REFERENCES registrations (id),
      recovery_id INTEGER,
      chain_id INTEGER NOT NULL,
      target TEXT NOT NULL,
      call_data TEXT,
      controller TEXT,
      did_hash TEXT,
      network TEXT NOT NULL DEFAULT '',
      status TEXT NOT NULL DEFAULT 'queued',
      failure TEXT,
      signer TEXT,
      nonce INTEGER,
      waiting_since INTEGER,
      tx_hash TEXT NOT NULL DEFAULT '',
      mined_hash TEXT,
      final INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      next_check_at INTEGER,
      checks INTEGER NOT NULL DEFAULT 0
    ) STRICT`,
    `INSERT INTO relays (id, kind, role, registration_id, chain_id, target, controller, did_hash, network, status,
        failure, signer, nonce, waiting_since, tx_hash, mined_hash, final, created_at, next_check_at, checks)
      SELECT old.id, 'registration', 'registrar', registration_id, chain_id, registry, old.controller, old.did_hash,
        network, old.status, old.failure, signer, nonce, waiting_since, registrations.tx_hash,
        registrations.mined_hash, registrations.final, created_at, old.next_check_at, old.checks
      FROM relays_19 AS old JOIN registrations ON registrations.id = registration_id ORDER BY old.id`,
    `CREATE TABLE relay_attempts (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      relay_id INTEGER NOT NULL REFERENCES relays (id),
      hash TEXT NOT NULL UNIQUE,
      raw TEXT NOT NULL,
      gas INTEGER NOT NULL,
      max_fee INTEGER NOT NULL,
      tip INTEGER NOT NULL,
      kind TEXT NOT NULL
    ) STRICT`,
    `INSERT INTO relay_attempts (seq, relay_id, hash, raw, gas, max_fee, tip, kind)
      SELECT seq, relay_id, hash, raw, gas, max_fee, tip, kind FROM relay_attempts_19 ORDER BY seq`,
    `DROP TABLE relay_attempts_19`,
    `DROP TABLE relays_19`,
    `CREATE INDEX relay_attempts_by_relay ON relay_attempts (relay_id)`,
    // A nonce given out twice would be a call lost: whatever else goes wrong, this refuses it.
    `CREATE UNIQUE INDEX relays_nonce ON relays (chain_id, signer, nonce) WHERE nonce IS NOT NULL`,
    `CREATE INDEX relays_due ON relays (chain_id, role, next_check_at) WHERE next_check_at IS NOT NULL`,
    `CREATE INDEX relays_by_controller ON relays (controller)`,
    // A recovery is proposed once, finished once and vetoed once.
    `CREATE UNIQUE INDEX relays_of_recovery ON relays (recovery_id, kind)
      WHERE recovery_id IS NOT NULL AND status <> 'failed'`,
    `CREATE INDEX relays_counted ON relays (created_at) WHERE ${COUNTED}`,
    `CREATE INDEX relays_of_network ON relays (network, created_at) WHERE ${COUNTED}`,
  ],
};
