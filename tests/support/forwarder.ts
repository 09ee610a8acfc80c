/** A JSON-RPC endpoint in front of a real one, whose trouble a test decides. */
export interface Forwarder {
  readonly url: string;
  /** The method of every call that came, in order; those of a batch too. */
  readonly methods: readonly string[];
  /**
   * Decides what a caller gets: the real answer is `forward()`, the request's text comes last. Undefined lets
   * everything through.
   */
  trouble: Trouble | undefined;
  stop(): Promise<void>;
}

export type Trouble = (
  forward: () => Promise<Response>,
  methods: readonly string[],
  body: string,
) => Response | Promise<Response>;

/** Starts a forwarder to the node at `target`; `port` takes up one that was stopped. */
export function startForwarder(target: string, port = 0): Forwarder {
  const methods: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text();
      const called = [JSON.parse(body)].flat().map(({ method }) => String(method));
      methods.push(...called);
      const forward = async () => {
        const answer = await fetch(target, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
        return new Response(await answer.text(), {
          status: answer.status,
          headers: { 'content-type': 'application/json' },
        });
      };
      return forwarder.trouble ? forwarder.trouble(forward, called, body) : forward();
    },
  });
  const forwarder: Forwarder = {
    url: `http://127.0.0.1:${server.port}`,
    methods,
    trouble: undefined,
    stop: () => server.stop(true),
  };
  return forwarder;
}
