import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTES } from '../routes/index.ts';

const ROOT = join(import.meta.dir, '..');
const SPECIFICATION = join(ROOT, '../shared/spec/vault-http-api.md');

/**
 * One row of `docs/conformance.md`: what the specification says, and the test that shows it (or the step that will).
 */
interface Entry {
  readonly section: string;
  readonly row: string;
  readonly test: string;
}

const entries = readEntries();
const sources = readdirSync(import.meta.dir, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => readFileSync(join(import.meta.dir, name), 'utf8'));

describe('docs/conformance.md', () => {
  test.each(entries.filter(({ test: name }) => !name.startsWith('step ')))(
    '$section $row: its test exists',
    ({ test: name }) => {
      const found = sources.some((source) => source.includes(name.replaceAll("'", "\\'")) || source.includes(name));
      expect({ name, found }).toEqual({ name, found: true });
    },
  );

  test('no row stands twice', () => {
    const keys = entries.map(({ section, row }) => `${section} ${row}`);
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
  });

  test('every route the vault serves is in it', () => {
    const text = readFileSync(join(ROOT, 'docs/conformance.md'), 'utf8');
    const missing = ROUTES.filter(({ method, path }) => !text.includes(`${method} ${path}`));
    expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });
});

if (existsSync(SPECIFICATION)) {
  test('every row of the specification is in docs/conformance.md', () => {
    const missing = specificationRows().filter(
      ([section, row]) => !entries.some((entry) => entry.section === section && entry.row === row),
    );
    expect(missing).toEqual([]);
  });
} else console.log('the specification is not beside this checkout: its rows are not compared');

function readEntries(): Entry[] {
  const lines = readFileSync(join(ROOT, 'docs/conformance.md'), 'utf8').split('\n');
  const cells = lines.filter((line) => line.startsWith('| §')).map(cellsOf);
  return cells.map(([section = '', row = '', name = '']) => ({ section, row, test: name }));
}

/** Section and first cell (of errors: the first two) of every table row in sections 2, 3, 4, 7 and 8. */
function specificationRows(): [string, string][] {
  let section = '';
  let endpoint = '';
  const rows: [string, string][] = [];
  const lines = readFileSync(SPECIFICATION, 'utf8').split('\n');
  for (const [i, line] of lines.entries()) {
    section = /^## (\d)\./.exec(line)?.[1] ?? section;
    endpoint = /^### (.*)/.exec(line)?.[1] ?? (line.startsWith('## ') ? '' : endpoint);
    const isHeader = lines[i + 1]?.startsWith('|---') === true;
    if (!'23478'.includes(section) || !line.startsWith('|') || line.startsWith('|---') || isHeader) continue;
    const [first = '', second = ''] = cellsOf(line);
    const subject = endpoint.replace(/ \(.*/, '');
    rows.push([`§${section}`, [subject, section === '7' ? `${first} ${second}` : first].filter(Boolean).join(': ')]);
  }
  return rows;
}

function cellsOf(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}
