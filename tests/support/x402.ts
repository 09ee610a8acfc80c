// APIs that are paid by x402: an account as their packages know it, and what docs/x402.md has them run.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hex, TypedData } from 'ox';
import { messages } from '../../client/approval-terms.ts';
import { type Chain, type ChainRpc, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { placeMulticall } from '../../scripts/dev-stack/multicall.ts';
import { USDC } from '../../scripts/dev-stack/usdc.ts';
import { encodeAssertion, type SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { toolPath } from '../../scripts/testing/tools.ts';
import { chainVars } from './chain-vars.ts';
import { startVault } from './vault.ts';

/** Whose ether pays for settlements. */
export const FACILITATOR = devAccount('utility');
const DOCUMENT = join(import.meta.dir, '../../docs/x402.md');

/** Typed data as the packages hand it to a signer. */
interface TypedRequest {
  readonly domain: Record<string, unknown>;
  readonly types: Record<string, unknown>;
  readonly primaryType: string;
  readonly message: Record<string, unknown>;
}

/** How a signer differs from the account's own. */
export interface SignerOptions {
  /** With the creation, as before the account exists (ERC-6492). */
  readonly isUnborn?: boolean;
  readonly factory?: Hex.Hex;
  readonly factoryData?: Hex.Hex;
  readonly passkey?: SmartAccount['passkey'];
  /** The account that the signature is bound to. */
  readonly bound?: { readonly address?: Hex.Hex; readonly chainId?: number };
  /** Another address than the account's. */
  readonly address?: Hex.Hex;
  /** Members of the domain or the message that are signed in place of those that were asked for. */
  readonly domain?: Readonly<Record<string, unknown>>;
  readonly message?: Readonly<Record<string, unknown>>;
}

/** An account of a passkey as `@x402/evm` takes one; its signatures are ERC-1271's, nested as ERC-7739 has it. */
export function signerOf(account: SmartAccount, options: SignerOptions = {}) {
  const { passkey, factory, factoryData } = { ...account, ...options };
  return {
    address: options.address ?? account.address,
    async signTypedData({ domain, types, primaryType, message }: TypedRequest): Promise<Hex.Hex> {
      const given = { types, primaryType } as never;
      const data = { ...message, ...options.message };
      const typed = {
        domainSeparator: Hex.toBytes(TypedData.domainSeparator({ ...domain, ...options.domain } as never)),
        contents: Hex.toBytes(TypedData.hashStruct({ ...(given as object), data } as never)),
        type: TypedData.encodeType(given),
      };
      const { kind = 1, address } = account;
      const digest = messages.typedDataDigest({ kind, address, chainId: 84532, ...options.bound }, typed);
      const signed = Hex.toBytes(encodeAssertion(passkey.assert(digest)));
      const bare = messages.accountSignature({ kind }, signed, { typed });
      return Hex.fromBytes(options.isUnborn ? messages.undeployedSignature(factory, factoryData, bare) : bare);
    },
  };
}

/** An API and its facilitator, which both stand in docs/x402.md. */
export interface X402World {
  /** The URL that costs a cent. */
  readonly weather: string;
  readonly facilitator: string;
  stop(): Promise<void>;
}

/** Serves both: people of this vault pay, on this chain, also from pages of another origin. */
export async function startX402(
  { url, rpc }: Pick<Chain, 'url' | 'rpc'>,
  vault: string,
  page?: string,
): Promise<X402World> {
  await placeMulticall(rpc);
  const node = servePublicNode(url);
  const facilitator = await serveBlock('x402Facilitator', {
    'https://vault.example.com': vault,
    'https://rpc.example.com': node.url,
    'process.env.FACILITATOR_KEY': `'${FACILITATOR.privateKey}'`,
  });
  const api = await serveBlock('paymentMiddleware', {
    'https://facilitator.example.com': facilitator.url,
    'app.use(paymentMiddleware': `${await documentedBlock('cors')}app.use(paymentMiddleware`,
    ...(page === undefined ? {} : { 'https://app.example.com': page }),
  });
  return {
    weather: `${api.url}/weather`,
    facilitator: facilitator.url,
    async stop() {
      await api.stop();
      await facilitator.stop();
      await node.stop();
    },
  };
}

/** The world of a test file: a chain, a vault on it, and what `startX402` serves. */
export interface PaidWorld extends X402World {
  readonly chain: Chain;
}

/** Starts it all. */
export async function startPaidWorld(): Promise<PaidWorld> {
  const chain = await startChain();
  const t = await startVault(chainVars(chain.url, await deployContracts(chain.rpc)));
  const world = await startX402(chain, t.url);
  return {
    ...world,
    chain,
    async stop() {
      await world.stop();
      await t.stop();
      await chain.stop();
    },
  };
}

/** Creates an account, by somebody else's transaction. */
export function createAccount({ rpc }: Pick<Chain, 'rpc'>, { factory, factoryData }: SmartAccount) {
  return sendTransaction(rpc, devAccount('alice').privateKey, { to: factory, data: factoryData });
}

/**
 * The node as those of public chains are: they estimate gas in the latest block, anvil in the pending one, also
 * where it fills a transaction. */
function servePublicNode(target: string) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const call = (await request.json()) as { id: number; method: string; params: readonly unknown[] };
      const unknown = { jsonrpc: '2.0', id: call.id, error: { code: -32601, message: 'method not found' } };
      if (call.method === 'eth_fillTransaction') return Response.json(unknown);
      const params = call.method === 'eth_estimateGas' ? [call.params[0], 'latest'] : call.params;
      const headers = { 'content-type': 'application/json' };
      return fetch(target, { method: 'POST', headers, body: JSON.stringify({ ...call, params }) });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

/** Serves a block of the document that holds a text, at a port of its own, with values in place of the document's. */
async function serveBlock(holding: string, values: Readonly<Record<string, string>>) {
  const { default: served } = await importBlock<{
    default: { fetch(request: Request): Response | Promise<Response> };
  }>(holding, values);
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => served.fetch(request) });
  return { url: `http://localhost:${server.port}`, stop: () => server.stop(true) };
}

/** The exports of a block of the document. */
export async function importBlock<T>(holding: string, values: Readonly<Record<string, string>>): Promise<T> {
  const text = Object.entries(values).reduce(
    (whole, [name, value]) => {
      if (!whole.includes(name)) throw new Error(`docs/x402.md has no ${name}`);
      return whole.replaceAll(name, value);
    },
    await documentedBlock(holding),
  );
  // Beside the packages that it imports.
  const folder = mkdtempSync(toolPath('.x402-'));
  try {
    writeFileSync(join(folder, 'served.mjs'), text);
    return (await import(join(folder, 'served.mjs'))) as T;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The block of the document that holds a text. */
export async function documentedBlock(holding: string, language: 'js' | 'html' = 'js'): Promise<string> {
  const text = await Bun.file(DOCUMENT).text();
  const fence = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g');
  const blocks = Array.from(text.matchAll(fence), ([, code = '']) => code);
  const found = blocks.find((code) => code.includes(holding));
  if (!found) throw new Error(`docs/x402.md has no block with ${holding}`);
  return found;
}

/** The USDC of an address. */
export async function usdcOf(rpc: ChainRpc, address: string): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
  return BigInt((await rpc('eth_call', [{ to: USDC, data }, 'latest'])) as string);
}
