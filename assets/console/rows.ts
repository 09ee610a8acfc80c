import { make } from './dom.ts';
import type { ConsoleEvent } from './events.ts';
import { formatMoment, formatValue } from './format.ts';

/** Shows events in this order under `place`. Existing rows stay, so focus and selection stay too. */
export function createRows(place: HTMLElement): (events: readonly ConsoleEvent[]) => void {
  let shown: ReadonlyMap<number, HTMLElement> = new Map();
  return (events) => {
    const next = new Map(events.map((event) => [event.id, shown.get(event.id) ?? rowOf(event)]));
    for (const [id, row] of shown) if (!next.has(id)) row.remove();
    let at = place.firstElementChild;
    for (const row of next.values()) {
      if (row === at) at = at.nextElementSibling;
      else place.insertBefore(row, at);
    }
    shown = next;
  };
}

function rowOf({ id, app, at, channel, type, data }: ConsoleEvent): HTMLElement {
  const members = Object.entries(data).filter(([, value]) => value !== null);
  const details = members.map(([name, value]) =>
    make('span', { class: 'member' }, make('b', {}, formatValue(name.replaceAll('_', ' '))), ' ', shortValue(value)),
  );
  return make(
    'tr',
    { 'data-id': String(id) },
    make('td', { 'data-name': 'time', title: formatValue(at) }, formatMoment(at)),
    make('td', { 'data-name': 'app' }, formatValue(app)),
    make('td', { 'data-name': 'channel' }, formatValue(channel)),
    make('td', { 'data-name': 'event', class: 'type' }, formatValue(type)),
    make('td', { 'data-name': 'data', class: 'data' }, ...details),
  );
}

/** A hash by its ends, whole on hover; everything else as it is. */
function shortValue(value: unknown): Node | string {
  const text = formatValue(value);
  if (!/^0x[0-9a-f]{64}$/.test(text)) return text;
  return make('span', { title: text }, `${text.slice(0, 10)}…${text.slice(-8)}`);
}
