import { expect, test } from 'bun:test';
import { limitName, limitWords } from '../../../assets/console/limit-names.ts';
import { STORED_LIMITS } from '../../../lib/limits/catalogue.ts';

test('every limit that the operator is shown has words of its own', () => {
  const words = STORED_LIMITS.map(limitWords);
  expect(words.filter((one) => STORED_LIMITS.some((name) => name === one))).toEqual([]);
  expect(new Set(words).size).toBe(STORED_LIMITS.length);
  expect(limitName('sends-per-ip')).toBe('Codes asked for by an IP address (sends-per-ip)');
});
