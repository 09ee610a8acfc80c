import type { Migration } from './schema-1.ts';

/** In which language, and for which app, the addresses of recoveries were named: their mails are the same. */
export const LANGUAGES_OF_ADDRESSES: Migration = {
  version: 37,
  name: 'languages of recovery addresses',
  statements: ['recovery_addresses', 'recovery_contacts'].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN app TEXT`,
    `ALTER TABLE ${table} ADD COLUMN language TEXT`,
  ]),
};
