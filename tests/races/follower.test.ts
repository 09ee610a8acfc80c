import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { type Acted, type Actors, prepareActors } from '../support/actors.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { startTestChain, type TestChain } from '../support/onchain.ts';
import { type Program, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

let chain: TestChain;
let actors: Actors;
const folder = temporaryFolder();
const processes: { node: Forwarder; program: Program }[] = [];

beforeAll(async () => {
  chain = await startTestChain();
  actors = await prepareActors(chain, 300);
});
afterAll(async () => {
  for (const { node, program } of processes) await Promise.all([program.stop('SIGKILL'), node.stop()]);
  await chain.stop();
  folder.remove();
});

/**
 * A vault in a process of its own, on the one database, with an endpoint of its own by which it is told who asks the
 * chain.
 */
async function startFollowing() {
  const node = startForwarder(chain.url);
  const vars = {
    ...actors.vars,
    RPC_URL: node.url,
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATA_DIR: folder.path,
  };
  const one = { node, program: await startProgram(vars, { cwd: folder.path }) };
  processes.push(one);
  return one;
}

const follows = ({ node }: { node: Forwarder }, since = 0) =>
  node.methods.slice(since).includes('eth_getBlockByNumber');

/** Lets the chain live until `isOver`: people act, and now and then their blocks are replaced. */
async function liveUntil(isOver: () => boolean): Promise<void> {
  let acted: Acted[] = [];
  for (let i = 0; !isOver(); i++) {
    acted.push(await actors.register(i % 2 === 0 ? null : undefined));
    if (i % 5 === 4) {
      await chain.reorg(3);
      for (const one of acted.slice(-2)) await actors.registerAgain(one);
      acted = [];
    }
    await Bun.sleep(250);
  }
}

test('of two processes one follows; killed while it reads, the other goes on where it was, and nothing is lost or doubled', async () => {
  const first = await startFollowing();
  await liveUntil(() => follows(first));
  const second = await startFollowing();
  await liveUntil(() => first.node.methods.length > 30);
  expect(follows(second)).toBe(false);

  // It dies in the middle of a range, its question asked and its answer under way.
  const dying = Promise.withResolvers<void>();
  first.node.trouble = async (forward, methods) => {
    if (!methods.includes('eth_getLogs')) return forward();
    await first.program.stop('SIGKILL');
    dying.resolve();
    return forward();
  };
  await actors.register();
  await dying.promise;
  await liveUntil(() => follows(second));

  const head = Number(await chain.rpc('eth_blockNumber'));
  await until(`the follower is at block ${head}`, async () => {
    const ready = (await (await fetch(`${second.program.url}/readyz`)).json()) as { follower?: { block: number } };
    return (ready.follower?.block ?? -1) >= head;
  });
  expect(await second.program.stop()).toBe(0);

  const database = openSqlite(join(folder.path, 'vault.db'));
  const { rows } = await database.execute({ sql: 'SELECT * FROM chain_events ORDER BY block, log_index', args: {} });
  expect(rows.map((row) => ({ ...row }))).toEqual(await actors.events());
  const [lease] = (await database.execute({ sql: `SELECT until FROM leases WHERE name = 'follower'`, args: {} })).rows;
  expect(lease?.['until']).toBe(0);
  database.close();
});
