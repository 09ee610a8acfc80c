import { Agent, request } from 'node:http';

/** What the load found. */
export interface Found {
  /** Requests whose answer was not 200, or that had none, each as a line. */
  readonly wrong: string[];
  /** The identifiers that a session was acknowledged for, and those that a code was sent to. */
  readonly sessions: Set<string>;
  readonly sends: Set<string>;
  answered: number;
}

/** A load that goes on until it is stopped. */
export interface SteadyLoad {
  readonly found: Found;
  /** Resolves once every request has an answer. */
  stop(): Promise<void>;
}

const TICK_MS = 20;
const SOCKETS = 64;
/** A machine that cannot answer so many is sent fewer: what waits in a queue of the test says nothing of the vault. */
const OPEN_MAX = 4 * SOCKETS;

/**
 * Sends at most so many requests a second to a vault: of ten, two open a session, one has a code sent, and seven read.
 * Connections are kept, and nothing is sent twice.
 */
export function startLoad(port: number, perSecond: number): SteadyLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS });
  const found: Found = { wrong: [], sessions: new Set(), sends: new Set(), answered: 0 };
  const open = new Set<Promise<void>>();
  const began = performance.now();
  let [count, unsent] = [0, 0];
  const fire = (): void => {
    const one = sendOne({ agent, port, number: count++, found }).finally(() => open.delete(one));
    open.add(one);
  };
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) * perSecond) / 1000);
    while (count + unsent < due) {
      if (open.size < OPEN_MAX) fire();
      else unsent++;
    }
  }, TICK_MS);
  return {
    found,
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      agent.destroy();
    },
  };
}

interface Sending {
  readonly agent: Agent;
  readonly port: number;
  readonly number: number;
  readonly found: Found;
}

async function sendOne({ agent, port, number, found }: Sending): Promise<void> {
  const kind = number % 10;
  const identifier = `person${number}@example.com`;
  const [path, body] =
    kind < 2
      ? ['/api/sessions', { identifier, channel: 'email', did: `did:key:z${number}` }]
      : kind === 2
        ? ['/api/verify/send', { identifier, channel: 'email' }]
        : ['/api/sessions/status', undefined];
  const status = await ask(agent, port, path, body).catch((error) => String(error));
  found.answered++;
  if (status !== 200) found.wrong.push(`${number} ${path} ${status}`);
  else if (kind < 2) found.sessions.add(identifier);
  else if (kind === 2) found.sends.add(identifier);
}

function ask(agent: Agent, port: number, path: string, body?: unknown): Promise<number> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': text.length };
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    request({ agent, host: '127.0.0.1', port, path, method, headers }, (response) => {
      response
        .resume()
        .on('end', () => resolve(response.statusCode ?? 0))
        .on('error', reject);
    })
      .on('error', reject)
      .end(text);
  });
}
