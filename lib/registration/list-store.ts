import type { NewestFirst } from '../db/newest-first.ts';

/** Registrations, newest first. */
export const REGISTRATIONS_LIST: NewestFirst = {
  table: 'registrations',
  index: 'registrations_by_time',
  at: 'registered_at',
  tie: 'id',
  lowest: 0,
};
