import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { temporaryFolder } from '../support/databases.ts';
import {
  auditClaims,
  type Claimants,
  createClaimants,
  NOTHING_WRONG,
  untilOpened,
} from '../support/hostile/claimants.ts';
import { HASTE, WRITER_FAULT, type WriterFault } from '../support/hostile/writer-faults.ts';
import { isLong } from '../support/long.ts';
import { startOther } from '../support/process.ts';
import { type Program, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

// Real programs whose writer is a thread, and what can happen to a thread, to its file and to its process.

const CLIENTS = 16;
const FAULTS = join(import.meta.dir, '../support/hostile/writer-faults.ts');
/** A hang that outlasts the wait for an answer, and one that outlasts every test. */
const HANG_MS = 12_000;
const HANG_FOR_EVER_MS = 3_600_000;

type Ends = (() => unknown)[];
const endAll = async (ends: Ends) => {
  for (const end of ends.splice(0).reverse()) await end();
};

const ends: Ends = [];
afterEach(() => endAll(ends));

interface World {
  readonly dir: string;
  readonly file: string;
  start(vars?: Readonly<Record<string, string>>): Promise<Program>;
  /** What the writer of the newest program does next. Answers a wait until it begins to do it. */
  order(fault: WriterFault): () => Promise<void>;
}

/** A folder and the programs on it, which `ends` ends. */
function openWorld(ends: Ends): World {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const fault = join(folder.path, 'fault');
  let newest: Program | undefined;
  const vars = {
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATA_DIR: folder.path,
    RATE_LIMIT_READS_PER_IP: '1000000',
    RATE_LIMIT_WRITES_PER_IP: '1000000',
    [WRITER_FAULT]: fault,
  };
  return {
    dir: folder.path,
    file: join(folder.path, 'vault.db'),
    async start(more = {}) {
      const program = await startProgram({ ...vars, ...more }, { cwd: folder.path, preload: FAULTS });
      ends.push(() => program.stop('SIGKILL'));
      await until('the writer starts', () => program.output().includes('"writer_started"'));
      newest = program;
      return program;
    },
    order(kind) {
      // Half an order is none: the writer looks for the file at each message.
      writeFileSync(`${fault}.draft`, kind);
      renameSync(`${fault}.draft`, fault);
      return async () => {
        const hasEnded = newest?.exited.then(() => true);
        const isEnded = () => Promise.race([hasEnded, false]);
        await until(`the writer takes the fault "${kind}"`, async () => !existsSync(fault) || isEnded());
        if (existsSync(fault)) throw new Error(`the program ended without the fault:\n${newest?.output()}`);
      };
    },
  };
}

/** A world that the tests of a `describe` share, and its program. */
function shareWorld(): { world: World; program: Program } {
  const ends: Ends = [];
  const shared = {} as { world: World; program: Program };
  beforeAll(async () => {
    shared.world = openWorld(ends);
    shared.program = await shared.world.start();
  });
  afterAll(() => endAll(ends));
  return shared;
}

async function expectNothingWrong({ file }: World, { acknowledged }: Claimants): Promise<void> {
  const database = openSqlite(file);
  expect(await auditClaims(database, acknowledged)).toEqual(NOTHING_WRONG);
  const { rows } = await database.execute({ sql: 'PRAGMA integrity_check', args: {} });
  expect(rows).toEqual([{ integrity_check: 'ok' }]);
  database.close();
  expect(acknowledged.sessions.size).toBeGreaterThan(0);
}

const openSession = (program: Program, name: string, ip = '203.0.113.1') =>
  fetch(`${program.url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Edge-Connecting-IP': ip },
    body: JSON.stringify({ handle: name, did: `did:key:z${name}` }),
  });
const statusOf = async (url: string) => (await fetch(url)).status;
const readStatus = (program: Program) => statusOf(`${program.url}/api/sessions/status`);

describe('a writer that dies ends the process with a word, and what was acknowledged is there', () => {
  // Each test begins with the program that the one before it started.
  const shared = shareWorld();

  test.each([
    ['exit before', 0],
    ['exit after', 1],
    ['throw after', 2],
    ['reject after', 3],
    ['garble after', 4],
  ] as const)('%s the commit', async (fault, n) => {
    const claimants = createClaimants(() => [shared.program], `d${n}n`, n * 10_000);
    const running = claimants.run(CLIENTS);
    await untilOpened(claimants, CLIENTS);
    const taken = shared.world.order(fault);
    await taken();
    expect(await shared.program.exited).toBe(1);
    const said = shared.program.output().match(/.*"writer_ended".*/g) ?? [];
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('"level":"error"');
    if (/throw|reject/.test(fault)) expect(said[0]).toMatch(/the writer has ended: [^"]*by a test/);
    shared.program = await shared.world.start();
    await untilOpened(claimants, CLIENTS);
    claimants.end();
    await running;
    await expectNothingWrong(shared.world, claimants);
  });

  test('what was asked then is answered, not cut', async () => {
    const taken = shared.world.order('exit after');
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => openSession(shared.program, `asked${n}`)));
    await taken();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(await shared.program.exited).toBe(1);
  });
});

describe('one program goes on', () => {
  const shared = shareWorld();

  test('an answer that comes twice answers nobody else', async () => {
    const claimants = createClaimants(() => [shared.program], 't');
    const running = claimants.run(CLIENTS);
    for (let n = 0; n < 10; n++) {
      const taken = shared.world.order('twice');
      await taken();
    }
    claimants.end();
    await running;
    expect([...claimants.acknowledged.statuses.keys()].toSorted()).toEqual([200]);
    await expectNothingWrong(shared.world, claimants);
  });

  test("reads are answered and writes wait in the writer while another process has the file's lock", async () => {
    expect((await openSession(shared.program, 'before')).status).toBe(200);
    const other = startOther('lock', `file:${shared.world.file}`);
    expect(await other.line()).toBe('locked');
    let isPending = true;
    const pending = openSession(shared.program, 'waiting').finally(() => {
      isPending = false;
    });
    // Not many: on a busy machine they would take as long as a write may wait.
    for (let n = 0; n < 3; n++) expect(await readStatus(shared.program)).toBe(200);
    expect(isPending).toBe(true);
    other.send('release');
    expect((await pending).status).toBe(200);
    // Held for longer than a write waits, it is refused and leaves nothing.
    const longer = startOther('lock', `file:${shared.world.file}`);
    expect(await longer.line()).toBe('locked');
    expect((await openSession(shared.program, 'refused')).status).toBe(503);
    longer.send('release');
    expect(await longer.line()).toBe('free');
    expect((await openSession(shared.program, 'refused')).status).toBe(200);
    await Promise.all([other.kill(), longer.kill()]);
  });

  test('while the disk hangs reads are answered, writes are refused in time, and it goes on by itself', async () => {
    const open = (name: string) => openSession(shared.program, `late${name}`, '203.0.113.2');
    expect((await open('before')).status).toBe(200);
    const taken = shared.world.order(`hang ${HANG_MS}`);
    let isPending = true;
    const pending = open('hung').finally(() => {
      isPending = false;
    });
    await taken();
    let reads = 0;
    await until('the write is answered', async () => {
      if ((await readStatus(shared.program)) === 200) reads++;
      return !isPending;
    });
    // The write that hung is refused, since nobody knows; so is the next, at once, since it has not run.
    expect((await pending).status).toBe(503);
    expect(reads).toBeGreaterThan(0);
    expect((await open('next')).status).toBe(503);
    expect(await statusOf(`${shared.program.url}/readyz`)).toBe(503);
    expect(await statusOf(`${shared.program.url}/healthz`)).toBe(200);
    await until('the vault is ready', async () => (await statusOf(`${shared.program.url}/readyz`)) === 200);
    expect((await open('next')).status).toBe(200);
    // It was committed after all, or was refused before it ran, where a write of the vault's own had hung before it.
    expect([409, 200]).toContain((await open('hung')).status);
    expect((await open('hung')).status).toBe(409);
    expect(await shared.program.stop()).toBe(0);
  });
});

test('a disk that hangs for a minute is stalled, and for ten ends the program with a word', async () => {
  const world = openWorld(ends);
  const program = await world.start({ [HASTE]: '1' });
  const taken = world.order(`hang ${HANG_FOR_EVER_MS}`);
  const hung = openSession(program, 'hung');
  await taken();
  await until('the writer is stalled', async () => {
    const answer = await fetch(`${program.url}/readyz`);
    const { database } = (await answer.json()) as { database: string };
    return answer.status === 503 && database === 'stalled';
  });
  expect((await hung).status).toBe(503);
  expect(await readStatus(program)).toBe(200);
  expect(await program.exited).toBe(1);
  const said = program.output().match(/.*"writer_ended".*/g) ?? [];
  expect(said).toEqual([expect.stringMatching(/"level":"error".*no answer from the disk for 10 minutes/)]);
});

test('SIGTERM ends the program while the disk hangs', async () => {
  const world = openWorld(ends);
  const program = await world.start();
  const taken = world.order(`hang ${HANG_FOR_EVER_MS}`);
  const pending = openSession(program, 'hung').then(
    ({ status }) => status,
    () => 'cut',
  );
  await taken();
  for (let n = 0; n < 50; n++) expect(await readStatus(program)).toBe(200);
  expect(await program.stop('SIGTERM')).toBe(0);
  expect([503, 'cut']).toContain(await pending);
});

test('kill -9 in the midst of commits of several programs on one file loses nothing', async () => {
  const world = openWorld(ends);
  const programs = await Promise.all([world.start(), world.start(), world.start()]);
  const claimants = createClaimants(() => programs, 'k');
  const running = claimants.run(CLIENTS);
  for (let n = 0; n < (isLong ? 100 : 6); n++) {
    await untilOpened(claimants, 1 + (n % 5) * 7);
    const at = n % programs.length;
    await programs[at]?.stop('SIGKILL');
    programs[at] = await world.start();
  }
  claimants.end();
  await running;
  for (const program of programs) expect(await program.stop()).toBe(0);
  await expectNothingWrong(world, claimants);
});
