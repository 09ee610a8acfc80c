import { afterAll, expect, test } from 'bun:test';
import { temporaryFolder } from '../../support/databases.ts';
import { filled } from './fill.ts';
import { statementTable, worstOf } from './statement-report.ts';
import { type Statement, statementsOn } from './statements.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

test('the statements are those of a vault, each with its plan, and none reads a growing table from end to end', async () => {
  const all = await statementsOn(await filled(folder.path, 400), 400, 60);
  const lookUp = all.find(({ sql }) => sql.includes('FROM credentials'));
  expect(lookUp?.plan).toContain('SEARCH');
  expect(lookUp?.runs).toBeGreaterThanOrEqual(60);
  for (const word of ['INSERT INTO codes', 'INSERT OR IGNORE INTO sessions', 'DELETE FROM codes'])
    expect(all.filter(({ sql }) => sql.trim().startsWith(word))).not.toEqual([]);
  expect(all.filter(({ scan }) => scan !== undefined)).toEqual([]);
});

const statement = (sql: string, micros: number): Statement => ({
  sql,
  plan: 'SEARCH t',
  micros,
  runs: 1,
  scan: undefined,
  args: {},
});

test('the table begins with the statement that grew most, and its page cuts long texts', () => {
  const long = `SELECT ${'a'.repeat(200)}`;
  const table = statementTable([
    { size: 10, statements: [statement('SELECT 1', 2), statement(long, 1)], rowsRead: new Map([['SELECT 1', 7]]) },
    { size: 1_000, statements: [statement('SELECT 1', 2), statement(long, 3)], rowsRead: undefined },
  ]);
  expect(table.rows.map(({ cells }) => cells)).toEqual([
    [1, 3, 3, null, null, 'SEARCH t'],
    [2, 2, 1, 7, null, 'SEARCH t'],
  ]);
  const page = worstOf(table);
  expect(page.rows[0]?.name).toEndWith('a…`');
  expect(page.notes).toEqual(['The worst 2 of 2 statements; the command prints all.']);
});
