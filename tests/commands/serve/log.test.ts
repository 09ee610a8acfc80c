import { expect, test } from 'bun:test';
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
