import type { Migration } from './schema-1.ts';

/** A registration fails by the looks that missed it, not by the time since it was sent. */
export const LOOKS_IN_VAIN: Migration = {
  version: 32,
  name: 'a registration fails by the looks that missed it',
  statements: [`ALTER TABLE registrations ADD COLUMN unseen_at INTEGER`],
};
