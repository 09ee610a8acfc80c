import { OPERATOR } from '../support/events.ts';
import { QUIET_APP, type SoakedVault } from './vault.ts';

/** Connections that are kept open; one that ends is opened again. */
export interface Connections {
  readonly open: number;
  /** How often one was opened again, and how many events came, but for those that a packet's end cuts. */
  readonly reopened: number;
  readonly events: number;
  /** Ends some of them from here, so that they are opened again. */
  churn(count: number): void;
  end(): void;
}

const AT_ONCE = 50;
/** One stream in so many hears all that happens. */
const BUSY_ONE_IN = 250;
const PAUSE_MS = 1_000;
const TICK_MS = 250;

/** A token lasts 300 s; a browser's tab is closed sooner. */
const STREAM_LIFE_MS = 280_000;
/** The vault ends a connection that is silent for 50 s. */
const SILENCE_MS = 40_000;

/** Opens event streams, each with a token of its own. Each ends after a while, and is opened again. */
export function openStreams(vault: SoakedVault, count: number): Promise<Connections> {
  return keepOpen(vault, count, { ms: STREAM_LIFE_MS, act: (socket) => socket.end() }, async (n) => {
    const app = n % BUSY_ONE_IN === 0 ? 'default' : QUIET_APP;
    const headers = { ...OPERATOR, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ app });
    const response = await fetch(`${vault.url}/v1/console/token`, { method: 'POST', headers, body });
    const { token } = (await response.json()) as { token: string };
    return `GET /v1/console/events?app=${app}&channel=sessions,credentials&token=${token} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  });
}

const STATUS_REQUEST = 'GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Opens connections that ask for little and stay silent for long, as proxies and browsers keep them. */
export function openIdle(vault: SoakedVault, count: number): Promise<Connections> {
  const again = { ms: SILENCE_MS, act: (socket: Bun.Socket) => void socket.write(STATUS_REQUEST) };
  return keepOpen(vault, count, again, async () => STATUS_REQUEST);
}

/** What happens to each connection some time after it was opened or this happened last: drawn from a fifth of it on. */
interface Later {
  readonly ms: number;
  readonly act: (socket: Bun.Socket) => void;
}

async function keepOpen(
  vault: SoakedVault,
  count: number,
  later: Later,
  requestOf: (n: number) => Promise<string>,
): Promise<Connections> {
  const sockets: (Bun.Socket | undefined)[] = Array.from({ length: count });
  const dueAt = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  const drawDue = () => performance.now() + later.ms * (0.2 + 0.8 * Math.random());
  const timer = setInterval(() => {
    const now = performance.now();
    for (let n = 0; n < count; n++) {
      const socket = sockets[n];
      if ((dueAt[n] ?? 0) > now || !socket) continue;
      dueAt[n] = drawDue();
      later.act(socket);
    }
  }, TICK_MS);
  let [open, reopened, events, isOver] = [0, 0, 0, false];
  const connect = async (n: number): Promise<void> => {
    const request = await requestOf(n);
    if (isOver) return;
    let isUp = false;
    await new Promise<void>((resolve, reject) => {
      Bun.connect({
        hostname: '127.0.0.1',
        port: vault.port,
        socket: {
          open(socket) {
            sockets[n] = socket;
            socket.write(request);
          },
          data(_, chunk) {
            events += countOf(chunk, EVENT);
            if (isUp || chunk.toString('latin1', 0, STATUS.length) !== STATUS) return;
            isUp = true;
            dueAt[n] = drawDue();
            open++;
            resolve();
          },
          close() {
            if (!isUp) return reject(new Error('the vault closed a connection before it answered'));
            open--;
            sockets[n] = undefined;
            again(n);
          },
          error: (_, error) => reject(error),
          connectError: (_, error) => reject(error),
        },
      }).catch(reject);
    });
  };
  const again = (n: number) => {
    if (isOver) return;
    reopened++;
    // A vault that refuses is asked once a second.
    connect(n).catch(() => setTimeout(() => again(n), PAUSE_MS));
  };
  let next = 0;
  const work = async () => {
    while (next < count) await connect(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  let turn = 0;
  return {
    get open() {
      return open;
    },
    get reopened() {
      return reopened;
    },
    get events() {
      return events;
    },
    churn(some) {
      for (let i = 0; i < Math.min(some, count); i++) sockets[turn++ % count]?.end();
    },
    end() {
      isOver = true;
      clearInterval(timer);
      for (const socket of sockets) socket?.terminate();
    },
  };
}

const STATUS = 'HTTP/1.1 200';
const EVENT = Buffer.from('\nevent: ');

function countOf(chunk: Buffer, word: Buffer): number {
  let found = 0;
  for (let at = chunk.indexOf(word); at >= 0; at = chunk.indexOf(word, at + 1)) found++;
  return found;
}
