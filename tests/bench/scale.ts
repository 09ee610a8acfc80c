// npm run bench:scale [-- --save --sizes 1000,1000000,5000000 --only WORD]: what a vault costs that has many
// registrations. The files are kept in `BENCH_DIR`, else in the folder for temporary files: 2.6 GB for each million, and
// as much again while the backup of the largest is made. With `--only` the operator's part is left out. `--statements`
// measures each statement instead, on the same files; rows read are counted up to 1,000,000 registrations.
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { leaveServerCore } from './frame/place.ts';
import { type Cell, type Figure, publish, type Table } from './frame/report.ts';
import { each, interleaved, ratioOf } from './frame/rounds.ts';
import { cellText } from './frame/table.ts';
import { startServer } from './frame/target.ts';
import { filled } from './scale/fill.ts';
import { caseName, casesOf, PICKS, ROUTES, type Route, type Sized } from './scale/http.ts';
import { type Taken, takenOn } from './scale/operations.ts';
import { rowsReadOn } from './scale/rows-read.ts';
import { type Sizing, statementFigures, statementTable, worstOf } from './scale/statement-report.ts';
import { statementsOn } from './scale/statements.ts';

const options = benchOptions({ sizes: [1_000, 1_000_000, 5_000_000] });
leaveServerCore();
const folder = join(process.env['BENCH_DIR'] ?? tmpdir(), 'vault-scale');
mkdirSync(folder, { recursive: true });
const files = new Map<number, string>();
for (const size of options.sizes) files.set(size, await filled(folder, size));
const [smallest = 0] = options.sizes;
const largest = options.sizes.at(-1) ?? smallest;

/** The largest file whose rows are counted: the server that counts them makes a copy. */
const COUNTED_MAX = 1_000_000;
type Findings = ReadonlyMap<string, readonly Finding[]>;

const routes = ROUTES.filter(({ name }) => name.includes(options.only));
const taken = new Map<number, readonly Taken[]>();

if (options.statements) await measureStatements();
else await measureRequests();

async function measureRequests(): Promise<void> {
  const findings = await measure();
  if (options.only === '') for (const [size, path] of files) taken.set(size, await takenOn(path));
  await publish(
    {
      name: 'scale',
      tables: [httpTable(findings), ...(taken.size > 0 ? [operationsTable()] : [])],
      figures: routes.map((route) => figureOf(route, findings)),
    },
    options,
  );
}

async function measureStatements(): Promise<void> {
  const sizings: Sizing[] = [];
  for (const [size, path] of files) {
    const statements = await statementsOn(path, size);
    const rowsRead = size <= COUNTED_MAX ? await rowsReadOn(path, statements) : undefined;
    sizings.push({ size, statements, rowsRead });
  }
  const table = statementTable(sizings);
  // Their texts are too long for columns.
  for (const { name, cells } of table.rows)
    console.log(`${cells.map((cell) => cellText(cell as Cell, 1)).join(' | ')} | ${name}`);
  await publish({ name: 'statements', tables: [worstOf(table)], figures: statementFigures(sizings) }, options);
}

async function measure(): Promise<Findings> {
  const sized: Sized[] = [];
  for (const [size, path] of files) {
    const settings = { DID_REGISTRY_ADDRESS: 'none', DATABASE_URL: `file:${path}` };
    sized.push({ size, path, target: await startServer('vault', settings) });
  }
  const findings = await interleaved(casesOf(routes, sized, options.ms), options);
  for (const { target } of sized) await target.stop();
  return findings;
}

function httpTable(findings: Findings): Table {
  const larger = options.sizes.slice(1);
  const rows = routes.map(({ name }) => {
    const of = (size: number) => findings.get(caseName(name, size));
    const cells: Cell[] = [each(of(smallest), cpu)];
    for (const size of larger) cells.push(each(of(size), cpu), ratioOf(of(size), of(smallest), cpu));
    return { name, cells: [...cells, each(of(largest), (one) => one.p99Ms), statusesOf(of(largest))] };
  });
  const columns = [
    { title: smallest.toLocaleString('en'), digits: 1 },
    ...larger.flatMap((size) => [
      { title: size.toLocaleString('en'), digits: 1 },
      { title: 'ratio', digits: 2 },
    ]),
    { title: 'p99 ms of the last', digits: 1 },
    { title: 'statuses' },
  ];
  const notes = [
    `Columns are numbers of registrations. Reads ask for ${PICKS} of them, at random, each asked for before.`,
  ];
  return { title: 'processor µs of a request', columns, rows, notes };
}

function figureOf({ name, writes }: Route, findings: Findings): Figure {
  const [many, few] = [largest, smallest].map((size) => findings.get(caseName(name, size)));
  const label = `${largest.toLocaleString('en')} registrations ÷ ${smallest.toLocaleString('en')}: ${name}`;
  const value = ratioOf(many, few, cpu);
  return { label, value, digits: 2, unit: '×', atMost: true, floor: writes ? 1.6 : 1.3, goal: 1.1 };
}

function operationsTable(): Table {
  const rows = (taken.get(largest) ?? []).map(({ name }) => {
    const cells = options.sizes.flatMap((size): Cell[] => {
      const one = taken.get(size)?.find((other) => other.name === name);
      return [one?.ms ?? null, one?.stallMs ?? null, one?.residentMb ?? null];
    });
    return { name, cells };
  });
  const columns = options.sizes.flatMap((size) => [
    { title: `${size.toLocaleString('en')}: ms` },
    { title: 'longest stop ms' },
    { title: 'memory MB' },
  ]);
  const notes = [
    'The longest stop is how long all other requests waited at a time. Commands are processes of their own, and memory is their highest.',
  ];
  return { title: 'what an operator asks, and what runs by itself', columns, rows, notes };
}

function cpu({ cpuMicros }: Finding): number {
  return cpuMicros;
}

function statusesOf(all: readonly Finding[] = []): string {
  return [...new Set(all.flatMap(({ statuses }) => Object.keys(statuses)))].sort().join(' ');
}
