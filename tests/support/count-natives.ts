// From its import on, what the runtime does for this process counts as under way (`under-way.ts`) until it is done:
// requests by `fetch`, bodies, signatures and digests. `clock.ts` imports it, for all tests that move a clock.
import { begin, counted, end, type UnderWay } from './under-way.ts';

/** Tells a server of this process which request it got; its handler does not see it. */
const HEADER = 'x-under-way';

const requests = new Map<string, UnderWay>();
const handled = new Map<string, Request>();
const hangUps = new Map<string, UnderWay>();
const ownPorts = new Set<string | undefined>();
let requestCount = 0;

const plainFetch = globalThis.fetch;

/** Under way until its answer is there with its body, but for the time in which a server of this process has it. */
async function countedFetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const { url, method } = input instanceof Request ? input : { url: String(input), method: init?.method ?? 'GET' };
  const id = String(++requestCount);
  const request = { what: `${method} ${url}` };
  const hangUp = () => countEnd(id, request);
  init?.signal?.addEventListener('abort', hangUp);
  requests.set(id, request);
  begin(request);
  try {
    const isOwn = ownPorts.has(/^http:\/\/[^/:]+:(\d+)/.exec(url)?.[1]);
    const response = await plainFetch(input, isOwn ? { ...init, headers: withId(input, init, id) } : init);
    // A body without a length is a stream, which a server may hold back.
    if (response.body && response.headers.has('content-length'))
      counted(`the answer to ${request.what}`, response.clone().arrayBuffer()).catch(() => undefined);
    return response;
  } finally {
    init?.signal?.removeEventListener('abort', hangUp);
    requests.delete(id);
    end(request);
  }
}

/** Counts what a caller gives up until it knows, and the server that has it knows too. */
function countEnd(id: string, request: UnderWay): void {
  begin(request);
  const { signal } = handled.get(id) ?? {};
  if (!signal || signal.aborted) return;
  const hangUp = { what: `the end of ${request.what}` };
  hangUps.set(id, hangUp);
  begin(hangUp);
  signal.addEventListener('abort', () => endHangUp(id));
}

/** Once its server has been told, or has answered: then it may never be told. */
function endHangUp(id: string): void {
  const hangUp = hangUps.get(id);
  if (hangUp === undefined) return;
  hangUps.delete(id);
  end(hangUp);
}

function withId(input: Parameters<typeof fetch>[0], init: RequestInit | undefined, id: string): Headers {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
  headers.set(HEADER, id);
  return headers;
}

globalThis.fetch = Object.assign(countedFetch, plainFetch);

type Handle = (this: unknown, request: Request, server: unknown) => unknown;

const counts = new WeakSet<Request>();

/** Not the request itself counts while a handler has it, but what the handler does. */
function held(handle: Handle): Handle {
  return function (request, server) {
    const id = request.headers.get(HEADER) ?? '';
    const one = requests.get(id);
    if (one === undefined) return handle.call(this, request, server);
    request.headers.delete(HEADER);
    counts.add(request);
    handled.set(id, request);
    end(one);
    const giveBack = (answer?: unknown) => {
      handled.delete(id);
      endHangUp(id);
      // Of a stream nothing is sent before its first part, which may be long in coming.
      const isStream = answer instanceof Response && answer.headers.get('content-type') === 'text/event-stream';
      if (!isStream && requests.has(id)) begin(one);
    };
    const answer = handle.call(this, request, server);
    if (answer instanceof Promise) answer.then(giveBack, () => giveBack());
    else giveBack(answer);
    return answer;
  };
}

const plainServe = Bun.serve as (options: { fetch?: Handle }) => Bun.Server<unknown>;

Bun.serve = ((options: { fetch?: Handle }) => {
  const server = plainServe(options.fetch ? { ...options, fetch: held(options.fetch) } : options);
  ownPorts.add(String(server.port));
  return server;
}) as typeof Bun.serve;

/** Counts the calls of a method of the runtime, on those of its objects that it is for. */
function count(prototype: object, names: readonly string[], isFor: (one: never) => boolean): void {
  const methods = prototype as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of names) {
    const plain = methods[name] as (...args: unknown[]) => Promise<unknown>;
    methods[name] = function (...args) {
      const work = plain.apply(this, args);
      return isFor(this as never) ? counted(name, work) : work;
    };
  }
}

const READERS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'];
count(SubtleCrypto.prototype, ['digest', 'sign', 'verify', 'importKey', 'exportKey', 'generateKey'], () => true);
// Others' bodies may never end.
count(Request.prototype, READERS, (request: Request) => counts.has(request));
count(Response.prototype, READERS, (response: Response) => response.url === '');
