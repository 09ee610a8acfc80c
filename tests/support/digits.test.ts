import { expect, test } from 'bun:test';
import { otherCode, standsIn } from './digits.ts';

test('another code is none of those', () => {
  expect([otherCode(), otherCode('123456'), otherCode('000000'), otherCode('000001', '000000')]).toEqual([
    '000000',
    '000000',
    '000001',
    '000002',
  ]);
});

test('digits stand by themselves, not within a time, an id or a fraction', () => {
  const lines = ['{"code":"123456"}', 'Your code is 123456.', 'code=123456&'];
  expect(lines.filter((line) => !standsIn(line, '123456'))).toEqual([]);
  const others = ['{"at":1795123456780}', '{"id":"9a123456fe"}', '{"ms":1.123456}', '0123456', '123456_'];
  expect(others.filter((line) => standsIn(line, '123456'))).toEqual([]);
});
