import { join } from 'node:path';
import type { ChainRpc } from './chain.ts';
import { createFaucet } from './faucet.ts';
import { type Orders, openOrders } from './orders.ts';
import { isLocal, loadPage } from './page.ts';

export { GIFT } from './faucet.ts';

/** A running shop. */
export interface Shop {
  /** With the host `localhost`: the Payment Request API and passkeys want a secure origin with a name. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Where the shop is paid, and the chain of its test money. */
export interface ShopOptions {
  /** The vault's origin. */
  readonly vault: string;
  readonly rpc: ChainRpc;
  /** The vault's name of the shop, one of its `APPS`. */
  readonly app?: string;
  /** Where the codes are read. */
  readonly inbox?: string;
  readonly port?: number;
}

const BODY_BYTES_MAX = 4_096;

/**
 * A shop of one article. Its page signs people up and takes the payment by `vault/client`; its server makes the orders,
 * gives test money, and asks the vault whether an order was paid.
 */
export async function startShop({ vault, rpc, app = '', inbox = '', port = 0 }: ShopOptions): Promise<Shop> {
  const page = await loadPage(join(import.meta.dir, 'shop'), { origins: [vault] });
  const give = createFaucet(rpc);
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    maxRequestBodySize: BODY_BYTES_MAX,
    fetch: (request): Promise<Response> => handle(request),
    error: ({ message }) => failure(502, 'upstream_failed', message),
  });
  const origin = `http://localhost:${server.port}`;
  const orders = openOrders(origin, vault);
  const handle = async (request: Request): Promise<Response> => {
    const { pathname, search, host } = new URL(request.url);
    if (!isLocal(request)) return failure(421, 'not_here', `This is the shop of ${origin}.`);
    if (request.method === 'GET') {
      // A passkey belongs to a host name, not to an address.
      if (`http://${host}` !== origin) return Response.redirect(origin + pathname + search, 307);
      return page.answer(pathname, { vault, app, inbox }) ?? (await showOrder(orders, pathname));
    }
    const fault = faultOf(request, origin);
    if (fault) return fault;
    const body = await request.json().catch(() => undefined);
    if (pathname === '/orders') return Response.json(orders.create(), { status: 201 });
    if (pathname === '/money') return sendMoney(give, (body as { account?: unknown } | null)?.account);
    return checkReceipt(orders, pathname, body);
  };
  return { url: origin, stop: () => server.stop(true) };
}

/** Only the shop's own page writes: another site's form or script would, too, without asking first. */
function faultOf(request: Request, origin: string): Response | undefined {
  if (request.method !== 'POST') return failure(405, 'method_not_allowed');
  if ((request.headers.get('origin') ?? origin) !== origin) return failure(403, 'other_origin');
  if (request.headers.get('content-type') === 'application/json') return undefined;
  return failure(415, 'not_json', 'Send Content-Type: application/json.');
}

async function showOrder(orders: Orders, pathname: string): Promise<Response> {
  const [, id = ''] = /^\/orders\/([\w-]+)$/.exec(pathname) ?? [];
  const order = await orders.look(id);
  return order ? Response.json(order) : failure(404, 'not_found');
}

async function checkReceipt(orders: Orders, pathname: string, receipt: unknown): Promise<Response> {
  const [, id = ''] = /^\/orders\/([\w-]+)\/receipt$/.exec(pathname) ?? [];
  const finding = await orders.check(id, receipt).catch(() => 'unknown' as const);
  if (finding === 'unknown') return failure(502, 'vault_unreachable', 'The vault does not answer the shop. Try again.');
  return finding ? Response.json(finding) : failure(404, 'not_found');
}

async function sendMoney(give: ReturnType<typeof createFaucet>, account: unknown): Promise<Response> {
  const gift = await give(account).catch(() => 'failed' as const);
  if (gift === 'given') return Response.json({ ok: true });
  if (gift === 'bad_address') return failure(400, gift, 'Give the address of an account: 0x and 40 hex digits.');
  if (gift === 'busy') return failure(429, gift, 'Many are waiting for test money. Try again in a moment.');
  return failure(502, 'chain_failed', 'The local chain did not take the transaction. Is npm start still running?');
}

function failure(status: number, error: string, hint?: string): Response {
  return Response.json({ error, hint }, { status, headers: { 'cache-control': 'no-store' } });
}
