import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Ipld } from '../../../lib/ucan/ipld.ts';
import { parsePolicy, satisfies } from '../../../lib/ucan/policy.ts';
import { parseSelector, select } from '../../../lib/ucan/selector.ts';
import { always } from '../../support/property.ts';

/** Undefined when it is no policy. */
function judge(policy: Ipld, args: Ipld): boolean | undefined {
  const parsed = parsePolicy(policy);
  return parsed && satisfies(args, parsed);
}

const KATIE = { name: 'Katie', age: 35, nationalities: ['Canadian', 'South African'] };
const MAIL = { from: 'alice@example.com', to: ['bob@example.com', 'carol@not.example.com'], title: 'Coffee' };
const LISTS = { a: [{ b: 1 }, { b: 2 }, { z: [7, 8, 9] }], b: 1 };

describe('policies that are satisfied', () => {
  test.each<[Ipld, Ipld]>([
    [[], {}],
    [[['==', '.a', [{ b: 1 }, { b: 2 }, { z: [7, 8, 9] }]]], LISTS],
    [[['==', '.b', 1]], LISTS],
    [
      [
        ['!=', '.b', 'ddd'],
        ['!=', '.b', null],
        ['!=', '.b', { b: 3 }],
        ['!=', '.b', true],
      ],
      LISTS,
    ],
    [[['not', ['==', '.b', 2]]], LISTS],
    [
      [
        ['<', '.b', 2],
        ['<', '.b', 1.5],
        ['>', '.b', 0],
        ['<=', '.b', 1],
        ['>=', '.b', 1],
      ],
      LISTS,
    ],
    [[['and', []]], KATIE],
    [[['or', []]], KATIE],
    [
      [
        [
          'and',
          [
            ['==', '.name', 'Katie'],
            ['==', '.age', 35],
          ],
        ],
      ],
      KATIE,
    ],
    [
      [
        [
          'or',
          [
            ['==', '.name', 'Katie'],
            ['>', '.age', 45],
          ],
        ],
      ],
      KATIE,
    ],
    [
      [
        [
          'not',
          [
            'and',
            [
              ['==', '.name', 'Katie'],
              ['==', '.nationalities', ['American']],
            ],
          ],
        ],
      ],
      KATIE,
    ],
    [[['any', '.a', ['==', '.b', 2]]], LISTS],
    [[['any', '.to', ['like', '.', '*@example.com']]], MAIL],
    [
      [['all', '.newsletters', ['any', '.recipients', ['==', '.email', 'bob@example.com']]]],
      { newsletters: { christmas: { recipients: [{ email: 'bob@example.com' }] } } },
    ],
    [[['all', '.none', ['==', '.', 1]]], { none: [] }],
    [
      [
        [
          'or',
          [
            ['==', '.missing', 1],
            ['==', '.b', 1],
          ],
        ],
      ],
      LISTS,
    ],
    [[['==', '.missing?', null]], {}],
    [[['==', '.null', null]], { null: null }],
    // A token of all channels: what docs/tokens.md warns of.
    [[['!=', '.channel?', 'webhooks']], { app: 'shop' }],
  ])('%j', (policy, args) => {
    expect(judge(policy, args)).toBe(true);
  });
});

describe('policies that are not', () => {
  test.each<[Ipld, Ipld]>([
    [
      [
        [
          'and',
          [
            ['==', '.name', 'Katie'],
            ['==', '.nationalities', 'american'],
          ],
        ],
      ],
      KATIE,
    ],
    [[['all', '.a', ['>', '.b', 0]]], LISTS],
    [[['any', '.to', ['like', '.', '*@example.com']]], { ...MAIL, to: ['carol@elsewhere.example.com'] }],
    [[['any', '.none', ['==', '.', 1]]], { none: [] }],
    [[['any', '.b', ['==', '.', 1]]], LISTS],
    [[['==', '.b', '1']], LISTS],
    [[['<', '.b', 1]], LISTS],
    [[['<', '.name', 50]], KATIE],
    [[['like', '.age', '*']], KATIE],
    [[['==', '.toString', 1]], {}],
    // What leads nowhere is never turned into a yes.
    [[['!=', '.missing', 1]], {}],
    [[['not', ['==', '.missing', 1]]], {}],
    [[['not', ['<', '.name', 1]]], KATIE],
    [[['not', ['any', '.a', ['==', '.b', 3]]]], LISTS],
  ])('%j', (policy, args) => {
    expect(judge(policy, args)).toBe(false);
  });
});

