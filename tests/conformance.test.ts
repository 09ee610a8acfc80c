import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CREDENTIAL_RULES, EVIDENCE_TESTS, RESOLUTION_RULES } from './support/evidence-rows.ts';
import { AGENT_TESTS, OPENID_TESTS } from './support/openid-rows.ts';

const SPECIFICATION = join(import.meta.dir, '../../shared/spec/vault-http-api.md');
const EVIDENCE = join(import.meta.dir, '../../shared/spec/evidence.md');
const OPENID = join(import.meta.dir, '../../shared/spec/openid.md');

const sources = readdirSync(import.meta.dir, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .map((name) => readFileSync(join(import.meta.dir, name), 'utf8'));

/** Whether a test has these words in its name. */
const isNamed = (words: string) => sources.some((source) => source.includes(words.replaceAll("'", "\\'")));

if (existsSync(SPECIFICATION)) {
  describe('every row of the specification has a test that is named after it', () => {
    test.each(specificationRows().map(([section, subject, row]) => nameOf(section, subject, row)))('%s', (name) => {
      expect([name, isNamed(name)]).toEqual([name, true]);
    });
  });
} else test.skip('the specification is not beside this checkout: its rows are not compared', () => {});

/** Whether the name of a test or of a group is these words, or begins with them. */
const begins = (words: string) => sources.some((source) => new RegExp(`['"]${RegExp.escape(words)}\\b`).test(source));

if (existsSync(EVIDENCE)) {
  const chapter = readFileSync(EVIDENCE, 'utf8');
  const resolution = chapter.split('\n## A.')[1]?.split('\n## B.')[0] ?? '';

  describe('credentials', () => {
    const part = chapter.split('\n## B.')[1]?.split('\n## Not built')[0] ?? '';
    test.each(CREDENTIAL_RULES)('%s has tests', (rule) => {
      expect([rule, begins(rule)]).toEqual([rule, true]);
    });
    test('have no other rules', () => {
      const rules = Array.from(part.matchAll(/^(\d+)\. /gm), ([, rule]) => `evidence B${rule}`);
      expect(rules).toEqual(CREDENTIAL_RULES);
    });
  });

  describe('the resolution of DIDs', () => {
    test.each(RESOLUTION_RULES)('%s has tests', (rule) => {
      expect([rule, begins(rule)]).toEqual([rule, true]);
    });
    test('has no other rules', () => {
      const rules = Array.from(resolution.matchAll(/^(\d+)\. /gm), ([, rule]) => `evidence A${rule}`);
      expect(rules).toEqual(RESOLUTION_RULES);
    });
    test.each(Object.entries(EVIDENCE_TESTS))('%s has tests', (row, names) => {
      expect([row, chapter.includes(`| ${row} |`)]).toEqual([row, true]);
      expect(names.filter((name) => !begins(name))).toEqual([]);
    });
  });
} else test.skip('the chapter on evidence is not beside this checkout: its rows are not compared', () => {});

if (existsSync(OPENID)) {
  const chapter = readFileSync(OPENID, 'utf8');
  const partOf = (heading: string) => chapter.split(`\n${heading}`)[1]?.split(/\n#+ /)[0] ?? '';

  describe('every module of the conformance plans has a test of its name', () => {
    const rows = firstCells(partOf('# Conformance')).filter(([, , result]) => result !== 'n/a');
    test.each(rows.flatMap(([names = '']) => modulesOf(names)))('%s', (name) => {
      const isTest = sources.some((source) => new RegExp(`'${name}[':]`).test(source));
      expect([name, isTest]).toEqual([name, true]);
    });
  });

  describe.each(Object.entries(OPENID_TESTS))('every row of %s has a test', (heading, tests) => {
    test('each has its entry', () => {
      expect(Object.keys(tests)).toEqual(firstCells(partOf(heading)).map(([first = '']) => first));
    });
    test.each(Object.entries(tests))('%s', (_, names) => {
      expect(names).not.toEqual([]);
      expect(names.filter((name) => !begins(name))).toEqual([]);
    });
  });

  describe('every rule of §12 has a test', () => {
    const rules = partOf('## 12.').replace(/\s+/g, ' ');
    test.each(Object.entries(AGENT_TESTS))('%s', (rule, names) => {
      expect([rule, rules.includes(rule)]).toEqual([rule, true]);
      expect(names.filter((name) => !begins(name))).toEqual([]);
    });
  });
} else test.skip('the chapter on OpenID Connect is not beside this checkout: its rows are not compared', () => {});

/** The cells of each row that is not a heading, without marks of code. */
function firstCells(text: string): string[][] {
  const lines = text.split('\n');
  const isRow = (line: string, i: number) =>
    line.startsWith('|') && !line.startsWith('|---') && !lines[i + 1]?.startsWith('|---');
  return lines.filter(isRow).map((line) => cellsOf(line.replaceAll('`', '')));
}

/** `oidcc-scope-profile, -all` as two names: a short one replaces the last word. */
function modulesOf(names: string): string[] {
  const all = names.split(/ \(/)[0]?.split(', ') ?? [];
  return all.map((name) => (name.startsWith('-') ? (all[0]?.replace(/-[^-]*$/, name) ?? '') : name));
}

/** What the name of a row's test begins with: the section, the operation without `/api/`, and the row's own words. */
function nameOf(section: string, subject: string, row: string): string {
  const words = row.replaceAll('`', '').replaceAll('\\"', '"');
  const operation = /^(?:GET|POST) \/(?:api\/)?([^{]*?)\/?(?:\{.*)?$/;
  const name = operation.exec(words)?.[1] ?? words;
  const of = operation.exec(subject)?.[1] ?? (section === '2' ? (SHORT[subject] ?? lowerFirst(subject)) : '');
  return [`§${section}`, of, name].filter(Boolean).join(' ');
}

/** Subjects of section 2 that names of tests shorten. */
const SHORT: Readonly<Record<string, string>> = {
  'Registration session request': 'session request',
  'IP registration counts': 'IP counts',
};

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Section, heading and first cell (of errors: the first two) of every table row in sections 2, 3, 4, 7 and 8. */
function specificationRows(): [string, string, string][] {
  let section = '';
  let endpoint = '';
  const rows: [string, string, string][] = [];
  const lines = readFileSync(SPECIFICATION, 'utf8').split('\n');
  for (const [i, line] of lines.entries()) {
    section = /^## (\d)\./.exec(line)?.[1] ?? section;
    endpoint = /^### (.*)/.exec(line)?.[1] ?? (line.startsWith('## ') ? '' : endpoint);
    const isHeader = lines[i + 1]?.startsWith('|---') === true;
    if (!'23478'.includes(section) || !line.startsWith('|') || line.startsWith('|---') || isHeader) continue;
    const [first = '', second = ''] = cellsOf(line);
    rows.push([section, endpoint.replace(/ \(.*/, ''), section === '7' ? `${first} ${second}` : first]);
  }
  return rows;
}

function cellsOf(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}
