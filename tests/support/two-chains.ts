import { expect } from 'bun:test';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { placeUsdc } from '../../scripts/dev-stack/usdc.ts';
import { chainVars } from './chain-vars.ts';
import { type Forwarder, startForwarder } from './forwarder.ts';
import { expectHoldsNone } from './secrecy.ts';
import { startVault } from './vault.ts';

const KEY = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';

/** Where USDC is on Base. */
export const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

/**
 * The two chains that the vault knows, with USDC on both and the contracts on Base Sepolia, each behind a forwarder.
 */
export interface TwoChains {
  readonly sepolia: Chain;
  readonly base: Chain;
  readonly contracts: Deployment;
  readonly nodes: { readonly sepolia: Forwarder; readonly base: Forwarder };
  /** Settings of a vault that reads both through the forwarders, by URLs that hold a key. */
  settings(): Record<string, string>;
  /**
   * Asks fresh vaults, with `more` settings, under each outage, and expects 502 `rpc_error` without the key or a URL in
   * answer or log.
   */
  expectRpcError(
    line: string,
    query: Readonly<Record<string, string>>,
    more?: Readonly<Record<string, string>>,
  ): Promise<void>;
  stop(): Promise<void>;
}

/** Every way a node can fail, each of which is 502 `rpc_error`. */
export const OUTAGES: Readonly<Record<string, Forwarder['trouble']>> = {
  'an error page': () => new Response('<h1>502</h1>', { status: 502 }),
  'a redirect': () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
  'an error of its own': async (forward) => {
    const answers = [(await (await forward()).json()) as { id: number }].flat();
    const errors = answers.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: `no key ${KEY}` } }));
    return Response.json(errors.length > 1 ? errors : errors[0]);
  },
  'results of no use': async (forward) => {
    const answers = [(await (await forward()).json()) as object].flat();
    const useless = answers.map((one) => ({ ...one, result: `0x0${'z'.repeat(63)}` }));
    return Response.json(useless.length > 1 ? useless : useless[0]);
  },
};

/** Starts both chains. */
export async function startTwoChains(): Promise<TwoChains> {
  const [sepolia, base] = await Promise.all([startChain(), startChain({ chainId: 8453 })]);
  const contracts = await deployContracts(sepolia.rpc);
  await placeUsdc(sepolia.rpc);
  await placeUsdc(base.rpc, BASE_USDC);
  const nodes = { sepolia: startForwarder(sepolia.url), base: startForwarder(base.url) };
  const settings = () => ({
    ...chainVars(`${nodes.sepolia.url}/v2/${KEY}`, contracts),
    RPC_URL_8453: `${nodes.base.url}/v2/${KEY}`,
    RATE_LIMIT_PROXY_PER_IP: '100000',
  });
  return {
    sepolia,
    base,
    contracts,
    nodes,
    settings,
    async expectRpcError(line, query, more = {}) {
      for (const trouble of Object.values(OUTAGES)) {
        // What a vault has learnt of the chain would answer for the node.
        const own = await startVault({ ...settings(), ...more });
        nodes.sepolia.trouble = trouble;
        nodes.base.trouble = trouble;
        const reply = await own.call(line, query);
        expect([reply.status, reply.body]).toEqual([502, { error: 'rpc_error' }]);
        expectHoldsNone([reply.text, [...reply.headers], own.entries], KEY, nodes.sepolia.url, nodes.base.url);
        await own.stop();
      }
    },
    async stop() {
      await Promise.all([nodes.sepolia.stop(), nodes.base.stop()]);
      await Promise.all([sepolia.stop(), base.stop()]);
    },
  };
}
