import { MAIN_JOB, type Migration } from './schema-1.ts';
import { AUTHORIZATION_CODES, CHANNEL_OF_CODES } from './schema-authorization-codes.ts';
import {
  BUDGET_USES,
  RELAY_SHARES,
  SENDS_ARE_COUNTED,
  SENDS_COUNT_THEMSELVES,
  SENDS_GIVEN_BACK,
} from './schema-budgets.ts';
import { CLOCKS, CLOCKS_WRITTEN, LOOKS_IN_VAIN } from './schema-clocks.ts';
import { CODES_OF_CLIENTS } from './schema-codes.ts';
import { NARROW_CREDENTIALS } from './schema-credentials.ts';
import { FILLS_ARE_COUNTED } from './schema-fills.ts';
import { GAS_OF_RECOVERIES, GUARDED_ACCOUNTS } from './schema-guardian.ts';
import { WHO_HOLDS_WHAT } from './schema-holders.ts';
import { INVITES } from './schema-invites.ts';
import { JOINS, JOINS_OF_NETWORKS } from './schema-joins.ts';
import { KEYS_OF_ACCOUNTS } from './schema-keys.ts';
import { LANGUAGES_OF_ADDRESSES } from './schema-languages.ts';
import { CALLS_OF_RECOVERIES, LISTS, OPEN_RECOVERIES, REVOCATIONS_BY_TIME } from './schema-lists.ts';
import { LOOKS } from './schema-looks.ts';
import { MINUTES, NEWEST_FIRST } from './schema-newest.ts';
import { NOTICES_AND_ALIASES } from './schema-notices.ts';
import { PAYMENTS } from './schema-payments.ts';
import { CONTACTS_BY_ADDRESS, ERASURES } from './schema-persons.ts';
import { PHONE_NUMBERS } from './schema-phones.ts';
import { RECOVERIES } from './schema-recoveries.ts';
import { OUTBOX_OF_SEVERAL_KINDS } from './schema-relays.ts';
import { ATTESTED_USE_NO_SLOT, CHAIN_DECIDES_HANDLES, SESSIONS_ARE_COUNTED } from './schema-sessions.ts';
import { SPONSORED_WEI } from './schema-sponsorships.ts';
import { REVOKED_TOKENS } from './schema-tokens.ts';

export type { Migration } from './schema-1.ts';

