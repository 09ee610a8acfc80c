import { expect, test } from 'bun:test';
import { each, interleaved, medianOf, ratioOf } from './rounds.ts';

test('each round measures every case, begins with another step, and the warm-up does not count', async () => {
  const order: string[] = [];
  const named = (name: string) => ({
    name,
    run: async () => {
      order.push(name);
      return order.length;
    },
  });
  const findings = await interleaved([named('a'), [named('send'), named('check')], named('b')], {
    rounds: 3,
    warmUps: 1,
  });
  expect(order.slice(0, 4).join(' ')).toBe('a send check b');
  expect(order.slice(4, 8).join(' ')).toBe('a send check b');
  expect(order.slice(8, 12).join(' ')).toBe('send check b a');
  expect(order.slice(12).join(' ')).toBe('b a send check');
  expect(findings.get('a')).toEqual([5, 12, 14]);
});

test('a spread is the median and its ends; a ratio is formed within each round', () => {
  const [ours, theirs] = [
    [10, 30, 20],
    [5, 10, 20],
  ];
  expect(each(ours, (one) => one)).toEqual({ median: 20, low: 10, high: 30 });
  expect(ratioOf(ours, theirs, (one) => one)).toEqual({ median: 2, low: 1, high: 3 });
  expect(medianOf([4, 1, 3, 2])).toBe(2.5);
  expect(each(undefined, (one: number) => one).median).toBeNaN();
});
