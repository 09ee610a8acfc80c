// The shop of docs/payments.md, as it is printed there: its page, and the server that checks what is handed to it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The page, and what answers its requests. */
export interface DocumentedShop {
  readonly page: string;
  fetch(request: Request): Promise<Response>;
}

/** Where the shop is, which vault it is paid through, and the node that its server asks. */
export interface ShopPlaces {
  readonly origin: string;
  readonly vault: string;
  readonly rpcUrl: string;
}

const DOCUMENT = new URL('../../docs/payments.md', import.meta.url);
const CLIENT = fileURLToPath(new URL('../../client/payments.ts', import.meta.url));

/** Takes the texts from the document and puts the places into them, as the person who copies them does. */
export async function loadDocumentedShop({ origin, vault, rpcUrl }: ShopPlaces): Promise<DocumentedShop> {
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
