import { field } from '../answer.ts';
import { byId, make } from '../dom.ts';
import { startOfDay } from './moment.ts';

/** A word of the API and its name for people. */
export type Choice = readonly [string, string];

/** The filters and searches of a list. */
export interface FilterKind {
  readonly name: string;
  readonly statuses: readonly Choice[];
  /** The first is the default of the form. */
  readonly lookUps: readonly Choice[];
  readonly example: string;
}

/** An exact value to look for, in place of a filter. */
export interface LookUp {
  readonly by: string;
  readonly value: string;
}

/** The forms above a list. */
export interface Filters {
  readonly parts: readonly HTMLElement[];
  /** Shows what an address asks for. */
  show(query: URLSearchParams): void;
  setApps(names: readonly string[]): void;
  /** Forgets what was typed. */
  reset(): void;
}

/** Creates both forms; they call `onFilter` with the new address, and `onLookUp`. */
export function createFilters(
  kind: FilterKind,
  on: { readonly onFilter: (query: URLSearchParams) => void; readonly onLookUp: (lookUp: LookUp) => void },
): Filters {
  const fields = fieldsOf(kind);
  const filter = make('form', { class: 'toolbar filters', 'aria-label': 'Filter' }, ...fields);
  filter.addEventListener('submit', (event) => event.preventDefault());
  filter.addEventListener('change', () => {
    const given = [...new FormData(filter)].map(([name, value]) => [name, String(value)]);
    on.onFilter(new URLSearchParams(given.filter(([, value]) => value !== '')));
  });
  const lookUp = lookUpForm(kind, on.onLookUp);
  return {
    parts: [lookUp, filter],
    reset() {
      lookUp.reset();
      filter.reset();
    },
    show(query) {
      for (const one of filter.elements) {
        if (one instanceof HTMLInputElement || one instanceof HTMLSelectElement) one.value = query.get(one.name) ?? '';
      }
    },
    setApps(names) {
      const apps = byId(`${kind.name}-app`, HTMLSelectElement);
      byId(`view-${kind.name}`).classList.toggle('one-app', names.length < 2);
      apps.replaceChildren(...optionsOf([['', 'Any app'], ...names.map((name): Choice => [name, name])]));
    },
  };
}

/** The filters of an address in the API's form: the days are those of this browser, both included. */
export function apiQuery(address: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = {};
  for (const name of ['status', 'channel', 'app']) {
    const value = address.get(name);
    if (value) query[name] = value;
  }
  const from = startOfDay(address.get('from') ?? '');
  const to = startOfDay(address.get('to') ?? '', 1);
  return { ...query, ...(from && { from }), ...(to && { to }) };
}

function lookUpForm({ name, lookUps, example }: FilterKind, onLookUp: (lookUp: LookUp) => void): HTMLFormElement {
  const by = make('select', { name: 'by', id: `${name}-by` }, ...optionsOf(lookUps));
  const form = make(
    'form',
    { class: 'toolbar lookup for-operators', id: `${name}-lookup`, role: 'search' },
    make('label', lookUps.length > 1 ? {} : { hidden: '' }, make('span', { class: 'sr' }, 'By'), by),
    make(
      'label',
      { class: 'grow' },
      make('span', { class: 'sr' }, 'Value'),
      make('input', {
        ...{ id: `${name}-value`, name: 'value', required: '', autocomplete: 'off', spellcheck: 'false' },
        ...{ placeholder: example, ...(name === 'registrations' ? { 'aria-keyshortcuts': 'l' } : {}) },
      }),
    ),
    make('button', { type: 'submit' }, 'Look up'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onLookUp({ by: field(form, 'by'), value: field(form, 'value') });
  });
  return form;
}

function fieldsOf({ name, statuses }: FilterKind): readonly HTMLElement[] {
  const kinds: readonly Choice[] = [
    ['', 'Any kind'],
    ['email', 'Email'],
    ['sms', 'Phone'],
    ['handle', 'Handle'],
  ];
  const chosen = (field: string, label: string, choices: readonly Choice[]) =>
    make(
      'label',
      { class: `${field}-field` },
      make('span', { class: 'sr' }, label),
      make('select', { name: field, id: `${name}-${field}` }, ...optionsOf(choices)),
    );
  const day = (field: string, label: string) =>
    make('label', { class: 'day' }, label, make('input', { type: 'date', name: field, id: `${name}-${field}` }));
  return [
    chosen('status', 'State', [['', 'Any state'], ...statuses]),
    chosen('channel', 'Kind', kinds),
    chosen('app', 'App', [['', 'Any app']]),
    day('from', 'From'),
    day('to', 'To'),
  ];
}

function optionsOf(choices: readonly Choice[]): HTMLOptionElement[] {
  return choices.map(([value, text]) => make('option', { value }, text));
}
