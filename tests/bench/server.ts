import { join } from 'node:path';
import { openAssets } from '../../commands/serve/assets.ts';
import { openServing } from '../../commands/serve/database.ts';
import { createInflight } from '../../commands/serve/inflight.ts';
import { listen } from '../../commands/serve/listen.ts';
import { operatorFiles } from '../../commands/setup/operator-files.ts';
import type { Log } from '../../lib/base/log.ts';
import { systemRandom } from '../../lib/base/random.ts';
import { readConfig } from '../../lib/config/config.ts';
import { createVault } from '../../routes/index.ts';
import { VAULT_SECRET } from '../support/vault.ts';
import { benchFolder } from './frame/target.ts';

/**
 * A server under load, a process of its own that prints its port: `bare` answers JSON and nothing else, `bundler` any
 * JSON-RPC request, `node` any call of a contract with zeros, `vault` is the whole product with the settings given as
 * JSON, by default on a new file. Its mail goes nowhere, and its codes are all the same, so that the load knows them.
 * With a `DATABASE_URL`, such as that of a server which several share, it does its background work too.
 */
const [mode = 'bare', text = '{}'] = process.argv.slice(2);
const settings: Readonly<Record<string, string>> = JSON.parse(text);

/** What listens, and what ends it. */
interface Served {
  readonly server: Pick<Bun.Server<undefined>, 'port' | 'stop'>;
  close?(): Promise<void>;
}

const bare = {
  chain: 'Base Sepolia',
  chainId: 84532,
  rpc: 'https://sepolia.base.org',
  database: 'connected',
  version: '0.2.0',
};

const MODES: Readonly<Record<string, () => Served | Promise<Served>>> = {
  bare: () => serve(() => Response.json(bare)),
  bundler: () =>
    serve(async (request) => {
      const { id } = (await request.json()) as { id: number };
      return Response.json({ jsonrpc: '2.0', id, result: '0x14a34' });
    }),
  node: () =>
    serve(async (request) => {
      const calls = (await request.json()) as { id: number } | { id: number }[];
      const zeros = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: `0x${'0'.repeat(64)}` });
      return Response.json(Array.isArray(calls) ? calls.map(zeros) : zeros(calls));
    }),
  vault: () => serveVault(),
  'vault-inline': () => serveVault({ isInline: true }),
};

function serve(fetch: (request: Request) => Response | Promise<Response>): Served {
  return { server: Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch }) };
}

/** With `isInline` the event loop writes, as in a command: what the thread is compared with. */
async function serveVault({ isInline = false } = {}): Promise<Served> {
  const folder = benchFolder();
  const unlimited = '1000000000';
  const vars = {
    PORT: '0',
    HOST: '127.0.0.1',
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATABASE_URL: `file:${join(folder.path, 'vault.db')}`,
    EMAIL_PROVIDER: 'smtp',
    EMAIL_FROM: 'vault@example.com',
    SMTP_URL: 'smtp://127.0.0.1:25',
    RATE_LIMIT_READS_PER_IP: unlimited,
    RATE_LIMIT_WRITES_PER_IP: unlimited,
    EMAIL_DAILY_MAX: unlimited,
    RATE_LIMIT_PROXY_PER_IP: unlimited,
    ...settings,
  };
  const log: Log = (entry) => {
    if (entry.level === 'error') console.error(JSON.stringify(entry));
  };
  const config = readConfig(vars);
  const database = await openServing(config, log);
  // Codes alone draw four bytes.
  const random = (length: number) => (length === 4 ? new Uint8Array(length).fill(7) : systemRandom(length));
  const outside = { assets: openAssets(), operatorFiles, mail: { send: async () => {} } };
  const vault = createVault({ vars, database, ...outside, random, log });
  if (!isInline) database.startWriter();
  if (settings['DATABASE_URL'] !== undefined) setInterval(() => vault.work(Date.now() + 5_000), 1_000);
  // What `vault serve` listens with.
  const server = listen({ config, inflight: createInflight(), ready: Promise.resolve(vault), log });
  return {
    server,
    async close() {
      await vault.close();
      await database.close();
      folder.remove();
    },
  };
}

const served = await MODES[mode]?.();
if (!served) throw new Error(`no mode ${mode}`);
console.log(served.server.port);

process.on('SIGTERM', async () => {
  await served.server.stop(true);
  await served.close?.();
  process.exit(0);
});
