import { expect, test } from 'bun:test';
import { addLazily, copyOf } from '../../../lib/base/lazily.ts';

/** An object with one member that counts how often it is made. */
function counting() {
  const made = { times: 0 };
  const object = addLazily(
    { own: 1 },
    {
      late: () => {
        made.times++;
        return {};
      },
    },
  );
  return { object, made };
}

test('a member is made at the first look at it, and stays', () => {
  const { object, made } = counting();
  expect([object.own, Object.keys(object), made.times]).toEqual([1, ['own', 'late'], 0]);
  expect(object.late).toBe(object.late);
  expect(made.times).toBe(1);
});

test('a copy makes nothing, and shares what is made', () => {
  const { object, made } = counting();
  const copy = copyOf(object);
  expect(made.times).toBe(0);
  expect(copy.late).toBe(object.late);
  expect(made.times).toBe(1);
  expect(copyOf({ ...object })).toEqual({ own: 1, late: {} });
});

test('a member that could not be made is made at the next look', () => {
  let isBroken = true;
  const object = addLazily(
    {},
    {
      late: () => {
        if (isBroken) throw new Error('not yet');
        return 1;
      },
    },
  );
  expect(() => object.late).toThrow('not yet');
  isBroken = false;
  expect(object.late).toBe(1);
});
