import { expect, test } from 'bun:test';
import { createPaint } from '../../../commands/cli/colour.ts';
import { createLog } from '../../../commands/serve/log.ts';
import type { LogEntry } from '../../../lib/base/log.ts';

function print(format: 'json' | 'pretty', entry: LogEntry): string {
  const lines: string[] = [];
  createLog(format, (line) => lines.push(line))(entry);
  return lines.join('\n');
}

test('a JSON entry is one line with its time first, big integers as text', () => {
  const line = print('json', { level: 'info', event: 'x', block: 12n, note: 'a\nb' });
  expect(line).not.toContain('\n');
  const { time, ...entry } = JSON.parse(line);
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(entry).toEqual({ level: 'info', event: 'x', block: '12', note: 'a\nb' });
});

test('a pretty entry is one line that no value can break or fake', () => {
  const line = print('pretty', {
    level: 'warn',
    event: 'x',
    path: '/a',
    note: 'a\n12:00:00 info fake',
    none: undefined,
  });
  expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}x path=\/a note="a\\n12:00:00 info fake"$/);
});

test('a pretty entry shows a stack on lines of its own', () => {
  expect(print('pretty', { level: 'error', event: 'x', stack: 'Error: y\n  at z' })).toEndWith(
    ' error x\n    Error: y\n      at z',
  );
});

test('numbers are rounded in both forms, and ids of requests are short in the one that people read', () => {
  const requestId = '0123456789abcdef0123456789abcdef';
  const entry: LogEntry = { level: 'info', event: 'x', ms: 2.1661309999999503, share: 0.0001234567, n: 12, requestId };
  expect(JSON.parse(print('json', entry))).toMatchObject({ ms: 2.17, share: 0.000123, n: 12, requestId });
  expect(print('pretty', entry)).toEndWith(' x ms=2.17 share=0.000123 n=12 requestId=89abcdef');
  expect(print('pretty', { ...entry, requestId: 'mine' })).toEndWith(' requestId=mine');
  expect(print('pretty', { level: 'info', event: 'x', all: { ms: 1.23456 } })).toContain('1.23');
});

test('a terminal shows the level in colour', () => {
  const lines: string[] = [];
  createLog('pretty', (line) => lines.push(line), createPaint(true))({ level: 'error', event: 'x' });
  expect(lines[0]).toContain('\x1b[31merror\x1b[39m');
  expect(print('pretty', { level: 'error', event: 'x' })).not.toContain('\x1b');
});
