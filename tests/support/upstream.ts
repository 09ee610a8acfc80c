/** A JSON-RPC request as it came in over HTTP. */
export interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was sent.
  readonly body: any;
}

/** A JSON-RPC server whose every answer a test decides. */
export interface Upstream {
  readonly url: string;
  readonly received: Received[];
  /** What to answer: a `Response` as it is, anything else as JSON. The method as the result unless set. */
  answer: (call: Received, request: Request) => unknown;
  stop(): Promise<void>;
}

/** A well-formed answer with this result. */
export const resultOf = ({ body }: Received, result: unknown) => ({ jsonrpc: '2.0', id: body.id, result });

/** A well-formed error. */
export const errorOf = ({ body }: Received, error: unknown) => ({ jsonrpc: '2.0', id: body.id, error });

/** Answers with the method that was called. */
export const echo: Upstream['answer'] = (call) => resultOf(call, call.body.method);

/** What a complete draft says of gas and fees; on a local chain it costs little. */
export const CHEAP_GAS = {
  callGasLimit: '0x30d40',
  verificationGasLimit: '0x7a120',
  preVerificationGas: '0xea60',
  maxFeePerGas: '0x989680',
  maxPriorityFeePerGas: '0xf4240',
  paymaster: `0x${'9a'.repeat(20)}`,
  paymasterData: '0x',
  paymasterVerificationGasLimit: '0x186a0',
  paymasterPostOpGasLimit: '0x1',
} as const;

/** Answers a stub and an estimate as a bundler with a paymaster does, no price, and anything else as `echo`. */
export const willing: Upstream['answer'] = (call) => {
  const { paymaster, paymasterData, paymasterVerificationGasLimit, paymasterPostOpGasLimit, ...gas } = CHEAP_GAS;
  const stub = { paymaster, paymasterData, paymasterVerificationGasLimit, paymasterPostOpGasLimit };
  switch (call.body.method) {
    case 'pm_getPaymasterStubData':
      return resultOf(call, stub);
    case 'eth_estimateUserOperationGas':
      return resultOf(call, gas);
    case 'pimlico_getUserOperationGasPrice':
    case 'rundler_maxPriorityFeePerGas':
    case 'skandha_getGasPrice':
      return errorOf(call, { code: -32601, message: 'method not found' });
    default:
      return echo(call, new Request('http://127.0.0.1'));
  }
};

/** Starts one on loopback. */
export function startUpstream(): Upstream {
  const received: Received[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.clone().text();
      const { pathname, search } = new URL(request.url);
      const call = { path: pathname + search, headers: request.headers, text, body: JSON.parse(text) };
      received.push(call);
      const answer = await upstream.answer(call, request);
      return answer instanceof Response ? answer : Response.json(answer);
    },
  });
  const upstream: Upstream = {
    url: `http://127.0.0.1:${server.port}`,
    received,
    answer: echo,
    stop: () => server.stop(true),
  };
  return upstream;
}
