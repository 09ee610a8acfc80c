import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { readRows, temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
let program: Program;
beforeEach(async () => {
  folder = temporaryFolder();
  program = await startProgram({ DID_REGISTRY_ADDRESS: 'none' }, { cwd: folder.path });
});
afterEach(async () => {
  await program.stop();
  folder.remove();
});

const run = (...args: string[]) => runProgram(['registrations', ...args], { cwd: folder.path });
const record = async (handle: string) => {
  const body = { handle, did: `did:key:z${handle}`, credentialId: 'A'.repeat(22), txHash: `0x${'1'.repeat(64)}` };
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`${program.url}/api/dids`, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.status;
};

describe('vault registrations', () => {
  test('finds registrations, masked, and undoes one while the vault runs', async () => {
    expect((await run('find', 'did:key:zalice')).out).toBe('No registration found.\n');
    expect(await record('alice')).toBe(200);
    const found = await run('find', 'did:key:zalice');
    expect([found.code, found.out]).toEqual([
      0,
      expect.stringMatching(/^1 {2}\S+Z {2}a\*\*\* {2}did:key:zalice {2}submitted, holds its identifier\n$/),
    ]);
    const json = await run('find', 'handle:alice', '--json');
    expect(JSON.parse(json.out)).toMatchObject([{ id: 1, identifier: 'alice', holder: true }]);

    const undone = await run('undo', '1');
    expect([undone.code, undone.out]).toEqual([0, '1 undone: nobody holds its identifier now\n']);
    const reasons = `SELECT json_extract(data, '$.reason') FROM events WHERE type = 'registration.failed'`;
    expect(readRows(join(folder.path, 'vault-data/vault.db'), reasons)).toEqual([['undone']]);
    expect((await run('find', '--credential', 'A'.repeat(22))).out).toContain('  undone\n');
    expect(await record('alice')).toBe(200);
  });

  test('refuses what is no query and no id with 2, and an id without a live registration with 1', async () => {
    for (const [args, code, words] of [
      [['find'], 2, 'give IDENTIFIER or --credential'],
      [['find', 'did:key:z', '--credential', 'A'.repeat(22)], 2, 'give IDENTIFIER or --credential'],
      [['undo'], 2, 'needs ID'],
      [['undo', 'alice'], 2, 'ID is the number'],
      [['undo', '7'], 1, 'no live registration has this id'],
    ] as const) {
      const refused = await run(...args);
      expect([refused.code, refused.out, refused.err]).toEqual([code, '', expect.stringContaining(words)]);
    }
  });
});
