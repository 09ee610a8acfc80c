import { describe, expect, test } from 'bun:test';
import { bars, line, niceTop } from '../../../assets/console/scale.ts';

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

describe('bars', () => {
  test('stand on the ground, the newest at the right edge', () => {
    expect(bars([5, 10], 10, SIZE)).toEqual([
      { x: 80, y: 25, width: 8, height: 25 },
      { x: 90, y: 0, width: 8, height: 50 },
    ]);
  });

  test('are seen however little they show, and not where there is nothing', () => {
    expect(bars([0, 1, 10_000], 10, SIZE).map(({ height }) => height)).toEqual([0, 1, 50]);
  });

  test('are never more than there are places, and none without values', () => {
    expect(bars(Array(500).fill(1), 10, SIZE)).toHaveLength(10);
    expect(bars(Array(500).fill(1), 10, SIZE)[0]?.x).toBe(0);
    expect(bars([], 10, SIZE)).toEqual([]);
  });
});

describe('a line', () => {
  test('goes through the middle of its places', () => {
    expect(line([0, 10], 10, 10, SIZE)).toBe('M81 50L85 50L95 0');
  });

  test('is interrupted where there is nothing, and stays inside', () => {
    expect(line([99, null, 5], 10, 10, SIZE)).toBe('M71 0L75 0M91 25L95 25');
    expect(line([], 10, 10, SIZE)).toBe('');
  });
});
