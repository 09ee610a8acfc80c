import type { Refusals, SettingsInForce } from '../../client/vault/wire.ts';
import type { Api } from './api.ts';
import { type Child, make } from './dom.ts';
import { formatCount, formatTime } from './format.ts';
import { readInto, readTable } from './read-table.ts';
import type { View } from './shell.ts';

/** The settings in force: those that differ from their defaults first. */
export function createSettings(api: Api): Pick<View, 'open' | 'refresh'> {
  return readInto('settings', async () => {
    const { settings } = (await api.get('settings')) as SettingsInForce;
    const rows = settings.map(({ name, value, default: fallback, changed, meaning }) => [
      make(changed ? 'b' : 'span', {}, ...breakable(name)),
      value ?? '–',
      changed ? fallback : '',
      meaning.replaceAll('`', ''),
    ]);
    const changed = settings.filter((one) => one.changed).length;
    const state = `${changed} of ${settings.length} differ from their default and stand first`;
    return { state, table: readTable('Settings in force', ['setting', 'value', 'default', 'meaning'], rows) };
  });
}

/** A name that breaks behind its underscores alone. */
function breakable(name: string): Child[] {
  return name.split(/(?<=_)/).flatMap((part) => [part, make('wbr')]);
}

/** The requests refused in the last hour, by error word and route. */
export function createRefusals(api: Api): Pick<View, 'open' | 'refresh'> {
  return readInto('refusals', async () => {
    const { since, refusals } = (await api.get('refusals')) as Refusals;
    const rows = refusals.map(({ error, status, cause, route, count }) => [
      make('b', {}, error),
      formatCount(count),
      route === 'unknown' ? 'no such path' : route,
      `${status === 0 ? '' : `${status}: `}${cause.replaceAll('`', '')}`,
    ]);
    const table =
      rows.length === 0
        ? make('p', { class: 'empty' }, 'Nothing was refused.')
        : readTable('Refusals by word and route', ['error', 'times', 'route', 'meaning'], rows);
    const sum = refusals.reduce((all, { count }) => all + count, 0);
    return { state: `${formatCount(sum)} since ${formatTime(since)}, of all processes`, table };
  });
}
