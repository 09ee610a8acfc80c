import { readFileSync } from 'node:fs';

/** What one run of load found. */
export interface Finding {
  readonly perSecond: number;
  /** Processor time of the server's process per request, in microseconds. */
  readonly cpuMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** One request as bytes on the wire, by its number. */
export type RequestOf = (n: number) => string;

/**
 * Keeps `connections` requests under way for `ms` (or until `count` are done): each connection sends the next once it
 * has the answer to the last.
 */
export async function load(
  { port, pid }: { readonly port: number; readonly pid: number },
  requestOf: RequestOf,
  { ms, connections = 64, count = Number.POSITIVE_INFINITY }: { ms: number; connections?: number; count?: number },
): Promise<Finding> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let next = 0;
  const cpuBefore = cpuMicrosOf(pid);
  const start = performance.now();
  const end = start + ms;
  const run = () =>
    new Promise<void>((resolve, reject) => {
      let sentAt = 0;
      let pending = '';
      const send = (socket: { write(data: string): number; end(): void }) => {
        if (next >= count || performance.now() >= end) return socket.end();
        sentAt = performance.now();
        socket.write(requestOf(next++));
      };
      Bun.connect({
        hostname: '127.0.0.1',
        port,
        socket: {
          open: send,
          data(socket, chunk) {
            pending += chunk.toString('latin1');
            const head = pending.indexOf('\r\n\r\n');
            if (head < 0) return;
            const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, head))?.[1] ?? 0);
            if (pending.length < head + 4 + length) return;
            const status = pending.slice(9, 12);
            statuses[status] = (statuses[status] ?? 0) + 1;
            pending = '';
            latencies.push(performance.now() - sentAt);
            send(socket);
          },
          close: () => resolve(),
          error: (_, error) => reject(error),
          connectError: (_, error) => reject(error),
        },
      }).catch(reject);
    });
  await Promise.all(Array.from({ length: connections }, run));
  const seconds = (performance.now() - start) / 1000;
  const cpu = cpuMicrosOf(pid) - cpuBefore;
  latencies.sort((a, b) => a - b);
  const at = (part: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0;
  return {
    perSecond: latencies.length / seconds,
    cpuMicros: cpu / latencies.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    statuses,
  };
}

/** A request in HTTP/1.1 text. */
export function request(method: string, path: string, { body, ip }: { body?: unknown; ip?: string } = {}): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    ...(ip === undefined ? [] : [`Edge-Connecting-IP: ${ip}`]),
    ...(text === '' ? [] : ['Content-Type: application/json', `Content-Length: ${text.length}`]),
  ];
  return `${headers.join('\r\n')}\r\n\r\n${text}`;
}

/** User and system time of a process (Linux: 100 ticks a second). */
function cpuMicrosOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