/** The tables. Never edit a published migration, add a new one. `docs/storage.md` explains every column. */
export const MIGRATIONS: readonly Migration[] = [
  MAIN_JOB,
  {
    version: 3,
    name: 'sponsored user operations',
    statements: [
      `CREATE TABLE sponsorships (
        sender TEXT NOT NULL,
        nonce TEXT NOT NULL,
        sponsored_at INTEGER NOT NULL,
        PRIMARY KEY (sender, nonce)
      ) STRICT, WITHOUT ROWID`,
      `CREATE INDEX sponsorships_by_time ON sponsorships (sponsored_at)`,
    ],
  },
  {
    version: 4,
    name: 'the follower',
    statements: [
      `CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
      // One row: what has been read of the chain, and up to where.
      `CREATE TABLE follower (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        source TEXT NOT NULL,
        genesis TEXT NOT NULL,
        start INTEGER NOT NULL,
        block INTEGER NOT NULL,
        hash TEXT NOT NULL,
        head INTEGER NOT NULL,
        seen_at INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE chain_blocks (number INTEGER PRIMARY KEY, hash TEXT NOT NULL) STRICT`,
      `CREATE TABLE chain_events (
        block INTEGER NOT NULL,
        log_index INTEGER NOT NULL,
        block_hash TEXT NOT NULL,
        tx_hash TEXT NOT NULL,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        object TEXT,
        metadata_cid TEXT,
        PRIMARY KEY (block, log_index)
      ) STRICT, WITHOUT ROWID`,
      `CREATE INDEX chain_events_by_subject ON chain_events (subject, kind)`,
      // Statistics count all events of a kind: triggers keep the numbers, also when a re-org takes events back.
      `INSERT INTO tallies (name, value) VALUES ('DIDRegistered', 0), ('AliasRegistered', 0), ('DIDUpdated', 0),
        ('DIDDeactivated', 0), ('AccountCreated', 0)`,
      `CREATE TRIGGER chain_events_tally_insert AFTER INSERT ON chain_events BEGIN
        UPDATE tallies SET value = value + 1 WHERE name = new.kind; END`,
      `CREATE TRIGGER chain_events_tally_delete AFTER DELETE ON chain_events BEGIN
        UPDATE tallies SET value = value - 1 WHERE name = old.kind; END`,
      // Empty in rows of before: they link by a registration only, and are gone in a day without one.
      `ALTER TABLE sessions ADD COLUMN alias_hash TEXT NOT NULL DEFAULT ''`,
      `ALTER TABLE sessions ADD COLUMN did_hash TEXT NOT NULL DEFAULT ''`,
      `CREATE INDEX sessions_by_alias ON sessions (alias_hash, did_hash)`,
    ],
  },
  {
    version: 5,
    name: 'the relay',
    statements: [
      // The first block identifies a chain: a restarted development chain keeps its id.
      `CREATE TABLE chains (chain_id INTEGER PRIMARY KEY, genesis TEXT NOT NULL) STRICT`,
      `CREATE TABLE signers (
        chain_id INTEGER NOT NULL,
        address TEXT NOT NULL,
        next_nonce INTEGER,
        trouble TEXT,
        PRIMARY KEY (chain_id, address)
      ) STRICT, WITHOUT ROWID`,
      `CREATE TABLE relays (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        registration_id INTEGER NOT NULL UNIQUE REFERENCES registrations (id),
        chain_id INTEGER NOT NULL,
        registry TEXT NOT NULL,
        controller TEXT NOT NULL,
        did_hash TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'queued',
        failure TEXT,
        signer TEXT,
        nonce INTEGER,
        waiting_since INTEGER,
        created_at INTEGER NOT NULL,
        next_check_at INTEGER,
        checks INTEGER NOT NULL DEFAULT 0
      ) STRICT`,
      // A nonce given out twice would be a registration lost: whatever else goes wrong, this refuses it.
      `CREATE UNIQUE INDEX relays_nonce ON relays (chain_id, signer, nonce) WHERE nonce IS NOT NULL`,
      `CREATE INDEX relays_due ON relays (chain_id, next_check_at) WHERE next_check_at IS NOT NULL`,
      `CREATE INDEX relays_by_controller ON relays (controller)`,
      `CREATE INDEX relays_by_time ON relays (created_at)`,
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
      `CREATE INDEX relay_attempts_by_relay ON relay_attempts (relay_id)`,
    ],
  },
  {
    version: 6,
    name: 'events',
    statements: [
      // AUTOINCREMENT: an id is never given out again, also when the newest events are gone.
      `CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app TEXT NOT NULL,
        channel TEXT NOT NULL,
        type TEXT NOT NULL,
        at INTEGER NOT NULL,
        data TEXT NOT NULL
      ) STRICT`,
      `CREATE INDEX events_by_app ON events (app, id)`,
      // One row a token: the stream that was opened last with it. A takeover is a new row with a greater seq.
      `CREATE TABLE streams (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        cid TEXT NOT NULL UNIQUE,
        expires_at INTEGER NOT NULL
      ) STRICT`,
      `CREATE INDEX streams_by_expiry ON streams (expires_at)`,
      `CREATE TABLE limit_notices (bucket TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
      `CREATE INDEX limit_notices_by_end ON limit_notices (until)`,
      // What was spent of a limit's bucket up to this moment counts no more: the operator cleared it.
      `CREATE TABLE limit_clears (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (kind, key)
      ) STRICT, WITHOUT ROWID`,
      // Tells a key from the one that was in force before.
      `CREATE TABLE key_marks (name TEXT PRIMARY KEY, mark TEXT NOT NULL) STRICT, WITHOUT ROWID`,
      `ALTER TABLE sessions ADD COLUMN app TEXT NOT NULL DEFAULT 'default'`,
      `ALTER TABLE registrations ADD COLUMN app TEXT NOT NULL DEFAULT 'default'`,
      `CREATE INDEX registrations_by_did_hash ON registrations (did_hash)`,
      // The operator finds the failed ones too, which the unique indexes leave out.
      `CREATE INDEX registrations_failed_identifier ON registrations (identifier) WHERE status = 'failed'`,
      `CREATE INDEX registrations_failed_credential ON registrations (credential_id) WHERE status = 'failed'`,
    ],
  },
  {
    version: 7,
    name: 'webhooks',
    statements: [
      // One row: the last event that was copied into deliveries.
      `CREATE TABLE webhook_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), event_id INTEGER NOT NULL) STRICT`,
      // A copy of the event, because a dead letter outlives it.
      `CREATE TABLE webhook_deliveries (
        event_id INTEGER PRIMARY KEY,
        app TEXT NOT NULL,
        channel TEXT NOT NULL,
        type TEXT NOT NULL,
        at INTEGER NOT NULL,
        data TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'queued',
        attempts INTEGER NOT NULL DEFAULT 0,
        next_attempt_at INTEGER,
        give_up_at INTEGER NOT NULL,
        last_status INTEGER,
        last_error TEXT,
        created_at INTEGER NOT NULL,
        settled_at INTEGER
      ) STRICT`,
      `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE next_attempt_at IS NOT NULL`,
      `CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (status, settled_at) WHERE settled_at IS NOT NULL`,
    ],
  },
  REVOKED_TOKENS,
  SESSIONS_ARE_COUNTED,
  CHAIN_DECIDES_HANDLES,
  CODES_OF_CLIENTS,
  ATTESTED_USE_NO_SLOT,
  BUDGET_USES,
  WHO_HOLDS_WHAT,
  NOTICES_AND_ALIASES,
  PHONE_NUMBERS,
  RELAY_SHARES,
  SENDS_ARE_COUNTED,
  JOINS,
  OUTBOX_OF_SEVERAL_KINDS,
  SENDS_COUNT_THEMSELVES,
  RECOVERIES,
  KEYS_OF_ACCOUNTS,
  FILLS_ARE_COUNTED,
  PAYMENTS,
  LISTS,
  CALLS_OF_RECOVERIES,
  REVOCATIONS_BY_TIME,
  OPEN_RECOVERIES,
  NARROW_CREDENTIALS,
  SENDS_GIVEN_BACK,
  LOOKS_IN_VAIN,
  CLOCKS,
  CLOCKS_WRITTEN,
  AUTHORIZATION_CODES,
  CHANNEL_OF_CODES,
  LANGUAGES_OF_ADDRESSES,
  NEWEST_FIRST,
  CONTACTS_BY_ADDRESS,
  MINUTES,
  ERASURES,
  INVITES,
  GAS_OF_RECOVERIES,
  JOINS_OF_NETWORKS,
  LOOKS,
  GUARDED_ACCOUNTS,
  SPONSORED_WEI,
];
