import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createCache } from '../../../lib/base/lru-cache.ts';
import { SEED } from '../../support/seed.ts';

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

test('holds what a list in order of use holds, under any uses', () => {
  const keys = fc.integer({ min: 0, max: 6 });
  const use = fc.record({ how: fc.constantFrom('get', 'set', 'delete'), key: keys, value: fc.integer() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(use, { maxLength: 60 }), (max, uses) => {
      const cache = createCache<number, number>(max);
      // The newest last.
      let list: [number, number][] = [];
      for (const { how, key, value } of uses) {
        const found = list.find(([known]) => known === key);
        list = list.filter(([known]) => known !== key);
        if (how === 'get') {
          expect(cache.get(key)).toBe(found?.[1]);
          if (found) list.push(found);
        } else if (how === 'set') {
          cache.set(key, value);
          list = [...list, [key, value] as [number, number]].slice(-max);
        } else cache.delete(key);
      }
      for (const key of [0, 1, 2, 3, 4, 5, 6]) expect(cache.get(key)).toBe(list.find(([known]) => known === key)?.[1]);
    }),
    { seed: SEED },
  );
});
