import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';

const DOCUMENT = readFileSync(join(import.meta.dir, '../../docs/admission.md'), 'utf8');

let folder: ReturnType<typeof temporaryFolder>;
let program: Program;
beforeAll(async () => {
  folder = temporaryFolder();
  program = await startProgram({ REGISTRATION: 'invite' }, { cwd: folder.path });
});
afterAll(async () => {
  await program.stop();
  folder.remove();
});

const run = (line: string, vars = { REGISTRATION: 'invite' }) =>
  runProgram(line.split(' '), { cwd: folder.path, vars });

async function open(handle: string, invite?: string): Promise<number> {
  const body = JSON.stringify({ identifier: handle, channel: 'handle', did: `did:key:z${handle}`, invite });
  const headers = { 'Content-Type': 'application/json' };
  return (await fetch(`${program.url}/api/sessions`, { method: 'POST', headers, body })).status;
}

async function register(handle: string, invite: string): Promise<number> {
  const identity = { identifier: handle, channel: 'handle', did: `did:key:z${handle}`, invite };
  const onChain = {
    credentialId: Buffer.from(handle.padEnd(16, '.')).toString('base64url'),
    txHash: `0x${'1'.repeat(64)}`,
  };
  const headers = { 'Content-Type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify({ ...identity, ...onChain }) };
  return (await fetch(`${program.url}/api/dids`, init)).status;
}

test('the commands of docs/admission.md: the vault that runs takes the invite at once, until it is revoked', async () => {
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(DOCUMENT) ?? [];
  const [many = '', own = '', list = '', revoke = ''] = block
    .split('\n')
    .map((line) => line.replace(/^vault |\s*#.*$/g, ''));
  expect(await open('visitor')).toBe(403);
  const made = await run(many);
  expect([made.code, made.err, made.out]).toEqual([
    0,
    '',
    expect.stringMatching(/^inv_[0-9a-f]{32}\n1 {2}live {2}0 of 5 used {2}anybody {2}until \S+Z\n$/),
  ]);
  const [token = ''] = made.out.split('\n');
  expect(await open('visitor', token)).toBe(200);
  expect(await register('visitor', token)).toBe(200);
  expect((await run(own)).out).toContain('2  live  0 of 1 used  a***@example.com');
  expect((await run(list)).out.split('\n')[1]).toContain('1  live  1 of 5 used');
  const revoked = await run(revoke.replace(/\d+$/, '1'));
  expect([revoked.code, revoked.out]).toEqual([0, 'invite 1 is revoked\n']);
  expect(await open('another', token)).toBe(403);
  const shown = JSON.parse((await run(`${list} --json`)).out);
  expect(shown).toMatchObject([{ id: 2 }, { id: 1, status: 'revoked', used: 1 }]);
  expect(JSON.stringify(shown)).not.toContain(token.slice(4));
});

test('what is no invite is 2 with a sentence, an id of none 1, and a mode that asks for none says so', async () => {
  const wrong = [
    ['create --uses 0', 2, '--uses is a number from 1 to 10000'],
    ['create --expires 400d', 2, '--expires is a time such as'],
    ['create --app shop', 2, 'Invalid app: Expected one of APPS.'],
    ['create --for nobody@', 2, 'Invalid identifier: Expected an email address'],
    ['revoke', 2, 'needs ID'],
    ['revoke 9', 1, 'no invite with this id is live'],
  ] as const;
  const ended = await Promise.all(wrong.map(([args]) => run(`invites ${args}`)));
  expect(ended.map(({ code, out }) => [code, out])).toEqual(wrong.map(([, code]) => [code, '']));
  wrong.forEach(([, , words], i) => {
    expect(ended[i]?.err).toContain(words);
  });
  const open = await run('invites create', { REGISTRATION: 'open' });
  expect([open.code, open.err]).toEqual([0, 'REGISTRATION is open: the vault asks nobody for invites.\n']);
});
