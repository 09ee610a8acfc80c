import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { systemRandom } from '../../lib/base/random.ts';
import { createVault } from '../../routes/index.ts';
import { VAULT_SECRET } from '../support/vault.ts';
import { benchFolder } from './frame/target.ts';

/**
 * The server under load, a process of its own: `bare` answers JSON and nothing else, `bundler` any JSON-RPC request, `node`
 * any call of a contract with zeros,
 * `vault` is the whole product on a file at `synchronous=FULL` with mail handed to a sink in memory, and with the
 * settings given as JSON. Its codes are all the same, so that the load knows them.
 */
const [mode = 'bare', settings = '{}'] = process.argv.slice(2);
const folder = benchFolder();
const database = openSqlite(join(folder.path, 'vault.db'));
const unlimited = '1000000000';
const vault = createVault({
  vars: {
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    EMAIL_PROVIDER: 'smtp',
    EMAIL_FROM: 'vault@example.com',
    SMTP_URL: 'smtp://127.0.0.1:25',
    RATE_LIMIT_READS_PER_IP: unlimited,
    RATE_LIMIT_WRITES_PER_IP: unlimited,
    EMAIL_DAILY_MAX: unlimited,
    RATE_LIMIT_PROXY_PER_IP: unlimited,
    ...JSON.parse(settings),
  },
  database,
  mail: { send: async () => {} },
  // Codes alone draw four bytes.
  random: (length) => (length === 4 ? new Uint8Array(length).fill(7) : systemRandom(length)),
});

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
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch: answer });
console.log(server.port);

process.on('SIGTERM', async () => {
  await server.stop(true);
  await vault.close();
  database.close();
  folder.remove();
  process.exit(0);
});
