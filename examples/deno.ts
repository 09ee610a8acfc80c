// deno run -A examples/deno.ts: the vault in Deno.
import { createClient } from '@libsql/client';
import { createVault } from 'vault';
import { packageAssets } from 'vault/node';

const database = createClient({ url: Deno.env.get('DATABASE_URL') ?? 'file:vault.db', concurrency: 1 });
const vault = createVault({
  vars: Deno.env.toObject(),
  database,
  assets: packageAssets(),
  log: (entry) => console.log(JSON.stringify(entry)),
});

Deno.serve(
  {
    hostname: '127.0.0.1',
    port: Number(Deno.env.get('PORT') ?? 8787),
    onListen: ({ hostname, port }) => console.log(`listening on http://${hostname}:${port}/`),
  },
  (request, { remoteAddr }) => vault.fetch(request, { peer: remoteAddr.hostname }),
);
setInterval(() => vault.work(Date.now() + 1_000), 1_000);
