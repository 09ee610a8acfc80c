// The tables of docs/scaling.md: arithmetic over what the benches measured. `bun scripts/benchmarks.ts` writes them.
import type { Result } from '../tests/bench/frame/results.ts';
import type { Cell } from '../tests/bench/frame/table.ts';

type Results = ReadonlyMap<string, Result>;

/** The tables by the names that the page marks. */
export const SCALING: Readonly<Record<string, (results: Results) => string[]>> = {
  'scaling-disk': disk,
  'scaling-core': core,
  'scaling-vaults': vaults,
};

const DAY_S = 86_400;
const YEAR_S = 365 * DAY_S;
const SIZES = [1_000_000, 10_000_000, 100_000_000];

function disk(results: Results): string[] {
  const each = median(results.get('growth')?.figures?.[0]?.value);
  if (each === undefined) return ['Not measured yet.'];
  const rows = SIZES.map((size) =>
    row(text(size), `${text((size * each) / 1e9, 1)} GB`, text(size / DAY_S), text(size / YEAR_S, 2)),
  );
  return [
    ...head(`registrations of ${text(each)} bytes`, 'on the disk', 'a second, if it grows so in a day', 'in a year'),
    ...rows,
  ];
}

/** The requests of one person's registration, and how often each is made. */
const SIGN_UP = [
  ['POST /api/verify/send', 1],
  ['POST /api/verify/check', 1],
  ['GET /api/sessions/check', 1],
  ['POST /api/dids', 1],
  ['GET /api/dids/lookup', 3],
] as const;

function core(results: Results): string[] {
  const table = results.get('scale')?.tables[0];
  const column = table?.columns.findLast(({ title }) => /^[\d,]+$/.test(title))?.title ?? '';
  const micros = SIGN_UP.map(([route]) => cellOf(results, 'scale', 0, route, column));
  if (micros.some((one) => one === undefined)) return ['Not measured yet.'];
  const rows = SIGN_UP.map(([route, times], i) =>
    row(route, times, text(micros[i] ?? 0), text(times * (micros[i] ?? 0))),
  );
  const total = SIGN_UP.reduce((sum, [, times], i) => sum + times * (micros[i] ?? 0), 0);
  const perSecond = 1e6 / total;
  return [
    ...head(`one core, a file of ${column} registrations`, 'times', 'processor µs', 'of a sign-up'),
    ...rows,
    row('a sign-up', '', '', text(total)),
    row('sign-ups a second that fill the core', '', '', text(perSecond)),
    row('… a day', '', '', text(perSecond * DAY_S)),
    row('sign-ups a second at a third of the core', '', '', text(perSecond / 3)),
  ];
}

function vaults(results: Results): string[] {
  const server = results.get('server');
  const alone = ['GET /api/dids/lookup', 'POST /api/verify/send'].map((route) =>
    cellOf(results, 'http', 0, route, 'requests/s'),
  );
  const [lookups, sends] = alone;
  if (server === undefined || lookups === undefined || sends === undefined) return ['Not measured yet.'];
  const names = server.tables[0]?.rows.map(({ name }) => name) ?? [];
  const rows = names.map((name) => {
    const of = (table: number, column: string) => cellOf(results, 'server', table, name, column) ?? 0;
    const cells = [0, 1].flatMap((table) => [text(of(table, 'together/s')), text(of(table, 'p99 ms'))]);
    return row(`${name} on one libSQL server`, ...cells, text(of(1, 'server µs')));
  });
  return [
    ...head('', 'look-ups/s', 'p99 ms', 'sends/s', 'p99 ms', 'server’s processor µs a send'),
    row('one vault on a file', text(lookups), p99(results, 0), text(sends), p99(results, 1), '–'),
    ...rows,
  ];
}

function p99(results: Results, at: 0 | 1): string {
  const route = ['GET /api/dids/lookup', 'POST /api/verify/send'][at] ?? '';
  return text(cellOf(results, 'http', 0, route, 'p99 ms') ?? 0);
}

/** The median in a row and a column of a part's table. */
function cellOf(results: Results, part: string, table: number, name: string, title: string): number | undefined {
  const found = results.get(part)?.tables[table];
  const at = found?.columns.findIndex((column) => column.title === title) ?? -1;
  return median(found?.rows.find((one) => one.name === name)?.cells[at]);
}

function median(cell: Cell | undefined): number | undefined {
  if (typeof cell === 'number') return cell;
  return cell !== null && typeof cell === 'object' ? cell.median : undefined;
}

function head(...titles: string[]): string[] {
  return [
    row(...titles),
    `|---|${titles
      .slice(1)
      .map(() => '--:|')
      .join('')}`,
  ];
}

function row(...cells: (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}

function text(value: number, digits = 0): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
