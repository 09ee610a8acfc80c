import { explain } from './answer.ts';
import type { Api } from './api.ts';
import { type ChartCard, createChartCard } from './chart-card.ts';
import { drawnOf } from './chart-words.ts';
import { byId, make } from './dom.ts';
import type { History } from './history.ts';
import type { Place } from './shell.ts';

const NAMES = ['requests', 'sends', 'verifications', 'registrations', 'errors', 'latency'];
const RANGES = [
  ['hour', 'Last hour'],
  ['day', 'Last 24 hours'],
] as const;

/** The charts of the overview, drawn from data that the vault has stored: a reload loses nothing. */
export interface Charts {
  open(place: Place): void;
  refresh(): Promise<void>;
  clear(): void;
}

/** Creates the charts and the choice of their span, which is in the address. */
export function createCharts(api: Api): Charts {
  const cards = new Map<string, ChartCard>();
  const list = byId('charts');
  let range: History['range'] = 'hour';
  let place: Place | undefined;
  const buttons = RANGES.map(([name, words]) => {
    const button = make('button', { type: 'button', 'data-range': name }, words);
    button.addEventListener('click', () => {
      choose(name);
      place?.setQuery(new URLSearchParams(name === 'hour' ? {} : { range: name }));
      void refresh();
    });
    return button;
  });
  byId('chart-ranges').append(...buttons);
  const choose = (name: History['range']): void => {
    range = name;
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset['range'] === name));
  };
  const refresh = async (): Promise<void> => {
    const asked = range;
    try {
      const history = (await api.get('history', { range })) as History;
      if (asked !== range) return;
      if (cards.size === 0) for (const name of NAMES) cards.set(name, createChartCard(name));
      const shown = [...cards.values()].map(({ card }) => card);
      if (list.firstElementChild !== shown[0]) list.replaceChildren(...shown);
      for (const drawn of drawnOf(history)) cards.get(drawn.name)?.show(drawn, history.points);
    } catch (error) {
      // Older charts stay, with their age.
      if (cards.size === 0) list.replaceChildren(make('li', { class: 'failure' }, explain(error)));
    }
  };
  choose(range);
  return {
    open(opened) {
      place = opened;
      choose(opened.query.get('range') === 'day' ? 'day' : 'hour');
    },
    refresh,
    clear() {
      cards.clear();
      list.replaceChildren();
    },
  };
}
