import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readTokens } from '../../lib/ucan/verify.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
let program: Program;
beforeAll(async () => {
  folder = temporaryFolder();
  program = await startProgram({}, { cwd: folder.path });
});
afterAll(async () => {
  await program.stop();
  folder.remove();
});

const run = (line: string) => runProgram(`operators ${line}`.split(' '), { cwd: folder.path });

async function ask(token: string) {
  const headers = { Authorization: `Bearer ${token.trim()}` };
  const response = await fetch(`${program.url}/v1/console/operator`, { headers });
  return [response.status, await response.json()];
}

test('the vault that runs takes the token at once, until it is revoked', async () => {
  const added = await run('add ada --role viewer --days 7');
  expect([added.code, added.err]).toEqual([0, expect.stringMatching(/^vault: ada {2}viewer {2}live {2}until \S+Z\n$/)]);
  expect(await ask(added.out)).toEqual([200, { name: 'ada', role: 'viewer', expires_at: expect.any(String) }]);
  expect((await run('add ada --role operator')).err).toContain('an operator of this name has a token');
  const other = await run('add bob --role operator');
  expect((await run('list')).out).toMatch(
    /^ada {2}viewer {2}live {2}until \S+Z\nbob {2}operator {2}live {2}until \S+Z\n$/,
  );
  expect((await run('revoke ada')).out).toBe('ada is revoked\n');
  expect(await ask(added.out)).toEqual([401, expect.objectContaining({ reason: 'revoked' })]);
  expect((await ask(other.out))[0]).toBe(200);
  expect((await run('revoke --all')).out).toBe('1 revoked\n');
  expect((await ask(other.out))[0]).toBe(401);
  expect((await run('list')).out).toBe('No operators.\n');
});

test("vault token revoke of an operator's token says what ends it", async () => {
  const { out } = await run('add eve --role viewer');
  const { cid = '' } = readTokens(out.trim())[0] ?? {};
  const { code, err } = await runProgram(['token', 'revoke', cid], { cwd: folder.path });
  expect([code, err]).toEqual([1, expect.stringContaining('vault operators revoke eve')]);
  expect((await ask(out))[0]).toBe(200);
  await run('revoke eve');
});

test.each([
  ['add', 2, 'NAME'],
  ['add ada', 2, 'role'],
  ['add ada --role root', 2, '--role is one of viewer, operator.'],
  ['add ada --role viewer --days 0', 2, '--days is a number from 1 to 3650.'],
  ['add root --role viewer', 2, 'root and command are taken'],
  ['add Ada --role viewer', 2, 'A name is 1 to 32 of a-z'],
  ['revoke', 2, 'Expected one of: NAME, --all.'],
  ['revoke ada --all', 2, 'Expected one of: NAME, --all.'],
  ['revoke ada', 1, 'there is no operator of this name'],
])('vault operators %s is %i with a sentence', async (line, code, says) => {
  const done = await run(line);
  expect([done.code, done.err]).toEqual([code, expect.stringContaining(says)]);
});
