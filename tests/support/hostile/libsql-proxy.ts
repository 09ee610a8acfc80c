import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What becomes of a request: `ignore` never answers and never passes it on, `swallow` passes it on and never answers,
 * `refuse` answers 503 without passing it on, `cut` ends the connection before it is passed on and `lose` after it was,
 * `halve` and `garble` pass it on and send half of the answer, or a page. A number passes it on after so many
 * milliseconds, `holdMs` holds back the answer, and so does `until` as long as its promise is open.
 */
export type LibsqlFault =
  | 'ignore'
  | 'swallow'
  | 'refuse'
  | 'cut'
  | 'lose'
  | 'halve'
  | 'garble'
  | number
  | { readonly holdMs: number }
  | { readonly until: Promise<unknown> };

/** A request as the client of a libSQL server sent it. */
export interface LibsqlRequest {
  readonly text: string;
  readonly isWrite: boolean;
}

/** A front of a libSQL server, in which a test makes trouble. */
export interface LibsqlProxy {
  readonly url: string;
  /** The server behind it, which a test may exchange. */
  target: string;
  /** Undefined lets everything through. */
  trouble: ((request: LibsqlRequest) => LibsqlFault | undefined) | undefined;
  /** The requests that came, and the most that were under way at once, of each kind. */
  readonly reads: LibsqlTally;
  readonly writes: LibsqlTally;
  stop(): void;
}

/** How many requests came. */
export interface LibsqlTally {
  count: number;
  underWay: number;
  mostAtOnce: number;
}

const PAGE = '<html><body><h1>502 Bad Gateway</h1></body></html>';

/** Starts a front of the server at `target` on loopback. */
export async function startLibsqlProxy(target: string): Promise<LibsqlProxy> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const isWrite = /BEGIN IMMEDIATE/.test(text);
    const tally = isWrite ? proxy.writes : proxy.reads;
    tally.count++;
    tally.underWay++;
    tally.mostAtOnce = Math.max(tally.mostAtOnce, tally.underWay);
    response.once('close', () => tally.underWay--);
    await misbehave(proxy.trouble?.({ text, isWrite }), { request, response, forward: () => forward(request, text) });
  }

  async function forward(request: IncomingMessage, text: string): Promise<{ status: number; body: string }> {
    const { authorization = '' } = request.headers;
    const headers = { 'content-type': 'application/json', authorization };
    const answer = await fetch(new URL(request.url ?? '/', proxy.target), { method: 'POST', headers, body: text });
    return { status: answer.status, body: await answer.text() };
  }

  const proxy: LibsqlProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    trouble: undefined,
    reads: { count: 0, underWay: 0, mostAtOnce: 0 },
    writes: { count: 0, underWay: 0, mostAtOnce: 0 },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly forward: () => Promise<{ status: number; body: string }>;
}

async function misbehave(fault: LibsqlFault | undefined, { request, response, forward }: Exchange): Promise<void> {
  if (fault === 'ignore') return;
  if (fault === 'cut') return void request.socket.destroy();
  if (fault === 'refuse') return void response.writeHead(503).end('upstream is busy');
  if (typeof fault === 'number') await Bun.sleep(fault);
  const { status, body } = await forward();
  if (fault === 'swallow') return;
  if (typeof fault === 'object') await ('until' in fault ? fault.until : Bun.sleep(fault.holdMs));
  if (fault === 'lose') return void request.socket.destroy();
  const type = { 'content-type': 'application/json' };
  if (fault === 'garble') return void response.writeHead(200, type).end(PAGE);
  if (fault !== 'halve') return void response.writeHead(status, type).end(body);
  response.writeHead(200, { ...type, 'content-length': Buffer.byteLength(body) });
  response.write(body.slice(0, body.length / 2), () => request.socket.destroy());
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
