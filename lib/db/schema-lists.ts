import type { Migration } from './schema-1.ts';

/** What the operator lists is read in the order of an index, however many rows there are. */
export const LISTS: Migration = {
  version: 26,
  name: 'lists read no more than they show',
  statements: [
    `CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (status, event_id)`,
    `CREATE INDEX verifications_guessed ON verifications (wrong_guesses DESC, identifier) WHERE wrong_guesses > 0`,
  ],
};

/** A recovery looks for its calls at each turn. */
export const CALLS_OF_RECOVERIES: Migration = {
  version: 27,
  name: 'calls are found by their recovery',
  statements: [`CREATE INDEX relays_by_recovery ON relays (recovery_id) WHERE recovery_id IS NOT NULL`],
};

/** Open streams look for new revocations twice a second. */
export const REVOCATIONS_BY_TIME: Migration = {
  version: 28,
  name: 'revocations are found by their time',
  statements: [`CREATE INDEX token_revocations_by_time ON token_revocations (revoked_at)`],
};

/** The console lists the recoveries that may still end, of which there are few. */
export const OPEN_RECOVERIES: Migration = {
  version: 29,
  name: 'open recoveries are found among all',
  statements: [`CREATE INDEX recoveries_open ON recoveries (id) WHERE status IN ('queued', 'proposed')`],
};
