import { CHAIN_TABLES } from './schema/chain.ts';
import { EVENTS_TABLES } from './schema/events.ts';
import { LIMITS_TABLES } from './schema/limits.ts';
import { PAYMENTS_TABLES } from './schema/payments.ts';
import { RECOVERY_TABLES } from './schema/recovery.ts';
import { REGISTRATIONS_TABLES } from './schema/registrations.ts';
import { RELAY_TABLES } from './schema/relay.ts';
import { SERVICE_TABLES } from './schema/service.ts';
import { SESSIONS_TABLES } from './schema/sessions.ts';
import { VERIFICATION_TABLES } from './schema/verification.ts';

/** One step of the schema. Its statements run in one transaction, once per database. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/** The tables of a new database, by subject. `docs/storage.md` explains every column. */
const TABLES: Migration = {
  version: 1,
  name: 'the tables',
  statements: [
    // The tallies come first: triggers of other tables count in them.
    ...SERVICE_TABLES,
    ...VERIFICATION_TABLES,
    ...LIMITS_TABLES,
    ...SESSIONS_TABLES,
    ...REGISTRATIONS_TABLES,
    ...RELAY_TABLES,
    ...PAYMENTS_TABLES,
    ...RECOVERY_TABLES,
    ...CHAIN_TABLES,
    ...EVENTS_TABLES,
  ],
};

/** Every step, oldest first. Until the first release the tables change in place; after it a change is a new step. */
export const MIGRATIONS: readonly Migration[] = [TABLES];
