// deno run -A examples/deno.ts: the vault in Deno.
import { readFile } from 'node:fs/promises';
import { createClient } from '@libsql/client';
import { type Assets, createVault } from 'vault';

/** What the vault serves as it is, from the package's folder. */
const folder = new URL('assets/', import.meta.resolve('vault'));
const assets: Assets = {
  async fetch({ url }) {
    const file = await readFile(new URL(`.${new URL(url).pathname}`, folder)).catch(() => undefined);
    return file ? new Response(new Uint8Array(file)) : new Response(null, { status: 404 });
  },
};

const database = createClient({ url: Deno.env.get('DATABASE_URL') ?? 'file:vault.db', concurrency: 1 });
const vault = createVault({
  vars: Deno.env.toObject(),
  database,
  assets,
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
