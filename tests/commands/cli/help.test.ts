import { afterAll, expect, test } from 'bun:test';
import { COMMANDS } from '../../../commands/index.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const run = (...args: string[]) => runProgram(args, { cwd: folder.path });

test('help of a command may be asked for in front and behind', async () => {
  const behind = await run('limits', 'clear', '--help');
  expect(behind).toMatchObject({ code: 0, err: '' });
  expect(behind.out).toStartWith('vault limits clear: resets a limit for a blocked user\n');
  expect(await run('help', 'limits', 'clear')).toEqual(behind);
  expect(await run('help', 'nothing')).toMatchObject({ code: 2, out: '' });
});

test('help of a first word names the commands that begin with it', async () => {
  for (const args of [
    ['limits', '--help'],
    ['limits', '-h'],
    ['help', 'limits'],
  ]) {
    const { code, out } = await run(...args);
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}limits show +shows .*\n {2}limits clear +resets /);
  }
});

test('every command says what it ends with', async () => {
  for (const name of Object.keys(COMMANDS).slice(0, 6))
    expect((await run('help', ...name.split(' '))).out).toMatch(/^Exit codes: 0 .*, 2 .*\.$/m);
});
