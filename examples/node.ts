// node examples/node.ts (Node 22.18 or later runs TypeScript as it is): the vault in a Node server, by way of srvx.
import { createClient } from '@libsql/client';
import { serve } from 'srvx';
import { createVault } from 'vault';

const database = createClient({ url: process.env['DATABASE_URL'] ?? 'file:vault.db', concurrency: 1 });
const vault = createVault({ vars: process.env, database, log: (entry) => console.log(JSON.stringify(entry)) });

const server = serve({
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 8787),
  gracefulShutdown: false,
  fetch: (request) => vault.fetch(request, { peer: request.ip }),
});
await server.ready();
const timer = setInterval(() => vault.work(Date.now() + 1_000), 1_000);
console.log(`listening on ${server.url}`);

process.once('SIGTERM', async () => {
  clearInterval(timer);
  await server.close(true);
  await vault.close();
  database.close();
});
