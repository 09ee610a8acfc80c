import type { Cell, Figure, Table } from '../frame/report.ts';
import type { Statement } from './statements.ts';

/** What was found of a file with so many registrations. */
export interface Sizing {
  readonly size: number;
  readonly statements: readonly Statement[];
  /** By text; undefined where nothing counts them. */
  readonly rowsRead: ReadonlyMap<string, number> | undefined;
}

/** How many of the statements a page shows. */
const SHOWN = 20;
const TEXT_MAX = 110;
const PLAN_MAX = 150;

/** All statements by their ratio, the worst first; the numbers of rows are those of the smallest and largest file. */
export function statementTable(sizings: readonly Sizing[]): Table {
  const [first, last] = [sizings[0], sizings.at(-1)];
  const texts = (last?.statements ?? []).map(({ sql }) => sql);
  const sorted = texts.sort((one, other) => ratioOf(sizings, other) - ratioOf(sizings, one));
  const rows = sorted.map((sql) => {
    const cells: Cell[] = sizings.map((sizing) => microsOf(sizing, sql) ?? null);
    const ratio = ratioOf(sizings, sql);
    cells.push(ratio > 0 ? ratio : null);
    for (const sizing of [first, last]) cells.push(sizing?.rowsRead?.get(sql) ?? null);
    const { plan = '' } = find(last, sql) ?? {};
    return { name: sql.replace(/\s+/g, ' ').trim(), cells: [...cells, plan === '' ? 'no table is read' : plan] };
  });
  const columns = [
    ...sizings.map(({ size }) => ({ title: size.toLocaleString('en'), digits: 1 })),
    { title: 'ratio', digits: 2 },
    ...[first, last].map((sizing) => ({ title: `rows read at ${sizing?.size.toLocaleString('en')}` })),
    { title: 'plan' },
  ];
  return { title: 'processor µs of a statement', columns, rows };
}

/** The worst of a table, with texts and plans cut, for the page. */
export function worstOf(table: Table): Table {
  const cut = (text: string, max: number) =>
    (text.length > max ? `${text.slice(0, max)}…` : text).replaceAll('|', '\\|');
  const rows = table.rows.slice(0, SHOWN).map(({ name, cells }) => ({
    name: `\`${cut(name, TEXT_MAX)}\``,
    cells: cells.map((cell) => (typeof cell === 'string' ? cut(cell, PLAN_MAX) : cell)),
  }));
  const notes = [`The worst ${rows.length} of ${table.rows.length} statements; the command prints all.`];
  return { ...table, rows, notes };
}

/** How many there are, and how many of them read a growing table from end to end. */
export function statementFigures(sizings: readonly Sizing[]): Figure[] {
  const all = sizings.at(-1)?.statements ?? [];
  const scans = all.filter(({ scan }) => scan !== undefined).length;
  return [
    { label: 'statements measured', value: all.length },
    { label: 'statements that read a growing table from end to end', value: scans, floor: 0, atMost: true },
  ];
}

function ratioOf(sizings: readonly Sizing[], sql: string): number {
  const [few, many] = [sizings[0], sizings.at(-1)].map((sizing) => sizing && microsOf(sizing, sql));
  return few === undefined || many === undefined ? 0 : many / few;
}

function microsOf(sizing: Sizing, sql: string): number | undefined {
  return find(sizing, sql)?.micros;
}

function find(sizing: Sizing | undefined, sql: string): Statement | undefined {
  return sizing?.statements.find((one) => one.sql === sql);
}
