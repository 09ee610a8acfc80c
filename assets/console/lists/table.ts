import { type Child, make } from '../dom.ts';
import { type MenuItem, menuButton, stepOf } from './menu.ts';
import type { StateWords } from './words.ts';

/** A column: its name, and its cell of a row. */
export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => Child;
}

/** The look of a table's rows, and their actions. */
export interface TableKind<Row> {
  readonly caption: string;
  /** The column that names a row: its cell is the button that opens it. */
  readonly first: Column<Row> & { readonly cell: (row: Row) => string };
  readonly columns: readonly Column<Row>[];
  readonly open: (row: Row) => void;
  /** The menu of a row. */
  readonly menu?: (row: Row) => readonly MenuItem[];
  /** The class of a row. */
  readonly mark?: (row: Row) => string;
}

/** A table whose rows are walked by the arrows: of all rows one alone is reached by Tab. */
export interface Table<Row> {
  readonly element: HTMLTableElement;
  /** Replaces the rows. */
  show(rows: readonly Row[]): void;
  /** Adds rows, and gives the first of them the focus. */
  add(rows: readonly Row[]): void;
  /** Rows without words, while the first ones are fetched. */
  wait(): void;
}

const SKELETONS = 8;

const MORE = () => make('th', { scope: 'col' }, make('span', { class: 'sr' }, 'More'));

/** Creates a table without rows. */
export function createTable<Row>(kind: TableKind<Row>): Table<Row> {
  const names = [kind.first.name, ...kind.columns.map(({ name }) => name)];
  const body = make('tbody');
  const head = names.map((name) => make('th', { scope: 'col', 'data-name': name }, name));
  const element = make(
    'table',
    { class: 'rows-table' },
    make('caption', { class: 'sr' }, kind.caption),
    make('thead', {}, make('tr', {}, ...head, kind.menu ? MORE() : null)),
    body,
  );
  body.addEventListener('keydown', (event) => walk(body, event));
  body.addEventListener('focusin', ({ target }) => reach(body, (target as Element).closest('tr')));
  return {
    element,
    show(rows) {
      body.replaceChildren(...rows.map((row) => rowOf(row, kind)));
      reach(body, body.firstElementChild);
    },
    add(rows) {
      const added = rows.map((row) => rowOf(row, kind));
      body.append(...added);
      added[0]?.querySelector<HTMLElement>('[data-part="open"]')?.focus();
    },
    wait() {
      body.replaceChildren(...Array.from({ length: SKELETONS }, () => skeletonOf(names.length + 1)));
    },
  };
}

/** A state: a dot of its own form, and a word. */
export function stateMark({ look, text }: StateWords): HTMLElement {
  return make('span', { class: `state ${look}` }, text);
}

function rowOf<Row>(row: Row, { first, columns, open, menu, mark }: TableKind<Row>): HTMLElement {
  const name = first.cell(row);
  const button = make('button', { type: 'button', class: 'link open', 'data-part': 'open', tabindex: '-1' }, name);
  button.addEventListener('click', () => open(row));
  const attributes = { class: 'quiet', 'data-part': 'menu', tabindex: '-1', 'aria-label': `More about ${name}` };
  return make(
    'tr',
    { class: mark?.(row) ?? '' },
    make('td', { 'data-name': first.name }, button),
    ...columns.map(({ name, cell }) => make('td', { 'data-name': name }, cell(row))),
    menu
      ? make(
          'td',
          { class: 'more' },
          menuButton(attributes, '⋯', () => menu(row)),
        )
      : null,
  );
}

function skeletonOf(cells: number): HTMLElement {
  const blank = () => make('td', {}, make('span', { class: 'skeleton' }));
  return make('tr', { 'aria-hidden': 'true' }, ...Array.from({ length: cells }, blank));
}

function walk(body: HTMLTableSectionElement, event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (target.closest('[popover]')) return;
  const rows = [...body.rows];
  const next = stepOf(event.key, rows.indexOf(target.closest('tr') as HTMLTableRowElement), rows.length);
  if (next === undefined) return;
  event.preventDefault();
  rows[next]?.querySelector<HTMLElement>(`[data-part="${target.dataset['part'] ?? 'open'}"]`)?.focus();
}

/** Makes a row the one that Tab reaches. */
function reach(body: HTMLElement, row: Element | null): void {
  for (const one of body.querySelectorAll('[data-part][tabindex="0"]')) one.setAttribute('tabindex', '-1');
  for (const one of row?.querySelectorAll('[data-part]') ?? []) one.setAttribute('tabindex', '0');
}
