import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { temporaryFolder } from '../support/databases.ts';
import { storedPerson, storePerson } from '../support/person-rows.ts';
import { startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';

const folder = temporaryFolder();
const alice = storedPerson(1);
beforeAll(async () => {
  await (await startProgram({}, { cwd: folder.path })).stop();
  const database = openSqlite(join(folder.path, 'vault-data/vault.db'));
  await storePerson(database, alice, Date.now());
  database.close();
});
afterAll(() => folder.remove());

const TTL = ['--session-ttl-seconds', '900'];
const run = (...args: string[]) => runProgram(['person', ...args], { cwd: folder.path });

test('vault person shows how much is stored, with --full the rows in words, and exports it as JSON', async () => {
  expect((await run('show', 'nobody@example.com')).out).toBe('Nothing is stored of this person.\n');
  const summary = await run('show', alice.identifier);
  expect([summary.code, summary.err]).toEqual([0, '']);
  const names = `  email:${alice.identifier}\n  ${alice.did}\n  ${alice.account}\n\n`;
  expect(summary.out).toStartWith(`${names}codes: 1 row (a code that was sent), kept `);
  expect(summary.out).toMatch(/\nverifications: 1 row \(that .*, kept for good; an erasure removes it\n/);
  expect(summary.out).toMatch(/\nsessions: .*, kept for good once linked \(its IP for good\), else 1 day;/);
  const kept = await run('show', alice.identifier, '--keep-verifications-days', '30', '--keep-ips-days', '400', ...TTL);
  expect(kept.out).toMatch(/\nverifications: .*, kept 30 days;/);
  expect(kept.out).toMatch(/\nsessions: .*, kept for good once linked \(its IP for 400 days\), else 15 minutes;/);
  expect(summary.out + kept.out).not.toMatch(/KEEP_|_SECONDS/);
  // A row may have kilobytes of hex.
  expect(Math.max(...summary.out.split('\n').map((line) => line.length))).toBeLessThan(250);
  const full = await run('show', alice.identifier, '--full');
  expect(full.out).toMatch(/\n\nverifications: 1 row \(.*\n {2}identifier email:\S+, verified at \d{4}-/);

  const exported = JSON.parse((await run('export', alice.did)).out);
  expect(exported).toMatchObject({
    format: 'vault-person-1',
    identifiers: [`email:${alice.identifier}`],
    dids: [alice.did],
    tables: { verifications: { rows: [{ identifier: `email:${alice.identifier}` }] } },
  });
});

test('what is no identifier is refused with 2', async () => {
  for (const args of [['show'], ['show', 'did:'], ['export', 'a@b@c']]) {
    const refused = await run(...args);
    expect([refused.code, refused.out]).toEqual([2, '']);
  }
});
