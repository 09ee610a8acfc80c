import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';
import { measureAll } from './measure-all.ts';

let folder: ReturnType<typeof temporaryFolder>;
let said: string[];
beforeEach(async () => {
  folder = temporaryFolder();
  said = [];
  // Notes how it was called; fails while there is a file `broken`.
  const script = `
    const { appendFileSync, existsSync } = require('node:fs');
    appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
    process.exit(process.argv[2] === 'b' && existsSync('broken') ? 1 : 0);`;
  await Bun.write(join(folder.path, 'part.ts'), script);
});
afterEach(() => folder.remove());

const parts = ['a', 'b', 'c'].map((name) => ({ name, script: 'part.ts', minutes: 1, args: [name] }));
const state = () => join(folder.path, 'dist/state.json');
const measure = (...words: string[]) =>
  measureAll({ parts, root: folder.path, state: state(), words, say: (line) => void said.push(line) });
const calls = () => Bun.file(join(folder.path, 'calls')).text();

test('a run goes on with the part that failed, and the next run begins again', async () => {
  await Bun.write(join(folder.path, 'broken'), '');
  expect(await measure('--save', '--rounds', '2')).toEqual(['b']);
  expect(await calls()).toBe('a --save --rounds 2\nb --save --rounds 2\nc --save --rounds 2\n');
  await Bun.file(join(folder.path, 'broken')).delete();
  expect(await measure('--save')).toEqual([]);
  expect(await calls()).toEndWith('c --save --rounds 2\nb --save\n');
  expect(said.filter((line) => line.includes('--restart'))).toHaveLength(2);
  expect(existsSync(state())).toBeFalse();
  await measure('--save');
  expect(await calls()).toEndWith('b --save\na --save\nb --save\nc --save\n');
});

test('one part may be chosen, and measured again by --restart; without --save nothing is kept', async () => {
  await measure('--save', '--only', 'c');
  await measure('--save', '--only', 'c');
  await measure('--save', '--restart', '--only', 'c');
  await measure('--only', 'c', '--rounds', '3');
  expect(await calls()).toBe('c --save\nc --save\nc --rounds 3\n');
  expect(await settled(measure('--only', 'd'))).toThrow('no part d: there are a, b, c');
});
