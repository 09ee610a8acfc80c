import { processorOf } from './processor.ts';

/** What one run of load found. */
export interface Finding {
  readonly perSecond: number;
  /** Processor time of the server's processes per request, in microseconds. */
  readonly cpuMicros: number;
  /** Of the server's first thread alone. */
  readonly mainMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Answers by status; `lost` without one, `200 wrong` for one that lacks what it must hold. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The part of the time in which this process, which makes the load, was busy: near 1 it is the load that is slow. */
  readonly loadShare: number;
}

/** A server under load. */
export interface Loaded {
  readonly port: number;
  readonly pid: number;
}

/** One request as bytes on the wire, by its number. */
export type RequestOf = (n: number) => string;

/** How long, over how many connections, and at most how many requests. */
export interface Span {
  readonly ms: number;
  readonly connections?: number;
  readonly count?: number;
  /** What every answer must hold, such as `"verified":true`: a status proves no work. */
  readonly holds?: string;
}

/**
 * Keeps `connections` requests under way for `ms` (or until `count` are done): each connection sends the next once it
 * has the answer to the last.
 */
export function load(server: Loaded, requestOf: RequestOf, span: Span): Promise<Finding> {
  const { ms, connections = 64, count = Number.POSITIVE_INFINITY, holds } = span;
  return measured(server, async (note) => {
    let next = 0;
    const end = performance.now() + ms;
    const run = async () => {
      let line = await connectLine(server.port, holds);
      while (next < count && performance.now() < end) {
        const sentAt = performance.now();
        const status = await line.ask(requestOf(next++));
        note(status, performance.now() - sentAt);
        if (status === LOST) line = await connectLine(server.port, holds);
      }
      line.end();
    };
    await Promise.all(Array.from({ length: connections }, run));
  });
}

/** As `load`, of work of several requests each, which throws what it does not expect. */
export function repeat(
  server: Loaded,
  work: (n: number) => Promise<unknown>,
  { ms, connections = 64, count = Number.POSITIVE_INFINITY }: Omit<Span, 'holds'>,
): Promise<Finding> {
  return measured(server, async (note) => {
    let next = 0;
    const end = performance.now() + ms;
    const run = async () => {
      while (next < count && performance.now() < end) {
        const begunAt = performance.now();
        await work(next++);
        note('200', performance.now() - begunAt);
      }
    };
    await Promise.all(Array.from({ length: connections }, run));
  });
}

/**
 * Offers `perSecond` requests a second for `ms`, whether or not the server keeps up. A request waits for a free
 * connection; its time counts from the moment it was due, so that a server that stands still is seen.
 */
export function offer(server: Loaded, requestOf: RequestOf, span: Span & { perSecond: number }): Promise<Finding> {
  const { ms, connections = 64, count = Number.POSITIVE_INFINITY, perSecond, holds } = span;
  return measured(server, async (note) => {
    const start = performance.now();
    const total = Math.min(count, Math.floor((ms * perSecond) / 1000));
    let next = 0;
    const run = async () => {
      let line = await connectLine(server.port, holds);
      while (next < total) {
        const n = next++;
        const dueAt = start + (n * 1000) / perSecond;
        const early = dueAt - performance.now();
        if (early > 0) await Bun.sleep(early);
        const status = await line.ask(requestOf(n));
        note(status, performance.now() - dueAt);
        if (status === LOST) line = await connectLine(server.port, holds);
      }
      line.end();
    };
    await Promise.all(Array.from({ length: connections }, run));
  });
}

/** A request in HTTP/1.1 text, with a body of JSON, or of a form where it is text. */
export function request(
  method: string,
  path: string,
  { body, ip, headers = {} }: { body?: unknown; ip?: string; headers?: Readonly<Record<string, string>> } = {},
): string {
  const isForm = typeof body === 'string';
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  const text = isForm ? body : body === undefined ? '' : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    ...(ip === undefined ? [] : [`Edge-Connecting-IP: ${ip}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(text === '' ? [] : [`Content-Type: ${type}`, `Content-Length: ${text.length}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** Runs the load and adds up its answers and what the server spent meanwhile. */
async function measured(
  { pid }: Loaded,
  run: (note: (status: string, ms: number) => void) => Promise<void>,
): Promise<Finding> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const before = processorOf(pid);
  const own = process.cpuUsage();
  const start = performance.now();
  await run((status, ms) => {
    latencies.push(ms);
    statuses[status] = (statuses[status] ?? 0) + 1;
  });
  const seconds = (performance.now() - start) / 1000;
  const after = processorOf(pid);
  const { user, system } = process.cpuUsage(own);
  latencies.sort((a, b) => a - b);
  const at = (part: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0;
  return {
    perSecond: latencies.length / seconds,
    cpuMicros: (after.tree - before.tree) / latencies.length,
    mainMicros: (after.main - before.main) / latencies.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    statuses,
    loadShare: (user + system) / 1e6 / seconds,
  };
}

/** The status of a request whose connection ended before its answer. */
const LOST = 'lost';
const WRONG = ' wrong';

/** One connection with one request under way at a time. */
interface Line {
  /** Sends a request and waits for the status of its answer. */
  ask(request: string): Promise<string>;
  end(): void;
}

async function connectLine(port: number, holds = ''): Promise<Line> {
  let pending = '';
  let answer: ((status: string) => void) | undefined;
  const settle = (status: string) => {
    pending = '';
    const settled = answer;
    answer = undefined;
    settled?.(status);
  };
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, chunk) {
        pending += chunk.toString('latin1');
        if (isWhole(pending)) settle(pending.slice(9, 12) + (pending.includes(holds) ? '' : WRONG));
      },
      close: () => settle(LOST),
      error: () => settle(LOST),
    },
  });
  return {
    ask: (request) =>
      new Promise((resolve) => {
        answer = resolve;
        if (socket.write(request) !== request.length) settle(LOST);
      }),
    end: () => void socket.end(),
  };
}

/** Whether the text is a whole answer, by its length or by the last chunk. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  if (length !== undefined) return text.length >= head + 4 + Number(length);
  return !/\r\ntransfer-encoding: chunked/i.test(text.slice(0, head)) || text.endsWith('\r\n0\r\n\r\n');
}
