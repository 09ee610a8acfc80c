import { afterEach, expect, test } from 'bun:test';
import { libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../support/databases.ts';
import { layLine } from '../support/line.ts';
import { type Program, startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';
import { until, untilHolds } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const keys = { VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'), FOLLOWER: 'false' };
const did = 'did:key:zAlice';
const hold = (program: Program, handle: string) =>
  fetch(`${program.url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Edge-Connecting-IP': `203.0.113.${handle.length}` },
    body: JSON.stringify({ handle, did }),
  });
const ready = async (program: Program) => (await fetch(`${program.url}/readyz`)).status;
const events = (program: Program) =>
  [...program.output().matchAll(/"level":"(\w+)","event":"(\w+)"/g)].map(([, level, event]) => `${level} ${event}`);

test('a database server that refuses the token stops the start: waiting would not help', async () => {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('no', { status: 401 }) });
  ends.push(() => server.stop(true));
  const vars = { ...keys, DATABASE_URL: `http://127.0.0.1:${server.port}` };
  const { code, err } = await runProgram(['serve', '--port', '0'], { cwd: folder.path, vars });
  expect([code, err]).toEqual([1, expect.stringContaining('401')]);
});

test.skipIf(!libsqlProgram())(
  '§4 the program starts without its database, serves when it is there, and loses nothing when it goes',
  async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const server = await startLibsql({ dir: `${folder.path}/sqld` });
    if (!server) throw new Error('no libSQL server');
    ends.push(server.stop);
    const line = await layLine(server.url);
    ends.push(line.stop);
    line.cut();

    const program = await startProgram({ ...keys, DATABASE_URL: line.url }, { cwd: folder.path });
    ends.push(() => program.stop('SIGKILL'));
    await untilHolds(async () => expect(events(program)).toContain('warn started_without_database'));
    expect((await fetch(`${program.url}/healthz`)).status).toBe(200);
    expect(await ready(program)).toBe(503);
    const refused = await hold(program, 'a');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);

    line.mend();
    await until('a session is opened', async () => (await hold(program, 'bb')).status === 200);
    await until('the vault is ready', async () => (await ready(program)) === 200);
    for (const handle of ['ccc', 'dddd', 'eeeee']) expect((await hold(program, handle)).status).toBe(200);
    line.cut();
    expect((await hold(program, 'ffffff')).status).toBe(503);
    line.mend();
    await until('a session is opened', async () => (await hold(program, 'ggggggg')).status === 200);
    const { total_registrations: total } = (await (await fetch(`${program.url}/api/sessions/status`)).json()) as {
      total_registrations: number;
    };
    expect(total).toBe(5);
    expect(events(program).filter((event) => event.startsWith('error'))).toEqual([]);
    await untilHolds(async () => expect(events(program)).toContain('info database_recovered'));
    expect(await program.stop()).toBe(0);
  },
);

test.skipIf(!libsqlProgram())('it stops at once by SIGTERM while the database is away', async () => {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const line = await layLine('http://127.0.0.1:1');
  ends.push(line.stop);
  line.cut();
  const vars = { ...keys, DATABASE_URL: line.url };
  const program = await startProgram(vars, { cwd: folder.path });
  expect((await hold(program, 'a')).status).toBe(503);
  expect(await program.stop()).toBe(0);
});