test('like: a star is any text, behind a backslash it is itself', () => {
  const likes = (text: string, pattern = 'Alice\\*, Bob*, Carol.') => judge([['like', '.', pattern]], text);
  for (const text of [
    'Alice*, Bob, Carol.',
    'Alice*, Bob, Dan, Erin, Carol.',
    'Alice*, Bob  , Carol.',
    'Alice*, Bob*, Carol.',
  ])
    expect(likes(text)).toBe(true);
  for (const text of [
    'Alice*, Bob, Carol',
    'Alice*, Bob*, Carol!',
    'Alice, Bob, Carol.',
    'Alice Cooper, Bob, Carol.',
    ' Alice*, Bob, Carol. ',
  ])
    expect(likes(text)).toBe(false);
  expect([
    likes('', '*'),
    likes('', ''),
    likes('a', ''),
    likes('aa', 'a*a'),
    likes('a', 'a*a'),
    likes('abcb', 'a*b'),
  ]).toEqual([true, true, false, true, false, true]);
});

test('what is not a statement makes the whole no policy', () => {
  for (const policy of [
    null,
    {},
    'x',
    [1],
    [[]],
    [['==']],
    [['==', '.a']],
    [['==', 'a', 1]],
    [['==', '.a', 1, 2]],
    [['=', '.a', 1]],
    [['<', '.a', '1']],
    [['like', '.a', 1]],
    [['not', ['==', '.a', 1], 1]],
    [['not', 1]],
    [['and', ['==', '.a', 1]]],
    [['or', 1]],
    [['any', '.a', []]],
    [['toString', '.a', 1]],
    [
      [
        'or',
        [
          ['==', '.a', 1],
          ['nonsense', '.a', 1],
        ],
      ],
    ],
  ] as Ipld[])
    expect(judge(policy, { a: 1 })).toBeUndefined();
});

test('selectors', () => {
  const value = { a: { b: [10, 20, 30, { c: null }] }, 'x y': 1, bytes: Uint8Array.of(1, 2, 3) };
  const at = (text: string) => {
    const steps = parseSelector(text);
    return steps ? select(steps, value) : 'no selector';
  };
  expect(at('.')).toBe(value);
  expect(at('.a.b[0]')).toBe(10);
  expect(at('.a.b[-2]')).toBe(30);
  expect(at('.a["b"][1]')).toBe(20);
  expect(at('.["x y"]')).toBe(1);
  expect(at('.a.b[1:3]')).toEqual([20, 30]);
  expect(at('.a.b[-1:]')).toEqual([{ c: null }]);
  expect(at('.bytes[:2]')).toEqual(Uint8Array.of(1, 2));
  expect(at('.a[]')).toEqual([value.a.b]);
  expect(at('.a.b[3].c')).toBeNull();
  for (const text of ['.b', '.a.b[9]', '.a.b.c', '.bytes[0]', '.a[0]', '.x.y']) expect(at(text)).toBeUndefined();
  for (const text of ['.b?', '.a.b[9]?', '.b?.c?']) expect(at(text)).toBeNull();
  for (const text of [
    '',
    'a',
    '..a',
    '.a.',
    '.a b',
    '.[',
    '.a[',
    '.a[x]',
    '.a[1',
    '.["a]',
    '.a[1:2:3]',
    '.a??',
    '[0]',
    '.é',
    '.a[-]',
  ])
    expect(at(text)).toBe('no selector');
});

test('a policy that would take too many steps is not satisfied, in bounded time', () => {
  const args = { a: Array.from({ length: 200 }, () => Array.from({ length: 200 }, () => 1)) };
  expect(judge([['all', '.a', ['all', '.', ['==', '.', 1]]]], args)).toBe(false);
  expect(judge([['all', '.a[0]', ['==', '.', 1]]], args)).toBe(true);
});

test('any value is a policy or none, and any policy can be judged', () => {
  const op = fc.constantFrom('==', '!=', '<', 'like', 'not', 'and', 'or', 'all', 'any', 'x');
  const value = fc.letrec<{ value: Ipld }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<Ipld>(1, null, '.', '.a', '.a[0]', '*', true),
      fc.tuple(op, tie('value')),
      fc.tuple(op, tie('value'), tie('value')),
      fc.array(tie('value'), { maxLength: 4 }),
    ) as fc.Arbitrary<Ipld>,
  })).value;
  always(
    fc.tuple(fc.array(value, { maxLength: 3 }), value),
    ([policy, args]) => {
      expect([true, false, undefined]).toContain(judge(policy, { a: args }));
    },
    2000,
  );
});
