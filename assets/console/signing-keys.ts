import type { ConsoleApps } from '../../client/vault/wire.ts';
import { shortened } from './lists/copy.ts';
import { moment } from './lists/moment.ts';
import { readTable } from './read-table.ts';

type SigningKey = ConsoleApps['signing_keys'][number];

/** Keys that sign for others: those of ID tokens, or of credentials. */
export function keyTable(caption: string, keys: readonly SigningKey[]): HTMLElement {
  return readTable(caption, COLUMNS, keys.map(rowOf));
}

const COLUMNS = ['key', 'state', 'signs from', 'published until'] as const;

const STATES: Readonly<Record<SigningKey['state'], string>> = {
  signing: 'signs',
  next: 'next: published, does not sign yet',
  former: 'former: published until the last that it signed has ended',
  sealed: 'cannot be opened: made under another VAULT_SECRET',
};

function rowOf({ kid, state, signs_from, ends_at }: SigningKey) {
  return [shortened(kid), STATES[state], moment(signs_from), ends_at === null ? 'the next one' : moment(ends_at)];
}
