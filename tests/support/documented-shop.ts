// The shop of docs/payments.md, as it is printed there: its page, and the server that checks what is handed to it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Shop } from '../../scripts/dev-stack/shop.ts';

/** The page, and what answers its requests. */
interface DocumentedShop {
  readonly page: string;
  fetch(request: Request): Promise<Response>;
}

/** Where the shop is, which vault it is paid through, and the node that its server asks. */
interface ShopPlaces {
  readonly origin: string;
  readonly vault: string;
  readonly rpcUrl: string;
}

const DOCUMENT = new URL('../../docs/payments.md', import.meta.url);
const CLIENT = fileURLToPath(new URL('../../client/payments.ts', import.meta.url));

/** Serves it at an origin of its own. */
export async function startDocumentedShop(places: Omit<ShopPlaces, 'origin'>): Promise<Shop> {
  let shop: DocumentedShop | undefined;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      if (!shop) return new Response('Starting\n', { status: 503 });
      const isPage = request.method === 'GET' && new URL(request.url).pathname === '/';
      if (!isPage) return shop.fetch(request);
      return new Response(shop.page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    },
  });
  const origin = `http://localhost:${server.port}`;
  shop = await loadDocumentedShop({ ...places, origin });
  return { url: origin, stop: () => server.stop(true) };
}

/** Takes the texts from the document and puts the places into them, as the person who copies them does. */
async function loadDocumentedShop({ origin, vault, rpcUrl }: ShopPlaces): Promise<DocumentedShop> {
  const text = await Bun.file(DOCUMENT).text();
  const [, page = ''] = /```html\n([\s\S]*?)```/.exec(text) ?? [];
  const [, server = ''] = /```js\n(import [\s\S]*?)```/.exec(text) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'vault-shop-'));
  try {
    const module = join(folder, 'server.js');
    await writeFile(
      module,
      put(server, {
        'vault/payments': CLIENT,
        'https://shop.example.com': origin,
        'https://rpc.example.com': rpcUrl,
      }),
    );
    const { default: served } = (await import(module)) as { default: Pick<DocumentedShop, 'fetch'> };
    return { page: put(page, { 'https://vault.example.com': vault }), fetch: served.fetch };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function put(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((whole, [name, value]) => {
    if (!whole.includes(name)) throw new Error(`docs/payments.md holds no ${name}`);
    return whole.replaceAll(name, value);
  }, text);
}
