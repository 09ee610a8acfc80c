import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { buildBinary } from '../../support/binary.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { until, untilNothing } from '../../support/until.ts';

const ROOT = join(import.meta.dir, '../../..');
const CLIENTS = 16;

let built: Awaited<ReturnType<typeof buildBinary>>;
let folder: ReturnType<typeof temporaryFolder>;
let binary: string;
beforeAll(async () => {
  built = await buildBinary();
});
afterAll(() => built.remove());
beforeEach(() => {
  folder = temporaryFolder();
  binary = join(folder.path, 'vault');
  copyFileSync(built.path, binary);
});
afterEach(() => folder.remove());

const start = () =>
  startProgram(
    {
      MAX_REGISTRATIONS_PER_IP: '1000000',
      RATE_LIMIT_WRITES_PER_IP: '1000000',
    },
    { cwd: folder.path, binary },
  );
const isStarted = (program: Program) => program.output().includes('"writer_started"');

async function openSession({ url }: Program, handle: string): Promise<number> {
  const { status } = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ handle, did: `did:key:z${handle}` }),
  });
  return status;
}

/** Opens sessions until the program is gone, and returns those that it acknowledged. */
async function openUntilKilled(program: Program, name: string): Promise<string[]> {
  const acknowledged: string[] = [];
  const client = async (number: number) => {
    for (let n = 0; ; n++) {
      const handle = `${name}${number}x${n}`;
      const status = await openSession(program, handle).catch(() => undefined);
      if (status === undefined) return;
      if (status === 200) acknowledged.push(`handle:${handle}`);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  await untilNothing('300 sessions are opened', () =>
    acknowledged.length < 300 ? [`${300 - acknowledged.length} sessions`] : [],
  );
  await program.stop('SIGKILL');
  await clients;
  return acknowledged;
}

describe('the built program, alone in a folder, writes by its thread', () => {
  test('and what it acknowledged is there after it was killed and started again', async () => {
    expect(readFileSync(binary).includes(ROOT)).toBe(false);
    const acknowledged: string[] = [];
    for (const name of ['first', 'second']) {
      const program = await start();
      await until('the writer starts', () => isStarted(program));
      acknowledged.push(...(await openUntilKilled(program, name)));
    }
    const program = await start();
    expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
    expect(await program.stop()).toBe(0);
    const database = openSqlite(join(folder.path, 'vault-data/vault.db'));
    const { rows } = await database.execute({ sql: 'SELECT identifier FROM sessions', args: {} });
    const found = new Set(rows.map((row) => row['identifier']));
    expect(acknowledged.filter((identifier) => !found.has(identifier))).toEqual([]);
    database.close();
  });

  test('not by a file of that name in the folder it is started in', async () => {
    for (const name of ['commands/storage/writer.ts', 'commands/storage/writer.js', 'writer.ts', 'writer.js']) {
      mkdirSync(dirname(join(folder.path, name)), { recursive: true });
      writeFileSync(join(folder.path, name), `require('node:fs').writeFileSync('trapped', ''); process.exit(7);`);
    }
    const program = await start();
    await until('the writer starts', () => isStarted(program));
    expect(await openSession(program, 'alice')).toBe(200);
    expect(await program.stop()).toBe(0);
    expect(await Bun.file(join(folder.path, 'trapped')).exists()).toBe(false);
  });
});
