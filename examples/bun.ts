// bun examples/bun.ts: the vault in a Bun server of your own.
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

const database = createClient({ url: process.env['DATABASE_URL'] ?? 'file:vault.db', concurrency: 1 });
const vault = createVault({ vars: process.env, database, assets, log: (entry) => console.log(JSON.stringify(entry)) });

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 8787),
  development: false,
  fetch: (request, socket) => vault.fetch(request, { peer: socket.requestIP(request)?.address }),
});
setInterval(() => vault.work(Date.now() + 1_000), 1_000);
console.log(`listening on ${server.url}`);
