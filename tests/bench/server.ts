import { join } from 'node:path';
import { openServing } from '../../commands/serve/database.ts';
import { systemRandom } from '../../lib/base/random.ts';
import { readConfig } from '../../lib/config/config.ts';
import { createVault } from '../../routes/index.ts';
import { VAULT_SECRET } from '../support/vault.ts';
import { benchFolder } from './frame/target.ts';

/**
 * The server under load, a process of its own: `bare` answers JSON and nothing else, `bundler` any JSON-RPC request, `node`
 * any call of a contract with zeros,
 * `vault` is the whole product on a file at `synchronous=FULL` with mail handed to a sink in memory, and with the
 * settings given as JSON, `DATABASE_WRITER` included. Its codes are all the same, so that the load knows them. With a `DATABASE_URL` it is one of
 * several on a database server, and does its background work.
 */
const [mode = 'bare', text = '{}'] = process.argv.slice(2);
const settings: Record<string, string> = JSON.parse(text);
const { DATABASE_URL: server } = settings;
const folder = benchFolder();
const unlimited = '1000000000';
const vars = {
  VAULT_SECRET,
  OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
  EMAIL_PROVIDER: 'smtp',
  EMAIL_FROM: 'vault@example.com',
  SMTP_URL: 'smtp://127.0.0.1:25',
  RATE_LIMIT_READS_PER_IP: unlimited,
  RATE_LIMIT_WRITES_PER_IP: unlimited,
  EMAIL_DAILY_MAX: unlimited,
  RATE_LIMIT_PROXY_PER_IP: unlimited,
  DATABASE_URL: `file:${join(folder.path, 'vault.db')}`,
  ...settings,
};
const database = await openServing(readConfig(vars), () => undefined);
const vault = createVault({
  vars,
  database,
  mail: { send: async () => {} },
  // Codes alone draw four bytes.
  random: (length) => (length === 4 ? new Uint8Array(length).fill(7) : systemRandom(length)),
});
if (server !== undefined) setInterval(() => vault.work(Date.now() + 5_000), 1_000);

const bare = {
  chain: 'Base Sepolia',
  chainId: 84532,
  rpc: 'https://sepolia.base.org',
  database: 'connected',
  version: '0.1.0',
};
type Answer = (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>;

const MODES: Readonly<Record<string, Answer>> = {
  bare: () => Response.json(bare),
  bundler: async (request) => {
    const { id } = (await request.json()) as { id: number };
    return Response.json({ jsonrpc: '2.0', id, result: '0x14a34' });
  },
  node: async (request) => {
    const calls = (await request.json()) as { id: number } | { id: number }[];
    const zeros = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: `0x${'0'.repeat(64)}` });
    return Response.json(Array.isArray(calls) ? calls.map(zeros) : zeros(calls));
  },
  vault: (request, server) => vault.fetch(request, { peer: server.requestIP(request)?.address }),
};
const answer = MODES[mode];
if (!answer) throw new Error(`no mode ${mode}`);
const listener = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch: answer });
if (mode === 'vault') {
  await database.chooseWriter();
  database.startWriter();
}
console.log(listener.port);

process.on('SIGTERM', async () => {
  await listener.stop(true);
  await vault.close();
  await database.close();
  folder.remove();
  process.exit(0);
});
