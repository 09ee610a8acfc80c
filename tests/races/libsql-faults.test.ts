import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { openDatabase } from '../../commands/storage/database.ts';
import { type LibsqlServer, libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../support/databases.ts';
import { openDraw } from '../support/draw.ts';
import {
  auditClaims,
  type Claimants,
  createClaimants,
  NOTHING_WRONG,
  untilOpened,
  untilVerified,
} from '../support/hostile/claimants.ts';
import { type LibsqlFault, type LibsqlProxy, startLibsqlProxy } from '../support/hostile/libsql-proxy.ts';
import { isLong } from '../support/long.ts';
import { type Program, startProgram } from '../support/program.ts';
import { SEED } from '../support/seed.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

// Real programs, a real libSQL server, and trouble between them.

const CLIENTS = 24;
/** Sessions that are acknowledged while requests go wrong, and how many of 1,000 requests to the database do. */
const [TROUBLES, RATE] = isLong ? [10_000, 150] : [100, 350];
/** Those that an answer to comes at once, and those after which the vault waits for its whole timeout. */
const QUICK: readonly LibsqlFault[] = ['refuse', 'cut', 'lose', 'halve', 'garble', 20, 100];
/** As docs/operating.md says for more than two vaults: as it comes, this server can stop taking writes for good. */
const MANY_WRITERS = ['--checkpoint-interval-s', '5'];
const SLOW: readonly LibsqlFault[] = ['ignore', 'swallow', 3_000];

const ends: (() => unknown)[] = [];
const endAll = async () => {
  for (const end of ends.splice(0).reverse()) await end();
};

interface World {
  readonly server: LibsqlServer;
  readonly proxy: LibsqlProxy;
  readonly programs: readonly Program[];
  readonly dir: string;
}

async function openWorld(vaults: number, trouble?: LibsqlProxy['trouble']): Promise<World> {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const server = (await startLibsql({ dir: `${folder.path}/libsql`, more: MANY_WRITERS })) as LibsqlServer;
  ends.push(() => server.stop());
  const proxy = await startLibsqlProxy(server.url);
  ends.push(proxy.stop);
  proxy.trouble = trouble;
  const vars = {
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATABASE_URL: proxy.url,
    RATE_LIMIT_READS_PER_IP: '1000000',
    RATE_LIMIT_WRITES_PER_IP: '1000000',
  };
  const programs = await Promise.all(Array.from({ length: vaults }, () => startProgram(vars, { cwd: folder.path })));
  for (const program of programs) ends.push(() => program.stop('SIGKILL'));
  return { server, proxy, programs, dir: folder.path };
}

/** All is over and the vaults serve again: what they acknowledged must be in the database, and once. */
async function expectNothingWrong({ programs }: World, claimants: Claimants, url: string): Promise<void> {
  for (const program of programs) await untilReady(program);
  const database = await openDatabase({ url, maxConnections: 1 });
  expect({ seed: SEED, ...(await auditClaims(database, claimants.acknowledged)) }).toEqual({
    seed: SEED,
    ...NOTHING_WRONG,
  });
  database.close();
  expect(claimants.acknowledged.sessions.size).toBeGreaterThan(0);
  expect(claimants.acknowledged.verified.size).toBeGreaterThan(0);
  if (isLong) console.log(JSON.stringify({ seed: SEED, ...countsOf(claimants) }));
  const bad = programs.flatMap(
    (program) => program.output().match(/.*"(?:unhandled_rejection|work_failed|uncaught_exception)".*/g) ?? [],
  );
  expect(bad).toEqual([]);
}

function countsOf({ acknowledged: { sessions, verified, statuses } }: Claimants) {
  return { sessions: sessions.size, verified: verified.size, statuses: Object.fromEntries(statuses) };
}

const untilReady = (program: Program) =>
  until('the vault is ready', async () => (await fetch(`${program.url}/readyz`)).status === 200);

/** Lets the clients do so much more that was acknowledged. */
async function untilDone(claimants: Claimants, count: number): Promise<void> {
  await untilOpened(claimants, count);
  await untilVerified(claimants, 1);
}

const cases = describe.skipIf(libsqlProgram() === undefined).each([
  { vaults: 1, called: 'one vault' },
  { vaults: 3, called: 'three vaults' },
]);

// Of each, the tests have the same server and programs, one after the other.
cases('$called on a libSQL server', ({ vaults }) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(vaults);
  });
  afterAll(endAll);

  test('keeps each word once while requests and answers are refused, cut, halved, garbled and lost', async () => {
    const draw = openDraw(SEED);
    const faults = isLong ? [...QUICK, ...QUICK, ...QUICK, ...SLOW] : QUICK;
    world.proxy.trouble = () => (draw.below(1000) < RATE ? faults[draw.below(faults.length)] : undefined);
    const claimants = createClaimants(() => world.programs, 'c');
    const running = claimants.run(CLIENTS);
    await untilDone(claimants, TROUBLES);
    claimants.end();
    world.proxy.trouble = undefined;
    await running;
    await expectNothingWrong(world, claimants, world.server.url);
  });

  test('keeps each word once while the server is killed and started again', async () => {
    const claimants = createClaimants(() => world.programs, 'k');
    const running = claimants.run(CLIENTS);
    let { server } = world;
    for (let n = 0; n < (isLong ? 20 : 2); n++) {
      await untilDone(claimants, CLIENTS);
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
      await Bun.sleep(n % 2 ? 500 : 0);
      server = (await startLibsql({ dir: `${world.dir}/libsql`, more: MANY_WRITERS })) as LibsqlServer;
      ends.push(server.stop);
      world.proxy.target = server.url;
    }
    await untilDone(claimants, CLIENTS);
    claimants.end();
    await running;
    await expectNothingWrong(world, claimants, server.url);
  });
});

describe.skipIf(libsqlProgram() === undefined)('vaults that start', () => {
  afterEach(endAll);

  test('at once on an empty server, while every third request goes wrong, all come up', async () => {
    const draw = openDraw(SEED);
    const world = await openWorld(4, () => (draw.below(3) === 0 ? QUICK[draw.below(QUICK.length)] : undefined));
    world.proxy.trouble = undefined;
    for (const program of world.programs) await untilReady(program);
    const claimants = createClaimants(() => world.programs, 's');
    const running = claimants.run(CLIENTS);
    await untilDone(claimants, CLIENTS);
    claimants.end();
    await running;
    await expectNothingWrong(world, claimants, world.server.url);
  });

  // Each of them waits ten seconds before it serves without a database.
  test.skipIf(!isLong)(
    'while the server hangs answer what needs no database, and end at once when asked to',
    async () => {
      const world = await openWorld(2, () => 'ignore');
      const [first, second] = world.programs as [Program, Program];
      expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
      expect(await second.stop('SIGTERM')).toBe(0);
      world.proxy.trouble = undefined;
      await untilReady(first);
      expect(await first.stop()).toBe(0);
    },
  );
});
