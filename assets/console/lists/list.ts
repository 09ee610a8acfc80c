import { explain } from '../answer.ts';
import type { Api } from '../api.ts';
import { byId, make, say } from '../dom.ts';
import { nounOf } from '../format.ts';
import { ROWS_FIRST, ROWS_MORE } from '../limits.ts';
import type { Place } from '../shell.ts';
import { type FileForm, saveList } from './export.ts';
import { apiQuery, createFilters, type FilterKind, type Filters, type LookUp } from './filters.ts';
import { menuButton } from './menu.ts';
import { wholeMoment } from './moment.ts';
import { type Read, readRows } from './read.ts';
import { createTable, type Table, type TableKind } from './table.ts';

/** A list of the API. */
export interface ListKind<Row> extends FilterKind, TableKind<Row> {
  /** The singular name of its rows; the plural adds an s. */
  readonly one: string;
  /** The text of an empty list: how to get a row. */
  readonly howToFill: string;
  /** The offers where a look-up finds no row. */
  readonly unfound?: (lookUp: LookUp) => readonly Node[];
  /** Called when the view is opened, with its address. */
  readonly onOpen?: (place: Place) => void;
}

/** A list in its view. */
export interface List {
  open(place: Place): void;
  /** Reads the list again. */
  reload(): void;
  setApps(names: readonly string[]): void;
  /** Forgets what is shown. */
  clear(): void;
}

/** A list and its rows on the page. */
interface State<Row> {
  readonly api: Api;
  readonly kind: ListKind<Row>;
  readonly sayState: (text: string) => void;
  readonly parts: Parts<Row>;
  place: Place | undefined;
  address: URLSearchParams;
  lookUp: LookUp | undefined;
  shown: number;
  read: Read<Row> | undefined;
  total: Read<Row>['total'];
  /** Counts the readings: an answer that another has overtaken is dropped. */
  run: number;
}

interface Parts<Row> {
  readonly table: Table<Row>;
  readonly frame: HTMLElement;
  readonly empty: HTMLElement;
  readonly more: HTMLButtonElement;
  readonly status: HTMLElement;
}

const NUMBER = new Intl.NumberFormat('en');

/** Creates a list in its view's element; `sayState` writes the line beside the view's title. */
export function createList<Row>(api: Api, kind: ListKind<Row>, sayState: (text: string) => void): List {
  const parts = createParts(kind);
  const nothing = { place: undefined, lookUp: undefined, read: undefined, total: null, shown: 0, run: 0 };
  const state: State<Row> = { api, kind, sayState, parts, address: new URLSearchParams(), ...nothing };
  const filters = createFilters(kind, {
    onFilter: (query) => choose(state, query),
    onLookUp(lookUp) {
      filters.show(new URLSearchParams());
      // The browser keeps addresses: they have no identifier.
      choose(state, new URLSearchParams(lookUp.by === 'identifier' ? {} : { [lookUp.by]: lookUp.value }), lookUp);
    },
  });
  byId(`view-${kind.name}`).append(...build(state, filters));
  return {
    open(place) {
      state.place = place;
      state.address = place.query;
      const by = kind.lookUps.map(([name]) => name).find((name) => place.query.has(name));
      state.lookUp = by === undefined ? undefined : { by, value: place.query.get(by) ?? '' };
      filters.show(place.query);
      void load(state);
      kind.onOpen?.(place);
    },
    reload: () => void load(state),
    setApps: filters.setApps,
    clear() {
      state.run++;
      state.lookUp = undefined;
      filters.reset();
      parts.table.show([]);
      sayState('');
    },
  };
}

function createParts<Row>(kind: ListKind<Row>): Parts<Row> {
  const table = createTable(kind);
  const more = make('button', { type: 'button', class: 'wide', hidden: '' });
  return {
    table,
    frame: make('div', { class: 'scroll list' }, table.element, more),
    empty: make('div', { class: 'empty', hidden: '' }),
    more,
    status: make('p', { class: 'note list-status', role: 'status' }),
  };
}

function build<Row>(state: State<Row>, { parts: [search, form], show }: Filters): HTMLElement[] {
  const { kind, parts } = state;
  const reload = make('button', { type: 'button' }, 'Reload');
  reload.addEventListener('click', () => void load(state));
  const leave = menuButton({ id: `${kind.name}-export`, class: 'for-operators' }, 'Export', () => [
    { label: 'CSV, for spreadsheets', act: () => void save(state, 'csv') },
    { label: 'JSON Lines', act: () => void save(state, 'jsonl') },
  ]);
  form?.append(make('div', { class: 'last' }, reload, leave));
  parts.more.addEventListener('click', () => void loadMore(state));
  parts.empty.addEventListener('click', ({ target }) => {
    if (!(target instanceof HTMLButtonElement) || target.dataset['part'] !== 'all') return;
    show(new URLSearchParams());
    choose(state, new URLSearchParams());
  });
  return [search, form, parts.status, parts.frame, parts.empty].filter((one) => one !== undefined);
}

