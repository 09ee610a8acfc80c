import { expect, test } from 'bun:test';
import { DatabaseUnavailable, VaultError } from '../../../lib/base/error.ts';
import { UpstreamError } from '../../../lib/base/http-client.ts';
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

test.each<[string, Error]>([
  ['an upstream that is down', new VaultError('rpc_error', { cause: new UpstreamError('unreachable') })],
  ['an upstream itself', new UpstreamError('timeout')],
  ['a database that is away', new DatabaseUnavailable('no answer')],
  ['a connection that is refused', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  ['a mail server that takes no password', Object.assign(new Error('Invalid login'), { code: 'EAUTH' })],
  ['a full disk', Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })],
])('%s has no stack', (_, error) => {
  expect(describeError(error).stack).toBeUndefined();
});

test.each<[string, Error]>([
  ['a mistake of ours', new TypeError('no such thing')],
  ['a wrong argument', Object.assign(new TypeError('no'), { code: 'ERR_INVALID_ARG_TYPE' })],
  ['a wrong statement', Object.assign(new Error('syntax error'), { code: 'SQLITE_ERROR' })],
  ['what a caller is told as internal_error', new VaultError('internal_error', { cause: new Error('x') })],
])('%s has its stack', (_, error) => {
  expect(describeError(error).stack).toContain('log.test.ts');
});

test.each([
  ['Error: no\n    at serve (/$bunfs/root/chunk-1.js:2:3)', 'Error: no\n    at serve (chunk-1.js:2:3)'],
  ['Error: no\n    at file:///$bunfs/root/server.js:2:3', 'Error: no\n    at server.js:2:3'],
  ['Error: no\n    at B:\\~BUN\\root\\server.js:2:3', 'Error: no\n    at server.js:2:3'],
])('the path of the program inside itself is left out: %p', (stack, shown) => {
  const error = Object.assign(new Error('no'), { stack });
  expect(describeError(error).stack).toBe(shown);
  expect(describeError(new Error(stack)).message).not.toMatch(/bunfs|~BUN/);
});
