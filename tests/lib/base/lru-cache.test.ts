import { expect, test } from 'bun:test';
import { createCache } from '../../../lib/base/lru-cache.ts';

test('holds at most its limit, and forgets what was not asked for the longest', () => {
  const cache = createCache<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3);
  expect(['a', 'b', 'c'].map(cache.get)).toEqual([1, undefined, 3]);
});

test('a value set again is the newest, and takes no second place', () => {
  const cache = createCache<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  cache.set('a', 3);
  cache.set('c', 4);
  expect(['a', 'b', 'c'].map(cache.get)).toEqual([3, undefined, 4]);
});
