import type { Migration } from './schema-1.ts';

/** What a registration proves of identifier, DID and credential, and who holds each (docs/decisions/0016). */
export const WHO_HOLDS_WHAT: Migration = {
  version: 14,
  name: 'who holds what',
  statements: [
    `ALTER TABLE registrations ADD COLUMN controller TEXT`,
    `ALTER TABLE registrations ADD COLUMN controller_key TEXT`,
    // The key whose proof was verified, x and y as hex.
    `ALTER TABLE registrations ADD COLUMN proof_key TEXT`,
    `ALTER TABLE registrations ADD COLUMN final INTEGER NOT NULL DEFAULT 0`,
    // Why it lost its handle, which leaves DID and credential.
    `ALTER TABLE registrations ADD COLUMN lost TEXT`,
    `ALTER TABLE registrations ADD COLUMN aliased INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE registrations ADD COLUMN holds INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE registrations ADD COLUMN ip TEXT`,
    `ALTER TABLE registrations ADD COLUMN notice_at INTEGER`,
    `DROP INDEX registrations_identifier`,
    `DROP INDEX registrations_did`,
    `DROP INDEX registrations_credential`,
    `CREATE INDEX registrations_identifier ON registrations (identifier) WHERE status <> 'failed'`,
    `CREATE INDEX registrations_did ON registrations (did) WHERE status <> 'failed'`,
    `CREATE INDEX registrations_credential ON registrations (credential_id) WHERE status <> 'failed'`,
    `CREATE UNIQUE INDEX registrations_holder ON registrations (identifier) WHERE holds = 1`,
    `CREATE INDEX registrations_by_ip ON registrations (ip, registered_at) WHERE ip IS NOT NULL`,
    `CREATE INDEX registrations_notices ON registrations (notice_at) WHERE notice_at IS NOT NULL`,
    // Where a credential leads: a row for each key that signed for it, and without a key (empty) one for each DID.
    `CREATE TABLE credentials (
      credential_id TEXT NOT NULL,
      key TEXT NOT NULL,
      did TEXT NOT NULL,
      since INTEGER NOT NULL,
      registration_id INTEGER NOT NULL REFERENCES registrations (id),
      PRIMARY KEY (credential_id, key, did)
    ) STRICT, WITHOUT ROWID`,
    `CREATE UNIQUE INDEX credentials_by_key ON credentials (credential_id, key) WHERE key <> ''`,
    // Until now live rows were unique by identifier and by credential. A proof of the first version names no identifier
    // and no registrar: only its result stays, in strength.
    `UPDATE registrations SET holds = 1, proof = NULL WHERE status <> 'failed'`,
    `INSERT INTO credentials (credential_id, key, did, since, registration_id)
      SELECT credential_id, '', did, id, id FROM registrations WHERE status <> 'failed'`,
    `UPDATE registrations SET controller = (SELECT controller FROM relays WHERE registration_id = registrations.id),
        final = EXISTS (SELECT 1 FROM relays WHERE registration_id = registrations.id AND status = 'confirmed')
      WHERE status = 'confirmed' AND id IN (SELECT registration_id FROM relays)`,
    // The controller of the others is read from the chain, ten rows a second.
    `UPDATE registrations SET checks = 5, next_check_at = 100 * id
        + (SELECT applied_at FROM migrations WHERE version = 14)
        - 100 * (SELECT min(id) FROM registrations WHERE status = 'confirmed')
      WHERE status = 'confirmed' AND id NOT IN (SELECT registration_id FROM relays)`,
  ],
};
