import { expect, test } from 'bun:test';
import { atLevel, describeError, LOG_CAUSES_MAX, LOG_LEVELS } from '../../../lib/base/log.ts';

test.each([
  ['error', 'error'],
  ['warn', 'error warn'],
  ['info', 'error warn info'],
  ['debug', 'error warn info debug'],
] as const)('at %s the log takes: %s', (level, taken) => {
  const seen: string[] = [];
  const log = atLevel(level, (entry) => seen.push(entry.level));
  for (const each of LOG_LEVELS) log({ level: each, event: 'test' });
  expect(seen.join(' ')).toBe(taken);
});

test('an error is told by name, message and stack', () => {
  const error = new TypeError('no such thing');
  expect(describeError(error)).toEqual({ message: 'TypeError: no such thing', stack: error.stack ?? '' });
});

test('all of its causes are told, the nearest first, without their stacks', () => {
  const root = new RangeError('disk full');
  const error = new Error('not saved', { cause: new Error('no commit', { cause: root }) });
  expect(describeError(error).cause).toBe('Error: no commit; RangeError: disk full');
  expect(describeError(new Error('x', { cause: 'text' })).cause).toBe('text');
  expect(describeError(new Error('x', { cause: null })).cause).toBe('null');
});

test('a chain of causes that never ends is told up to a bound', () => {
  const error = new Error('round');
  error.cause = error;
  expect(describeError(error).cause?.split('; ')).toEqual(new Array(LOG_CAUSES_MAX).fill('Error: round'));
});

test.each<[string, unknown]>([
  ['text', 'text'],
  ['undefined', undefined],
  ['null', null],
  ['7', 7],
  ['Symbol(s)', Symbol('s')],
  ['a thrown object', { code: 1 }],
  ['a thrown object', Object.create(null)],
])('what is no error is told as text: %s', (message, thrown) => {
  expect(describeError(thrown)).toEqual({ message });
});
