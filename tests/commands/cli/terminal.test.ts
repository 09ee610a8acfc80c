import { expect, test } from 'bun:test';
import { createPaint, isColourful } from '../../../commands/cli/colour.ts';
import { columns, hang, widthOf, wrap } from '../../../commands/cli/terminal.ts';

const terminal = { isTTY: true, columns: 100 };
const pipe = {};
const plain = createPaint(false);

test('lines are as wide as COLUMNS says, else as the terminal, else 80', () => {
  expect(widthOf(pipe, { COLUMNS: '60' })).toBe(60);
  expect(widthOf(terminal, { COLUMNS: '60' })).toBe(60);
  expect(widthOf(terminal, { COLUMNS: '' })).toBe(100);
  expect(widthOf(terminal, { COLUMNS: 'many' })).toBe(100);
  expect(widthOf({ columns: 100 }, {})).toBe(80);
  expect(widthOf(pipe, {})).toBe(80);
  expect(widthOf({ isTTY: true, columns: 0 }, {})).toBe(40);
  expect(widthOf(pipe, { COLUMNS: '9' })).toBe(40);
  expect(widthOf(pipe, { COLUMNS: '500' })).toBe(120);
});

test.each<[boolean, object, Record<string, string>]>([
  [true, terminal, {}],
  [true, terminal, { NO_COLOR: '' }],
  [true, pipe, { FORCE_COLOR: '1' }],
  [true, pipe, { FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }],
  [false, pipe, {}],
  [false, terminal, { NO_COLOR: '1' }],
  [false, terminal, { TERM: 'dumb' }],
  [false, terminal, { FORCE_COLOR: '0' }],
  [false, terminal, { FORCE_COLOR: 'false' }],
  [true, terminal, { FORCE_COLOR: '' }],
])('colour is %p on %p with %p', (isOn, output, environment) => {
  expect(isColourful(output, environment)).toBe(isOn);
});

test('a style ends where it began, and is nothing without colour', () => {
  expect(createPaint(true).red('no')).toBe('\x1b[31mno\x1b[39m');
  expect(createPaint(true).red('')).toBe('');
  expect(plain.red('no')).toBe('no');
});

test('text is broken at blanks, and a word that is too long is not', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('one https://example.com two', 7)).toEqual(['one', 'https://example.com', 'two']);
  expect(wrap('', 7)).toEqual(['']);
  expect(hang('  is ', 'a b c d e f g h i j k l m n', 24)).toEqual([`  is a b c d e f g h i j`, '     k l m n']);
});

test('columns keep within the width', () => {
  const rows = [
    ['--a', 'word '.repeat(30).trim()],
    [`--${'b'.repeat(60)}`, 'what it means'],
  ] as const;
  const lines = columns(rows, 60, plain);
  expect(lines.filter((line) => line.length > 60)).toEqual([`  --${'b'.repeat(60)}`]);
  expect(lines.at(-1)).toBe('            what it means');
  expect(columns([['--a', 'b']], 60, createPaint(true))).toEqual(['  \x1b[36m--a\x1b[39m       b']);
});
