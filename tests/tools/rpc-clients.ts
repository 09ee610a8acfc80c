import { JsonRpcProvider, Network } from 'ethers';
import { createPimlicoClient } from 'permissionless/clients/pimlico';
import { createClient, http } from 'viem';
import { createClient as createClient221, http as http221 } from 'viem-2.21';

/** What a client makes of a refusal: the JSON-RPC error it read, or the HTTP status it gave up at and the body. */
export type Read = RpcError | { readonly status: number; readonly body: string };

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A published JSON-RPC client, as its package is. */
export interface RpcClient {
  readonly name: string;
  /** Whether it reads a JSON-RPC error from a body whose status is not 200. */
  readonly readsBodies: boolean;
  /** One call of its own, or one of several that it sends as a batch. */
  call(url: string, method: string, params: readonly unknown[]): Promise<Read | { readonly result: unknown }>;
  batch(
    url: string,
    calls: readonly (readonly [string, readonly unknown[]])[],
  ): Promise<(Read | { readonly result: unknown })[]>;
}

type Ask = (request: never) => Promise<unknown>;

/** A client of viem's transport: with batching on, the calls of one tick go into one batch. */
function viemClient(name: string, readsBodies: boolean, connect: (url: string, batch: boolean) => Ask): RpcClient {
  const ask = (request: Ask, method: string, params: readonly unknown[]) =>
    request({ method, params } as never).then((result) => ({ result }), readViem);
  return {
    name,
    readsBodies,
    call: (url, method, params) => ask(connect(url, false), method, params),
    batch(url, calls) {
      const request = connect(url, true);
      return Promise.all(calls.map(([method, params]) => ask(request, method, params)));
    },
  };
}

/** viem wraps what came over the wire in errors of its own. */
function readViem(error: unknown): Read {
  for (let at = error as ViemError | undefined; at; at = at.cause) {
    if (at.name === 'RpcRequestError') {
      const { code, message, data } = at.cause as unknown as RpcError;
      return { code, message, data };
    }
    if (at.name === 'HttpRequestError') return { status: at.status, body: at.details };
  }
  throw error;
}

interface ViemError {
  readonly name: string;
  readonly status: number;
  readonly details: string;
  readonly cause?: ViemError;
}

const ethers: RpcClient = {
  name: 'ethers 6',
  readsBodies: false,
  async call(url, method, params) {
    const [read] = await this.batch(url, [[method, params]]);
    return read as Read;
  },
  async batch(url, calls) {
    const network = Network.from(84532);
    const provider = new JsonRpcProvider(url, network, { staticNetwork: network });
    const answers = calls.map(([method, params]) =>
      provider.send(method, [...params]).then((result) => ({ result }), readEthers),
    );
    return Promise.all(answers).finally(() => provider.destroy());
  },
};

function readEthers(failure: {
  readonly code: string;
  readonly error?: RpcError;
  readonly info?: { readonly responseStatus: string; readonly responseBody: string };
}): Read {
  if (failure.code === 'UNKNOWN_ERROR' && failure.error) return failure.error;
  if (failure.code !== 'SERVER_ERROR' || !failure.info) throw failure;
  return { status: Number.parseInt(failure.info.responseStatus, 10), body: failure.info.responseBody };
}

/** The clients that wallets are built with, none of them changed or configured. */
export const RPC_CLIENTS: readonly RpcClient[] = [
  viemClient('viem 2.21.0', false, (url, batch) => createClient221({ transport: http221(url, { batch }) }).request),
  viemClient('viem', true, (url, batch) => createClient({ transport: http(url, { batch }) }).request),
  viemClient(
    'permissionless',
    true,
    (url, batch) => createPimlicoClient({ transport: http(url, { batch }) }).request as Ask,
  ),
  ethers,
];
