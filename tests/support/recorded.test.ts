import { expect, test } from 'bun:test';
import { mergedRecord } from './recorded.ts';

const answer = (body: string) => ({ status: 200, body });

test('a run of some examples keeps what is recorded of the others, and drops operations that are gone', () => {
  const before = { 'GET /gone': answer('old'), 'GET /b': answer('old'), 'GET /a': answer('old') };
  const merged = mergedRecord(['GET /a', 'GET /b', 'GET /new', 'GET /page'], before, {
    'GET /new': answer('now'),
    'GET /b': answer('now'),
  });
  expect(Object.entries(merged)).toEqual([
    ['GET /a', answer('old')],
    ['GET /b', answer('now')],
    ['GET /new', answer('now')],
  ]);
});
