import { expect, test } from 'bun:test';
import { readOptions } from '../../../scripts/demo/options.ts';

test.each([
  [[], 'requests'],
  [['--full'], 'requests'],
  [['--help'], 'help'],
  [['--browser'], { pictures: undefined }],
  [['--browser', '--pictures', 'here'], { pictures: 'here' }],
] as const)('%j', (options, wanted) => expect(readOptions(options)).toEqual(wanted));

test.each([
  [['--nope']],
  [['--full', '--browser']],
  [['--browser', '--pictures']],
  [['--browser', '--pictures', '--full']],
  [['--browser', 'here']],
])('%j is refused with the help', (options) => {
  expect(() => readOptions(options)).toThrow(`no such option: ${options.join(' ')}\n\nUsage: npm run demo`);
});
