// An API that charges per request, as x402 writes it, and settles by itself: it is its own facilitator.
import type { Hex } from 'ox';
import { parseErc6492Signature } from 'viem/utils';
import type { TransferAuthorization } from '../../client/transfer-authorization.ts';
import { USDC_DOMAINS } from '../../client/usdc.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import { isDeployed } from '../../scripts/dev-stack/create2.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { type Authorization, authorizationCall } from './authorizations.ts';

/** What it charges, and for whom. */
export const TEA = { payTo: '0x00000000000000000000000000000000000A11cE', amount: '1250000' } as const;

/** The entry of its 402. */
export const REQUIREMENT = {
  ...{ scheme: 'exact', network: 'eip155:84532', maxTimeoutSeconds: 300 },
  ...{ asset: USDC_DOMAINS[84532].address, extra: { name: 'USDC', version: '2' } },
  ...TEA,
};

/** An authorization and its signature, as it travels. */
export interface Signed {
  readonly authorization: TransferAuthorization;
  readonly signature: string;
}

/** Starts it: `/tea` asks by version 2, `/old-tea` by version 1. */
export function startPaidApi(rpc: ChainRpc) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (request.method === 'OPTIONS') return answer(204);
      const isOld = new URL(request.url).pathname === '/old-tea';
      const header = request.headers.get(isOld ? 'x-payment' : 'payment-signature');
      if (header === null) return asked(request.url, isOld);
      const { payload } = JSON.parse(atob(header)) as { payload: Signed };
      const { to, value } = payload.authorization;
      const isPrice = to.toLowerCase() === TEA.payTo.toLowerCase() && value === TEA.amount;
      const refusal = isPrice ? await settle(rpc, payload) : 'another price';
      return refusal === undefined ? answer(200, { tea: 'two cups' }) : answer(402, { refusal });
    },
  });
  return { url: `http://localhost:${server.port}`, stop: () => server.stop(true) };
}

/** Hands an authorization to the token, as a facilitator does; why it was refused. */
export async function settle(rpc: ChainRpc, { authorization, signature }: Signed): Promise<string | undefined> {
  const { privateKey } = devAccount('bob');
  const { address: factory, data = '0x', signature: inner } = parseErc6492Signature(signature as Hex.Hex);
  const { from, value, validAfter, validBefore } = authorization;
  if (factory && !(await isDeployed(rpc, from as Hex.Hex)))
    await sendTransaction(rpc, privateKey, { to: factory, data });
  const members = { value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) };
  const call = authorizationCall({ ...authorization, ...members } as Authorization, inner);
  try {
    await rpc('eth_call', [call, 'latest']);
  } catch (error) {
    return (error as Error).message;
  }
  await sendTransaction(rpc, privateKey, call);
  return undefined;
}

function asked(url: string, isOld: boolean): Response {
  if (!isOld) {
    const said = { x402Version: 2, resource: { url, description: 'Two teas' }, accepts: [REQUIREMENT] };
    return answer(402, {}, { 'payment-required': btoa(JSON.stringify(said)) });
  }
  const { amount, ...rest } = REQUIREMENT;
  const entry = { ...rest, network: 'base-sepolia', maxAmountRequired: amount, resource: url, description: 'Two teas' };
  return answer(402, { x402Version: 1, accepts: [entry] });
}

function answer(status: number, body?: object, headers: Readonly<Record<string, string>> = {}): Response {
  const cors = {
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'payment-signature, x-payment',
    'access-control-expose-headers': 'payment-required',
  };
  return new Response(body && JSON.stringify(body), {
    status,
    headers: { ...cors, 'content-type': 'application/json', ...headers },
  });
}
