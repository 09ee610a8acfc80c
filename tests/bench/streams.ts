import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATOR } from '../support/events.ts';
import { startProgram } from '../support/program.ts';
import { VAULT_SECRET } from '../support/vault.ts';

/**
 * Open event streams of one process, the vault in a process of its own: what each costs in memory, and whether all get
 * every event, one a second, while one reader stands still. Needs two file descriptors a stream here and one there.
 */
const STREAMS = Number(process.argv[2] ?? 5_000);
const SECONDS = Number(process.argv[3] ?? 10);
const AT_ONCE = 50;

const cwd = mkdtempSync(join(tmpdir(), 'vault-streams-'));
const program = await startProgram(
  {
    VAULT_SECRET,
    OPERATOR_SECRET: OPERATOR.Authorization.slice(7),
    FOLLOWER: 'false',
    MAX_REGISTRATIONS_PER_IP: '1000000',
  },
  { cwd },
);
const port = Number(new URL(program.url).port);
const counts = new Int32Array(STREAMS);
const arrivals: number[] = [];
let sentAt = 0;
try {
  const tokens = await many(STREAMS + 1, mint);
  // What minting leaves behind is not what streams cost.
  await Bun.sleep(1_000);
  const before = rssOf(program.pid);
  const started = performance.now();
  await many(STREAMS, (n) => listen(tokens[n] ?? '', n));
  const openedMs = performance.now() - started;
  const stalled = await stall(tokens.at(-1) ?? '');
  await Bun.sleep(1_000);
  const open = rssOf(program.pid);
  const cpuBefore = cpuMsOf(program.pid);
  for (let second = 0; second < SECONDS; second++) {
    sentAt = performance.now();
    await happen(second);
    await Bun.sleep(1_000 - ((performance.now() - sentAt) % 1_000));
  }
  await Bun.sleep(1_000);
  const after = rssOf(program.pid);
  const delivered = counts.reduce((sum, count) => sum + count, 0);
  const complete = counts.filter((count) => count === SECONDS).length;
  const sorted = arrivals.sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0);
  const kib = (bytes: number) => (bytes / 1024 / STREAMS).toFixed(1);
  console.log(`${STREAMS} streams opened in ${(openedMs / 1000).toFixed(1)} s, one more stands still`);
  console.log(`delivered ${delivered} of ${STREAMS * SECONDS}; ${complete} streams got every event exactly once`);
  console.log(`from commit to reader: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, last ${at(1)} ms`);
  console.log(`memory a stream: ${kib(open - before)} KiB open, ${kib(after - before)} KiB after ${SECONDS} events`);
  console.log(`processor: ${((cpuMsOf(program.pid) - cpuBefore) / SECONDS).toFixed(0)} ms a second`);
  stalled.end();
  const stopping = performance.now();
  console.log(`SIGTERM: exit ${await program.stop()} in ${(performance.now() - stopping).toFixed(0)} ms`);
} finally {
  await program.stop('SIGKILL');
  rmSync(cwd, { recursive: true, force: true });
}
process.exit(0);

async function mint(): Promise<string> {
  const body = JSON.stringify({ app: 'default' });
  const headers = { ...OPERATOR, 'Content-Type': 'application/json' };
  const response = await fetch(`${program.url}/v1/console/token`, { method: 'POST', headers, body });
  return ((await response.json()) as { token: string }).token;
}

async function happen(n: number): Promise<void> {
  const body = JSON.stringify({ handle: `stream${n}`, did: 'did:key:z' });
  await fetch(`${program.url}/api/sessions`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
}

/** Opens a stream and counts its events; resolves once it is open. */
function listen(token: string, n: number): Promise<void> {
  return new Promise((resolve, reject) => {
    Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: (socket) => void socket.write(requestOf(token)),
        data(_, chunk) {
          const text = chunk.toString('latin1');
          if (text.includes(': vault events')) resolve();
          for (
            let i = text.indexOf('event: session.created');
            i >= 0;
            i = text.indexOf('event: session.created', i + 1)
          ) {
            counts[n] = (counts[n] ?? 0) + 1;
            arrivals.push(performance.now() - sentAt);
          }
        },
        error: (_, error) => reject(error),
        connectError: (_, error) => reject(error),
      },
    }).catch(reject);
  });
}

/** Opens a stream whose reader takes nothing. */
function stall(token: string) {
  return Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (socket) => {
        socket.write(requestOf(token));
        socket.pause();
      },
      data: () => undefined,
    },
  });
}

function requestOf(token: string): string {
  return `GET /v1/console/events?channel=sessions,audit,credentials,payments,webhooks&token=${token} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

async function many<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < count; n = next++) results[n] = await work(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
