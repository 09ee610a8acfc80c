// bun scripts/benchmarks.ts: writes the tables of docs/benchmarks.md, docs/scaling.md and of the README from
// tests/bench/results/, which `npm run bench:all -- --save` measures; a test fails when one is stale.
import { join } from 'node:path';
import { type Result, savedResults } from '../tests/bench/frame/results.ts';
import { boundText, cellText, type Figure, isHeld, type Table } from '../tests/bench/frame/table.ts';
import { SCALING } from './scaling.ts';

type Results = ReadonlyMap<string, Result>;

/** A document with each table that it marks as the results have it. */
export function withResults(document: string, results: Results): string {
  return document.replace(MARKED, (_, begin: string, name: string, end: string) => {
    const lines = name in SUMMARIES ? SUMMARIES[name]?.(results) : partOf(name, results);
    return `${begin}\n${lines?.join('\n')}\n${end}`;
  });
}

/** The names that a document marks. */
export function marksOf(document: string): string[] {
  return Array.from(document.matchAll(MARKED), ([, , name = '']) => name);
}

const MARKED =
  /(<!-- Written by `bun scripts\/benchmarks\.ts`: ([\w-]+)\. -->)\n[\s\S]*?(<!-- The end of what is written\. -->)/g;

/** Tables over all results. */
const SUMMARIES: Readonly<Record<string, (results: Results) => string[]>> = {
  ...SCALING,
  figures: (results) => [
    '| | measured | floor | goal |',
    '|---|---|---|---|',
    ...figuresOf(results)
      .filter(isJudged)
      .map((figure) => {
        const { label, value, digits, unit = '', floor, goal } = figure;
        return `| ${label} | ${cellText(value, digits)}${unit} | ${judged(figure, floor)} | ${judged(figure, goal)} |`;
      }),
  ],
  headlines: (results) => [
    `| measured ${datesOf(results)} | |`,
    '|---|---|',
    ...figuresOf(results)
      .filter(({ headline }) => headline)
      .map(({ label, value, digits, unit = '' }) => `| ${label} | ${cellText(value, digits)}${unit} |`),
  ],
  machines: (results) => [
    '| part | date | commit | rounds | machine | placement | versions |',
    '|---|---|---|---|---|---|---|',
    ...[...results.values()].map(machineRow),
  ],
};

function figuresOf(results: Results): Figure[] {
  return [...results.values()].flatMap(({ figures = [] }) => figures);
}

function isJudged({ floor, goal }: Figure): boolean {
  return floor !== undefined || goal !== undefined;
}

function judged(figure: Figure, bound: number | undefined): string {
  if (bound === undefined) return '–';
  return `${boundText(figure, bound)} ${isHeld(figure, bound) ? '✓' : '✗'}`;
}

function machineRow({ name, date, commit, rounds, machine: m, placement, versions }: Result): string {
  const machine = `${m.processor}, ${m.cores} cores, ${m.memoryGiB} GiB, ${m.system}, ${m.fileSystem}`;
  const tools = Object.entries(versions).map(([tool, version]) => `${tool} ${version}`);
  const sync = `4 KiB synced in ${m.syncMs} ms`;
  return `| ${[name, date, commit, rounds, `${machine}, ${sync}`, placement, tools.join(', ')].join(' | ')} |`;
}

function datesOf(results: Results): string {
  const dates = [...new Set([...results.values()].map(({ date }) => date))].sort();
  const [first = '', last = first] = [dates[0], dates.at(-1)];
  const cores = [...new Set([...results.values()].map(({ machine }) => machine.cores))].join(' and ');
  return `${first === last ? first : `${first} to ${last}`}, ${cores} cores`;
}

function partOf(name: string, results: Results): string[] {
  const result = results.get(name);
  if (!result) return ['Not measured yet.'];
  return result.tables.flatMap((table, i) => [...(i === 0 ? [] : ['']), ...tableLines(table)]);
}

function tableLines({ title, columns, rows, notes = [] }: Table): string[] {
  return [
    `| ${[title, ...columns.map((column) => column.title)].join(' | ')} |`,
    `|---|${columns.map(() => '--:|').join('')}`,
    ...rows.map(
      ({ name, cells }) => `| ${[name, ...cells.map((cell, i) => cellText(cell, columns[i]?.digits))].join(' | ')} |`,
    ),
    ...notes.flatMap((note) => ['', ...wrapped(note)]),
  ];
}

/** A sentence in lines of at most 120 columns. */
function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= 120) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

/** The documents with tables. */
export const DOCUMENTS = ['docs/benchmarks.md', 'docs/scaling.md', 'README.md'];

if (import.meta.main) {
  const results = await savedResults();
  for (const path of DOCUMENTS) {
    const file = Bun.file(join(import.meta.dir, '..', path));
    await Bun.write(file, withResults(await file.text(), results));
  }
}
