import type { Migration } from './schema-1.ts';

/** What is stored of a person is found by the second address of an account, too. */
export const CONTACTS_BY_ADDRESS: Migration = {
  version: 39,
  name: 'second addresses of accounts by address',
  statements: [`CREATE INDEX recovery_contacts_by_identifier ON recovery_contacts (identifier) WHERE identifier <> ''`],
};
