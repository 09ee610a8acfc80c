import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
  expect((await run('migrate')).code).toBe(0);
});
afterEach(() => folder.remove());

const run = (...args: string[]) => runProgram(args, { cwd: folder.path });
const idsIn = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).id);

function register(count: number): void {
  const database = new Database(join(folder.path, 'vault-data/vault.db'));
  const insert = database.query(`INSERT INTO registrations
    (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash, status, registered_at, unseen_since)
    VALUES (?, 'email', ?, '0x01', '0x02', ?, '0x03', 'submitted', 1700000000000, 1)`);
  database.transaction(() => {
    for (let i = 1; i <= count; i++) insert.run(`email:person${i}@example.com`, `did:key:z${i}`, `credential${i}`);
  })();
  database.close();
}

describe('vault export', () => {
  test('prints each registration as a line, complete, in the order of their ids', async () => {
    register(2);
    const { code, out, err } = await run('export');
    expect(code).toBe(0);
    expect(out.split('\n').length).toBe(3);
    expect(JSON.parse(out.split('\n')[0] ?? '')).toEqual({
      id: 1,
      identifier: 'person1@example.com',
      channel: 'email',
      did: 'did:key:z1',
      credentialId: 'credential1',
      status: 'submitted',
      failure: null,
      strength: 0,
      txHash: '0x03',
      blockNumber: null,
      smartAccount: null,
      didHash: '0x01',
      aliasHash: '0x02',
      registeredAt: '2023-11-14T22:13:20.000Z',
      controller: null,
      final: false,
      holder: false,
      lost: null,
    });
    expect(err).toBe('vault: 2 registrations, the last one has id 2; continue with --after 2\n');
  });

  test('goes on behind an id, over more than a page', async () => {
    register(1_234);
    const all = await run('export');
    expect(idsIn(all.out)).toEqual(Array.from({ length: 1_234 }, (_, i) => i + 1));
    const rest = await run('export', '--after', '1200');
    expect(idsIn(rest.out)).toEqual(Array.from({ length: 34 }, (_, i) => i + 1_201));
    expect((await run('export', '--after', '1234')).err).toBe('vault: 0 registrations\n');
  });

  test('writes a file for its owner only, whole or not at all, that replaces none', async () => {
    register(3);
    expect(await run('export', '--out', 'people.jsonl')).toMatchObject({ code: 0, out: '' });
    const path = join(folder.path, 'people.jsonl');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(idsIn(readFileSync(path, 'utf8'))).toEqual([1, 2, 3]);
    expect((await run('export', '--out', 'people.jsonl')).code).toBe(2);
    expect((await run('export', '--out', 'nowhere/people.jsonl')).code).toBe(1);
    expect(readdirSync(folder.path).sort()).toEqual(['people.jsonl', 'vault-data']);
  });

  test('on a full disk fails, and to a reader that has enough ends without a word', async () => {
    register(1_234);
    const shell = (line: string) =>
      Bun.spawnSync(['sh', '-c', line, 'sh', process.execPath, join(import.meta.dir, '../../../server.ts')], {
        cwd: folder.path,
        env: { PATH: process.env['PATH'] ?? '' },
      });
    const full = shell('"$@" export >/dev/full');
    expect([full.exitCode, full.stderr.toString()]).toEqual([1, 'vault: ENOSPC: no space left on device, write\n']);
    const left = shell('{ "$@" export; echo "ended with $?" >&2; } | true');
    expect([left.stdout.toString(), left.stderr.toString()]).toEqual(['', 'ended with 1\n']);
    const slow = shell('"$@" export 2>/dev/null | { sleep 1; wc -l; }');
    expect(slow.stdout.toString().trim()).toBe('1234');
  });

  test('refuses what is no id and a database that is not there', async () => {
    for (const id of ['-1', '1.5', 'x', '1e3', '99999999999999999999'])
      expect(await run('export', `--after=${id}`)).toMatchObject({ code: 2, out: '' });
    expect(await run('export', '--data-dir', 'nowhere')).toMatchObject({ code: 1, out: '' });
    expect(readdirSync(folder.path)).toEqual(['vault-data']);
  });
});
