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
