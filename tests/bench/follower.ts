// bun tests/bench/follower.ts [events]: how fast the follower catches up with a chain that is full of events.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { TOPICS } from '../../lib/chain/followed-contracts.ts';
import { createVault } from '../../routes/index.ts';
import { VAULT_SECRET } from '../support/vault.ts';

/** One registration with an alias in each block. */
const EVENTS_PER_BLOCK = 2;
const REGISTRY = `0x${'d1'.repeat(20)}`;

/**
 * A node whose chain is made up from the block numbers alone; a process of its own, since following is what is
 * measured.
 */
function serveNode(blocks: number): void {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = JSON.parse(await request.text());
      const answers = [body].flat().map(({ id, method, params }) => ({ id, result: answer(blocks, method, params) }));
      return Response.json(Array.isArray(body) ? answers : answers[0]);
    },
  });
  console.log(server.port);
}

function answer(head: number, method: string, [first]: [string | { fromBlock: string; toBlock: string }]): unknown {
  if (method === 'eth_chainId') return '0x14a34';
  if (typeof first !== 'object') return block(first === 'latest' ? head : Number(first));
  const [from, to] = [Number(first.fromBlock), Number(first.toBlock)];
  return Array.from({ length: to - from + 1 }, (_, i) => logsOf(from + i)).flat();
}

function block(number: number) {
  return { number: hex(number), hash: word('b', number) };
}

function logsOf(number: number) {
  const place = {
    address: REGISTRY,
    blockNumber: hex(number),
    blockHash: word('b', number),
    transactionHash: word('7', number),
  };
  const [did, alias] = [word('d', number), word('a', number)];
  return [
    {
      ...place,
      topics: [TOPICS.DIDRegistered, did, word('0', number)],
      data: `0x${'20'.padStart(64, '0')}${'0'.repeat(64)}`,
      logIndex: '0x0',
    },
    { ...place, topics: [TOPICS.AliasRegistered, alias, did], data: '0x', logIndex: '0x1' },
  ];
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

function word(mark: string, value: number): string {
  return `0x${mark}${value.toString(16).padStart(63, '0')}`;
}

async function measure(events: number): Promise<void> {
  const blocks = events / EVENTS_PER_BLOCK;
  const node = Bun.spawn([process.execPath, import.meta.path, 'node', `${blocks - 1}`], { stdout: 'pipe' });
  const { value } = await node.stdout.getReader().read();
  const dir = mkdtempSync(join(tmpdir(), 'vault-bench-'));
  const database = openSqlite(join(dir, 'vault.db'));
  const vars = {
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    RPC_URL: `http://127.0.0.1:${Number(new TextDecoder().decode(value))}`,
    DID_REGISTRY_ADDRESS: REGISTRY,
    FOLLOWER: 'true',
    EMAIL_PROVIDER: 'none',
    SMS_PROVIDER: 'none',
  };
  const vault = createVault({ vars, database });
  const ask = async (path: string) => (await vault.fetch(new Request(`http://vault${path}`))).json();
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  let lastBlock = '';
  while (lastBlock !== `${blocks - 1}`) {
    await vault.work(Date.now() + 60_000);
    lastBlock = ((await ask('/api/indexer/stats')) as { last_block_number: string }).last_block_number;
  }
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const [{ bytes }] = (
    await database.execute({
      sql: `SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size`,
      args: {},
    })
  ).rows as [{ bytes: number }];
  console.log(
    `${events} events of ${blocks} blocks in ${seconds.toFixed(2)} s: ${(events / seconds).toFixed(0)} a second`,
  );
  console.log(
    `CPU ${((user + system) / events).toFixed(1)} µs an event, ${(bytes / events).toFixed(0)} bytes an event`,
  );
  console.log(JSON.stringify(await ask('/api/indexer/stats')));
  node.kill();
  await vault.close();
  database.close();
  rmSync(dir, { recursive: true, force: true });
}

if (process.argv[2] === 'node') serveNode(Number(process.argv[3]));
else await measure(Number(process.argv[2] ?? 100_000));
