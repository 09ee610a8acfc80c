import { describe, expect, test } from 'bun:test';
import { bars, ground, line, niceTop, ticks } from '../../../assets/console/scale.ts';

const SIZE = { width: 100, height: 50 };

describe('a scale', () => {
  test.each([
    [0, 1],
    [Number.NaN, 1],
    [1, 1],
    [1.1, 2],
    [3, 5],
    [7, 10],
    [10, 10],
    [11, 20],
    [499, 500],
    [501, 1000],
  ])('of %p goes to %p', (max, top) => {
    expect(niceTop(max)).toBe(top);
  });
});

test.each([
  [1, [0, 1]],
  [2, [0, 1, 2]],
  [5, [0, 5]],
  [10, [0, 5, 10]],
  [500, [0, 250, 500]],
])('the axis up to %p has two or three whole values', (top, values) => {
  expect(ticks(top)).toEqual(values);
});

describe('bars', () => {
  test('stand on the ground, the newest at the right edge', () => {
    expect(bars([5, 10], 10, SIZE)).toEqual([
      { x: 0, y: 25, width: 40, height: 25 },
      { x: 50, y: 0, width: 40, height: 50 },
    ]);
  });

  test('are seen however little they show, and not where there is nothing or no data', () => {
    expect(bars([0, 1, null, 10_000], 10_000, SIZE).map(({ x, height }) => [x, height])).toEqual([
      [0, 0],
      [25, 1],
      [75, 50],
    ]);
    expect(bars([], 10, SIZE)).toEqual([]);
  });
});

describe('a line', () => {
  test('goes through the middle of its places', () => {
    expect(line([0, 10], 10, SIZE)).toBe('M5 50L25 50L75 0');
  });

  test('is interrupted where there is nothing, and stays inside', () => {
    expect(line([99, null, 5, null], 10, SIZE)).toBe('M2.5 0L12.5 0M52.5 25L62.5 25');
    expect(line([], 10, SIZE)).toBe('');
  });
});

test('the ground is drawn below what is known, zero too, and has a gap where nothing is', () => {
  expect(ground([0, 3, null, null, 0], SIZE)).toBe('M0 50H40M80 50H100');
  expect(ground([null, null], SIZE)).toBe('');
  expect(ground([1, 1], SIZE)).toBe('M0 50H100');
});