/** Shows another part of the list, and puts it into the address. */
function choose<Row>(state: State<Row>, address: URLSearchParams, lookUp?: LookUp): void {
  state.address = address;
  state.lookUp = lookUp;
  state.place?.setQuery(address);
  void load(state);
}

function queryOf<Row>({ lookUp, address }: State<Row>): Record<string, string> {
  return lookUp ? { [lookUp.by]: lookUp.value } : apiQuery(address);
}

async function load<Row>(state: State<Row>): Promise<void> {
  const { api, kind, lookUp, parts, sayState } = state;
  const { table, frame, empty, more, status } = parts;
  const own = ++state.run;
  // The count is that of the rows shown: it does not stand beside those that are fetched.
  sayState('Loading…');
  [frame.hidden, table.element.hidden, empty.hidden, more.hidden] = [false, false, true, true];
  say(status, '');
  table.wait();
  frame.setAttribute('aria-busy', 'true');
  const limit = lookUp ? undefined : ROWS_FIRST;
  try {
    const read = await readRows<Row>(api, kind.name, { query: queryOf(state), limit, cursor: null });
    if (own !== state.run) return;
    Object.assign(state, { read, total: read.total, shown: read.rows.length });
    table.show(read.rows);
    tellEnd(state);
  } catch (error) {
    if (own !== state.run) return;
    sayState('');
    sayEmpty(parts, make('p', { class: 'failure', role: 'alert' }, explain(error)));
  } finally {
    if (own === state.run) frame.removeAttribute('aria-busy');
  }
}

async function loadMore<Row>(state: State<Row>): Promise<void> {
  const { api, kind, parts, run } = state;
  const cursor = state.read?.page.next ?? null;
  parts.more.disabled = true;
  try {
    const read = await readRows<Row>(api, kind.name, { query: queryOf(state), limit: ROWS_MORE, cursor });
    if (run !== state.run) return;
    Object.assign(state, { read, shown: state.shown + read.rows.length });
    tellEnd(state);
    parts.table.add(read.rows);
    say(parts.status, `${NUMBER.format(state.shown)} shown.`);
  } catch (error) {
    say(parts.status, explain(error));
  } finally {
    parts.more.disabled = false;
  }
}

/** Says how many rows there are, and what the button below brings. */
function tellEnd<Row>(state: State<Row>): void {
  const { kind, parts, shown, read, total, sayState } = state;
  const isEnd = (read?.page.next ?? null) === null;
  const isFiltered = Object.keys(queryOf(state)).length > 0;
  const count = isEnd ? { count: shown, exact: true } : total;
  const all = Math.max(count?.count ?? 0, shown);
  const words = isFiltered ? 'found' : nounOf(all, kind.one);
  sayState(count ? `${count.exact ? '' : 'At least '}${NUMBER.format(all)} ${words}` : '');
  parts.table.element.hidden = shown === 0;
  if (shown === 0 && isEnd) {
    sayEmpty(parts, ...(isFiltered ? unmatched(state) : [kind.howToFill]));
  }
  parts.more.hidden = isEnd;
  const left = (count?.count ?? 0) - shown;
  if (left > 0) say(parts.more, `${count?.exact ? '' : 'At least '}${NUMBER.format(left)} more`);
  else parts.more.replaceChildren('Look further back than ', wholeMoment(read?.page.searchedTo ?? null));
}

function unmatched<Row>({ kind, lookUp }: State<Row>): readonly (Node | string)[] {
  const all = make('button', { type: 'button', 'data-part': 'all' }, 'Show all');
  if (!lookUp) return ['Nothing matches. ', all];
  return ['Nothing matches. Only the whole value is found, no part of it. ', all, ...(kind.unfound?.(lookUp) ?? [])];
}

function sayEmpty<Row>({ frame, empty }: Parts<Row>, ...said: readonly (Node | string)[]): void {
  frame.hidden = true;
  empty.hidden = false;
  empty.replaceChildren(...said);
}

async function save<Row>(state: State<Row>, form: FileForm): Promise<void> {
  const { api, kind, lookUp, parts } = state;
  if (lookUp) return say(parts.status, 'What was looked up is not exported. Choose a filter first.');
  say(parts.status, 'Exporting…');
  const onPart = (part: number) => say(parts.status, `Exporting, request ${part}…`);
  try {
    const name = await saveList(api, kind.name, { query: queryOf(state), form, onPart });
    say(parts.status, `Saved ${name}. Its identifiers are masked. The audit channel has a record.`);
  } catch (error) {
    say(parts.status, explain(error));
  }
}
