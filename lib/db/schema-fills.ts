import type { Migration } from './schema-1.ts';

/** How many empty transactions a signer has sent for nonces that no relay has: they cost ether. */
export const FILLS_ARE_COUNTED: Migration = {
  version: 24,
  name: 'empty transactions are counted',
  statements: [
    `ALTER TABLE signers ADD COLUMN fills INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE signers ADD COLUMN fills_since INTEGER`,
    `ALTER TABLE signers ADD COLUMN filled_nonce INTEGER`,
  ],
};
