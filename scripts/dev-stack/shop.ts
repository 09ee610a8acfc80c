import { Address, type Hex } from 'ox';
import type { ChainRpc } from './chain.ts';
import { type DocumentedShop, loadDocumentedShop } from './documented-shop.ts';
import { mintUsdc } from './usdc.ts';
import { devAccount, sendTransaction } from './wallet.ts';

/** A running shop. */
export interface Shop {
  /** Of the host `localhost`: the Payment Request API and passkeys want a secure origin with a name. */
  readonly url: string;
  stop(): Promise<void>;
}

/** What a click at the shop gives an account: 100 USDC and one ether of the local chain. */
export const GIFT = { usdc: 100_000_000n, wei: 10n ** 18n } as const;

/** Where the shop is paid, and what it asks whether it was. */
export interface ShopOptions {
  /** The vault's origin. */
  readonly vault: string;
  readonly rpc: ChainRpc;
  /** The URL of the same node. */
  readonly rpcUrl: string;
  readonly port?: number;
}

/**
 * The shop of docs/payments.md, page and server, and below the page a form that gives an account money to pay with.
 */
export async function startShop({ vault, rpc, rpcUrl, port = 0 }: ShopOptions): Promise<Shop> {
  const give = createGiver(rpc);
  let shop: DocumentedShop | undefined;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (!shop) return new Response('Starting\n', { status: 503 });
      if (request.method === 'GET' && pathname === '/') return html(shop.page + FORM);
      if (pathname !== '/give' || request.method !== 'POST') return shop.fetch(request);
      const account = String((await request.formData()).get('account')).trim();
      if (!Address.validate(account, { strict: false })) return new Response('That is no address.\n', { status: 400 });
      return give(account).then(
        () => new Response(null, { status: 303, headers: { location: '/' } }),
        (error: Error) => new Response(`${error.message}\n`, { status: 502 }),
      );
    },
  });
  const origin = `http://localhost:${server.port}`;
  shop = await loadDocumentedShop({ origin, vault, rpcUrl });
  return { url: origin, stop: () => server.stop(true) };
}

/** One gift after the other: a transaction's nonce is read from the chain. */
function createGiver(rpc: ChainRpc): (account: Hex.Hex) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  const give = async (to: Hex.Hex) => {
    await mintUsdc(rpc, to, GIFT.usdc);
    await sendTransaction(rpc, devAccount('owner').privateKey, { to, value: GIFT.wei });
  };
  return (account) => {
    const next = last.then(() => give(account));
    last = next.catch(() => {});
    return next;
  };
}

function html(page: string): Response {
  return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

const FORM = `
<hr>
<p>A new account holds nothing. Press the button above and create one, copy its address, cancel, and put the address here:</p>
<form method="post" action="/give">
  <input name="account" aria-label="Address of the account" placeholder="0x…" size="44" required pattern="0x[0-9a-fA-F]{40}">
  <button>Give it 100 USDC and 1 ETH of the local chain</button>
</form>
`;
