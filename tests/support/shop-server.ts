// The server of npm start's shop, with a vault and a chain, and no browser.
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { type Shop, startShop } from '../../scripts/dev-stack/shop.ts';
import { placeUsdc } from '../../scripts/dev-stack/usdc.ts';
import { chainVars } from './chain-vars.ts';
import { orderOf } from './payers.ts';
import { startVault, type TestVault } from './vault.ts';

/** What the shop answers. */
export interface ShopReply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered.
  readonly body: any;
}

/** The shop, and how its page asks it. */
export interface ShopServer {
  readonly chain: Chain;
  readonly t: TestVault;
  readonly shop: Shop;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ShopReply>;
  look(id: string): Promise<ShopReply['body']>;
  newOrder(): Promise<ReturnType<typeof orderOf>>;
  check(id: string, receipt: unknown): Promise<ShopReply['body']>;
  stop(): Promise<void>;
}

/** Starts it. A block is final below three others, and the vault has no explorer, unless `more` says otherwise. */
export async function startShopServer(more: Readonly<Record<string, string>> = {}): Promise<ShopServer> {
  const chain = await startChain();
  const contracts = await deployContracts(chain.rpc);
  await placeUsdc(chain.rpc);
  const vars = { ...chainVars(chain.url, contracts), EXPLORER_URL: 'none', FINALITY_BLOCKS: '3' };
  const t = await startVault({ ...vars, RATE_LIMIT_PROXY_PER_IP: '100000', ...more });
  const shop = await startShop({ vault: t.url.replace('127.0.0.1', 'localhost'), rpc: chain.rpc });
  const post: ShopServer['post'] = async (path, body = {}, headers = {}) => {
    const sent = { 'content-type': 'application/json', ...headers };
    const answer = await fetch(shop.url + path, { method: 'POST', headers: sent, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  return {
    chain,
    t,
    shop,
    post,
    look: async (id) => (await fetch(`${shop.url}/orders/${id}`)).json(),
    async newOrder() {
      const { id, to, token, amount, chainId } = (await post('/orders')).body;
      return orderOf({ id, to, token, amount, chainId, origin: shop.url });
    },
    check: async (id, receipt) => (await post(`/orders/${id}/receipt`, receipt)).body,
    async stop() {
      await shop.stop();
      await t.stop();
      await chain.stop();
    },
  };
}
