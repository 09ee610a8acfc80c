import * as v from 'valibot';
import { about, Count, Did, words } from './common.ts';

const found = {
  identifiers: about(v.array(v.string()), 'The one asked for, and those proven for the same DID, after their channel'),
  dids: v.array(Did),
  accounts: about(v.array(v.string()), 'Controllers of the DIDs'),
  unproven: about(Count, 'Registrations of the DIDs that nobody signed for: they are not in the answer'),
};
const person = {
  ...found,
  next: about(v.nullable(v.string()), 'Sent as `after`, it continues; null at the end'),
};
const table = { table: v.string(), about: about(v.string(), 'The meaning of a row') };

/** A person's stored data, in words. */
export const PersonShown = v.object({
  ...person,
  tables: v.array(
    v.object({
      ...table,
      kept: about(v.string(), 'For how long'),
      erasure: about(words('removed', 'unlinked', 'stays'), 'The effect of an erasure on it'),
      why: about(v.string(), 'The data that an erasure leaves, and why'),
      rows: v.array(v.record(v.string(), v.string())),
    }),
  ),
});

/** A person's stored data, for machines. */
export const PersonExported = v.object({
  ...person,
  tables: v.array(
    v.object({
      ...table,
      rows: v.array(v.record(v.string(), v.nullable(v.union([v.string(), v.number()])))),
    }),
  ),
});

/** The result of an erasure, or of its dry run. */
export const PersonErased = v.object({
  ...found,
  erased: about(v.boolean(), 'False for a dry run'),
  tables: v.array(
    v.object({
      ...table,
      erasure: words('removed', 'unlinked', 'stays'),
      why: about(v.string(), 'The data that stays, and why'),
      rows: Count,
    }),
  ),
  waiting: about(Count, 'Rows that keep an address until a recovery is over: ask again then'),
  logEmptied: about(v.boolean(), 'Whether the log of the database file was emptied'),
});
