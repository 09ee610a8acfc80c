import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { readRows, temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
let program: Program;
beforeEach(async () => {
  folder = temporaryFolder();
  program = await startProgram({ RPC_URL: 'http://127.0.0.1:1' }, { cwd: folder.path });
});
afterEach(async () => {
  await program.stop();
  folder.remove();
});

const run = (...args: string[]) => runProgram(args, { cwd: folder.path });
const send = async () => {
  const response = await fetch(`${program.url}/api/verify/send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ identifier: 'alice@example.com', channel: 'email' }),
  });
  return response.status;
};

describe('vault limits', () => {
  test('shows what stops somebody, masked, and gives it back to them while the vault runs', async () => {
    expect((await run('limits', 'show')).out).toBe('No limit is in use.\n');
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push(await send());
    expect(statuses).toEqual([200, 200, 200, 429]);
    const shown = await run('limits', 'show');
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(/^sends-per-ip +127\.0\.0\.1 +3 of 3, reached +until /m);
    expect(shown.out).not.toContain('alice@');
    const asked = await run('limits', 'show', '--kind', 'sends-per-identifier', '--key', 'alice@example.com', '--json');
    expect(JSON.parse(asked.out)).toMatchObject([{ kind: 'sends-per-identifier', used: 3, max: 5, reached: false }]);

    const cleared = await run('limits', 'clear', '--kind', 'sends-per-ip', '--key', '127.0.0.1', '--json');
    expect(cleared.code).toBe(0);
    expect(JSON.parse(cleared.out)).toEqual({ kind: 'sends-per-ip', key: '127.0.0.1', cleared: 3 });
    expect(await send()).toBe(200);
    const events = `SELECT count(*) FROM events WHERE type = 'limit.cleared'`;
    expect(readRows(join(folder.path, 'vault-data/vault.db'), events)).toEqual([[1]]);
  });

  test('refuses what is no limit of anybody, with 2', async () => {
    for (const [args, words] of [
      [['clear'], 'needs --kind'],
      [['clear', '--kind', 'sends-per-ip'], 'Missing key'],
      [['clear', '--kind', 'sends-per-ip', '--key', 'alice'], 'Invalid key'],
      [['clear', '--kind', 'send-per-ip', '--key', '127.0.0.1'], 'did you mean sends-per-ip?'],
      [['show', '--key', '127.0.0.1'], 'needs --kind'],
    ] as const) {
      const { code, out, err } = await run('limits', ...args);
      expect([code, out, err]).toEqual([2, '', expect.stringContaining(words)]);
    }
    expect((await run('limits', 'show', '--data-dir', 'nowhere')).code).toBe(1);
  });
});
