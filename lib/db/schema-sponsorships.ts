import type { Migration } from './schema-1.ts';

/** What is reserved for each sponsored nonce, until the chain shows what it cost. */
export const SPONSORED_WEI: Migration = {
  version: 47,
  name: 'what sponsorships cost',
  statements: [
    `ALTER TABLE sponsorships ADD COLUMN network TEXT`,
    // The worst case, then the cost: gwei, rounded up, since a day in wei is more than a double holds exactly.
    `ALTER TABLE sponsorships ADD COLUMN gwei INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE sponsorships ADD COLUMN max_fee INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE sponsorships ADD COLUMN max_tip INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE sponsorships ADD COLUMN raises INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE sponsorships ADD COLUMN next_block INTEGER`,
    // Null once the cost is known.
    `ALTER TABLE sponsorships ADD COLUMN next_look_at INTEGER`,
    `DROP INDEX sponsorships_by_time`,
    `CREATE INDEX sponsorships_by_time ON sponsorships (sponsored_at, gwei)`,
    `CREATE INDEX sponsorships_by_network ON sponsorships (network, sponsored_at, gwei) WHERE network IS NOT NULL`,
    `CREATE INDEX sponsorships_due ON sponsorships (next_look_at) WHERE next_look_at IS NOT NULL`,
  ],
};
