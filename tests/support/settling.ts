// Vaults that watch payments on a real chain: operations go to a bundler of the test's own, and are handled by hand.
import { Hex } from 'ox';
import { deployFactory2 } from '../../scripts/dev-stack/account2.ts';
import { type Chain, type ChainRpc, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import { type Operation, toRpc } from '../../scripts/dev-stack/user-operation.ts';
import { timeOf, type Version } from './account2.ts';
import { testClock } from './clock.ts';
import { type Forwarder, startForwarder } from './forwarder.ts';
import type { OrderTerms } from './payment-operations.ts';
import { startUpstream, type Upstream } from './upstream.ts';
import { startVault, type TestVault } from './vault.ts';

/** The blocks on top of a final one. */
export const FINALITY_BLOCKS = 2;
/** The payee of all orders. */
export const PAYEE = '0x00000000000000000000000000000000000a11ce';
/** An order in a token, and one in ether. */
export const TEA: OrderTerms = { to: PAYEE, token: USDC, amount: 1_250_000n };
export const ETHER: OrderTerms = { to: PAYEE, token: 'native', amount: 1_000n };

/** A chain behind a forwarder, and a bundler that answers what a test says and includes nothing. */
export interface SettlingWorld {
  readonly chain: Chain;
  readonly rpc: ChainRpc;
  readonly node: Forwarder;
  readonly bundler: Upstream;
  /** The settings of a vault there. */
  readonly vars: Readonly<Record<string, string>>;
  /** Starts a vault whose clock is the chain's. */
  start(vars?: Readonly<Record<string, string>>, env?: Parameters<typeof startVault>[1]): Promise<TestVault>;
  /** Hands an operation to a vault's proxy; `from` is the client's address. */
  post(vault: TestVault, operation: Operation, from?: string, app?: string): ReturnType<TestVault['call']>;
  mine(blocks?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one for accounts of an EntryPoint. */
export async function startSettling(version: Version = '0.7'): Promise<SettlingWorld> {
  const chain = await startChain();
  const { rpc } = chain;
  await deployEntryPoints(rpc, [version]);
  await placeUsdc(rpc);
  const entryPoint = ENTRY_POINTS[version];
  const [node, bundler] = [startForwarder(chain.url), startUpstream()];
  const vars = {
    RPC_URL: node.url,
    CHAIN_ID: '84532',
    BUNDLER_URL: bundler.url,
    ENTRY_POINT_ADDRESS: entryPoint,
    ACCOUNT_FACTORY_2_ADDRESS: await deployFactory2(rpc, entryPoint),
    FINALITY_BLOCKS: String(FINALITY_BLOCKS),
    RATE_LIMIT_PROXY_PER_IP: '100000',
  };
  return {
    chain,
    rpc,
    node,
    bundler,
    vars,
    async start(more = {}, env = {}) {
      const clock = env.clock ?? testClock((await timeOf(rpc)) * 1000);
      const vault = await startVault({ ...vars, ...more }, { ...env, clock });
      // The tables are made at first use.
      await vault.call('GET /readyz');
      return vault;
    },
    post(vault, operation, from = '203.0.113.7', app = 'default') {
      const params = [toRpc(operation), entryPoint];
      return vault
        .from(from)
        .call(
          'POST /api/bundler',
          { jsonrpc: '2.0', id: 1, method: 'eth_sendUserOperation', params },
          { 'X-Vault-App': app },
        );
    },
    mine: async (blocks = FINALITY_BLOCKS) => void (await rpc('anvil_mine', [Hex.fromNumber(blocks)])),
    async stop() {
      await Promise.all([node.stop(), bundler.stop()]);
      await chain.stop();
    },
  };
}

/** The watch looks at everything again: the longest pause is over. */
export async function look(vault: TestVault): Promise<void> {
  await vault.clock.advance(601_000);
  await vault.work();
}

/** What a database holds of the event `payment.settled`, in order. */
export async function settledEvents(vault: TestVault): Promise<Record<string, unknown>[]> {
  const rows = await vault.rows("SELECT channel, app, data FROM events WHERE type = 'payment.settled' ORDER BY id");
  return rows.map(({ channel, app, data }) => ({ channel, app, ...JSON.parse(String(data)) }));
}

/** How many payments a vault watches. */
export async function openPayments(vault: TestVault): Promise<number> {
  const [row] = await vault.rows("SELECT count(*) AS n FROM payments WHERE status = 'open'");
  return Number(row?.['n']);
}
