// Each table of the schema: its data about a person, how its rows are found, and how an erasure changes them.
// `docs/privacy.md` has the same list, and a test holds both against the schema.
import { LIMIT_TABLES } from './limit-tables-store.ts';
import { OTHER_TABLES, type OtherTable } from './other-tables.ts';
import { SIGN_IN_TABLES } from './sign-in-tables-store.ts';
import {
  IN_DATA,
  listed,
  namedBy,
  OF_ACCOUNTS,
  OF_CHAINS,
  OF_IDENTIFIERS,
  RECOVERIES_OF,
  REGISTRATIONS_OF,
  RELAYS_OF,
} from './where-store.ts';

/** A table with rows of persons. */
export interface PersonalTable {
  readonly about: string;
  readonly kept: string;
  readonly erasure: 'removed' | 'unlinked' | 'stays';
  /** The data that the erasure leaves, and why. */
  readonly why: string;
  /** SQL that is true of a row of the person, over the arguments of `argsOf`. */
  readonly where: string;
  /** The primary key: the order of the export. */
  readonly key: string;
  /** No index leads to the rows: the table is read in steps of its key, which is a single column then. */
  readonly scan?: 'number' | 'text';
}

const PUBLIC = 'it says what everybody can read on the chain, and nothing of an address';

/** Every table of the schema. */
export const TABLES: Readonly<Record<string, PersonalTable | OtherTable>> = {
  codes: {
    about: 'a code that was sent',
    kept: '24 hours and 15 minutes',
    erasure: 'unlinked',
    why: 'time and IP stay until then: the limits of the client and of the day count them',
    where: OF_IDENTIFIERS,
    key: 'seq',
  },
  pass_grants: {
    about: 'a client that pressed the button of a pass',
    kept: '15 minutes',
    erasure: 'removed',
    why: '',
    where: OF_IDENTIFIERS,
    key: 'identifier, ip',
  },
  verifications: {
    about: 'that the identifier was verified, and wrong guesses in a row',
    kept: 'for good, or `KEEP_VERIFICATIONS_DAYS`',
    erasure: 'removed',
    why: '',
    where: OF_IDENTIFIERS,
    key: 'identifier',
  },
  sessions: {
    about: 'a session that holds the identifier for a DID',
    kept: 'for good once linked (its IP for `KEEP_IPS_DAYS`), else `SESSION_TTL_SECONDS`',
    erasure: 'removed',
    why: 'its IP has one slot more',
    where: OF_IDENTIFIERS,
    key: 'identifier',
  },
  registrations: {
    about: 'a registration of the identifier with DID, account and passkey',
    kept: 'for good; failed ones for 30 days',
    erasure: 'unlinked',
    why: 'a live one keeps DID, account and credential: else another could claim the credential; so does one that has a relay',
    where: `id IN ${REGISTRATIONS_OF}`,
    key: 'id',
  },
  challenge_notices: {
    about: 'a message that another DID claims an address, to the address, another one of its holder or its contact',
    kept: '90 days after that claim has ended',
    erasure: 'removed',
    why: 'no notice of it is sent any more',
    where: `(${OF_IDENTIFIERS} OR challenge_id IN (SELECT id FROM challenges WHERE ${OF_IDENTIFIERS}))`,
    key: 'id',
  },
  challenges: {
    about: 'that another DID has proven the address while its holder has a passkey',
    kept: '90 days after it ended',
    erasure: 'removed',
    why: 'who was refused may claim the address again',
    where: OF_IDENTIFIERS,
    key: 'id',
  },
  credentials: {
    about: 'where the passkey leads',
    kept: 'for good',
    erasure: 'stays',
    why: 'else another could claim the credential; nothing leads to an address',
    where: `credential_id IN ${namedBy('credential_id')} AND registration_id IN ${REGISTRATIONS_OF}`,
    key: 'credential_id, key, registration_id',
  },
  key_accounts: {
    about: 'an account at which the vault looks again',
    kept: 'for good',
    erasure: 'stays',
    why: PUBLIC,
    where: OF_ACCOUNTS,
    key: 'account',
  },
  account_keys: {
    about: 'a key of the account',
    kept: 'for good',
    erasure: 'stays',
    why: PUBLIC,
    where: OF_ACCOUNTS,
    key: 'account, key',
  },
  ...SIGN_IN_TABLES,
  relays: {
    about: 'a transaction that the vault sends for the person',
    kept: 'for good, the network of the client for `KEEP_IPS_DAYS`',
    erasure: 'unlinked',
    why: 'the transaction stays, as it is on the chain; the network of the client goes',
    where: `id IN ${RELAYS_OF}`,
    key: 'id',
  },
  relay_attempts: {
    about: 'the bytes of that transaction',
    kept: 'for good',
    erasure: 'stays',
    why: PUBLIC,
    where: `relay_id IN ${RELAYS_OF}`,
    key: 'seq',
  },
  recoveries: {
    about: 'a recovery of the account, or by the address',
    kept: 'for good, its address until it has ended',
    erasure: 'unlinked',
    why: 'that of an account whose recovery is not over keeps its address until the end: else its owner could not be warned',
    where: `id IN ${RECOVERIES_OF}`,
    key: 'id',
  },
  recovery_notices: {
    about: 'a mail about that recovery',
    kept: 'for good',
    erasure: 'unlinked',
    why: 'it has no address; what was not sent yet is not sent',
    where: `recovery_id IN ${RECOVERIES_OF}`,
    key: 'id',
  },
  recovery_addresses: {
    about: 'that the address may recover an account',
    kept: 'while the account has it, else 30 days',
    erasure: 'unlinked',
    why: 'without the address where the account has it, as its guardian stays watched; with it while a recovery of that account is not over. The commitment stays on the chain',
    where: OF_IDENTIFIERS,
    key: 'chain_id, account, commitment',
  },
  recovery_contacts: {
    about: 'the second address of an account',
    kept: 'for good',
    erasure: 'unlinked',
    why: 'without the address, so that no old proof sets it again; with it while a recovery of that account is not over',
    where: `(${OF_IDENTIFIERS} AND identifier <> '' OR ${OF_CHAINS} AND ${OF_ACCOUNTS})`,
    key: 'chain_id, account',
  },
  payments: {
    about: 'a payment of the account',
    kept: '90 days once settled, else at most 3 days',
    erasure: 'stays',
    why: `${PUBLIC}; a client's address goes when it is settled`,
    where: `${OF_CHAINS} AND ${OF_ACCOUNTS}`,
    key: 'id',
  },
  sponsorships: {
    about: 'an operation of the account that the sponsor pays',
    kept: '24 hours',
    erasure: 'stays',
    why: 'the limits of the day count it',
    where: `sender IN ${listed('accounts')}`,
    key: 'sender, nonce',
  },
  joins: {
    about: 'a mailbox for a key of another device, for the account',
    kept: 'an hour',
    erasure: 'stays',
    why: 'the limit of the hour counts it',
    where: OF_ACCOUNTS,
    key: 'id',
    scan: 'text',
  },
  chain_events: {
    about: 'the state of DID, handle and account on the chain',
    kept: 'for good',
    erasure: 'stays',
    why: PUBLIC,
    where: `subject IN ${listed('subjects')}`,
    key: 'block, log_index',
  },
  events: {
    about: 'what happened, with the identifier masked',
    kept: '`KEEP_EVENTS_DAYS`',
    erasure: 'unlinked',
    why: 'the event stays for the audit, without the masked identifier',
    where: IN_DATA,
    key: 'id',
    scan: 'number',
  },
  webhook_deliveries: {
    about: 'a copy of an event, to be posted',
    kept: 'a day once delivered, 14 days once dead',
    erasure: 'unlinked',
    why: 'it is posted without the masked identifier',
    where: IN_DATA,
    key: 'event_id',
    scan: 'number',
  },
  idempotency: {
    about: 'a reply kept for its `Idempotency-Key`',
    kept: '24 hours',
    erasure: 'removed',
    why: 'the same request is then a new one',
    where: `EXISTS (SELECT 1 FROM json_each(:values) WHERE instr(body, json_each.value) > 0)`,
    key: 'key',
    scan: 'text',
  },
  identifier_rows: {
    about: 'a lock while a request registers the identifier',
    kept: '30 seconds',
    erasure: 'removed',
    why: 'within a minute, where it was in use just then',
    where: `key IN ${listed('identifiers')}`,
    key: 'key',
  },
  ...LIMIT_TABLES,
  ...OTHER_TABLES,
};
