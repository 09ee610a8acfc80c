// bun examples/bun.ts: the vault in a Bun server of your own.
import { createClient } from '@libsql/client';
import { createVault } from 'vault';
import { packageAssets } from 'vault/node';

const database = createClient({ url: process.env['DATABASE_URL'] ?? 'file:vault.db', concurrency: 1 });
const vault = createVault({
  vars: process.env,
  database,
  assets: packageAssets(),
  log: (entry) => console.log(JSON.stringify(entry)),
});

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 8787),
  development: false,
  fetch: (request, socket) => vault.fetch(request, { peer: socket.requestIP(request)?.address }),
});
setInterval(() => vault.work(Date.now() + 1_000), 1_000);
console.log(`listening on ${server.url}`);
