import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { temporaryFolder } from '../support/databases.ts';
import { runProgram } from '../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

function run(line: string, entries?: unknown) {
  const file = join(folder.path, 'clients.json');
  if (entries !== undefined) writeFileSync(file, JSON.stringify(entries));
  const vars = { APPS: 'tea,wiki', REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey };
  return runProgram(`clients ${line}`.split(' '), { cwd: folder.path, vars: { ...vars, CLIENTS: file } });
}

test('a secret is shown once, and what the file gets of it is its digest', async () => {
  const { code, out, err } = await run('secret tea');
  const [secret = '', digest] = out.split('\n');
  expect([code, err, secret]).toEqual([0, '', expect.stringMatching(/^[\w-]{43}$/)]);
  expect(digest).toBe(`sha256:${createHash('sha256').update(secret).digest('hex')}`);
  const entries = { tea: { redirect_uris: ['https://tea.example/back'], secrets: [digest] } };
  expect((await run('list', entries)).out).toBe('tea  1 secret  PKCE required  https://tea.example/back\n');
  expect((await run('check')).out).toBe('CLIENTS is in order: 1 client\n');
});

test('what weakens a sign-in is said, and a fault names the app alone', async () => {
  const secrets = ['0', '1'].map((digit) => `sha256:${digit.repeat(64)}`);
  const wiki = { redirect_uris: ['http://localhost:4001/in'], secrets, pkce: 'optional', sector: 'tea' };
  const weak = await run('check', { wiki, tea: { redirect_uris: ['https://tea.example/'] } });
  expect([weak.code, weak.out]).toEqual([0, 'CLIENTS is in order: 2 clients\n']);
  expect(weak.err).toContain('wiki may');
  for (const words of ['without PKCE', 'without TLS', 'two secrets']) expect(weak.err).toContain(words);
  const listed = await run('list --json');
  expect(JSON.parse(listed.out)[0]).toEqual({
    client_id: 'wiki',
    redirect_uris: ['http://localhost:4001/in'],
    secrets: 2,
    pkce: 'optional',
    sector: 'tea',
    resources: [],
  });
  const wrong = await run('check', { tea: { redirect_uris: ['https://tea.example/#x'] } });
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('CLIENTS is wrong for the app tea')]);
  expect(wrong.err).not.toContain('tea.example');
});

test.each([
  ['secret', 'needs APP'],
  ['secret shop', 'shop is not one of APPS: add it there first'],
])('clients %s: %s', async (line, words) => {
  const { code, err } = await run(line);
  expect([code, err]).toEqual([2, expect.stringContaining(words)]);
});
