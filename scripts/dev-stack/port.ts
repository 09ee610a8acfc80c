/** Below the ports that systems give to outgoing connections: from 32768 on Linux, 49152 elsewhere. */
const FIRST = 20_000;
const COUNT = 12_000;
/** Two processes of near numbers begin so far from each other. */
const STRIDE = 97;
let last = (process.pid * STRIDE) % COUNT;

/**
 * A port nobody listens on, which no outgoing connection takes until a server is started there. Throws if the wanted
 * one is taken, since its server would be mistaken for the new one.
 */
export function freePort(wanted = 0): number {
  if (wanted > 0) return tried(wanted);
  for (let tries = 0; ; tries++) {
    last = (last + 1) % COUNT;
    try {
      return tried(FIRST + last);
    } catch (error) {
      if (tries === COUNT) throw error;
    }
  }
}

function tried(port: number): number {
  Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true);
  return port;
}

/** The port when nothing listens on it, else 0: any free one. `WORLD_PORTS=free` has everything take a free one. */
export function freeOr(port: number): number {
  if (process.env['WORLD_PORTS'] === 'free') return 0;
  try {
    return freePort(port);
  } catch {
    return 0;
  }
}

/** Starts something at the port, or at a free one when somebody has it or takes it meanwhile. */
export async function startNear<T>(port: number, start: (port: number) => Promise<T>): Promise<T> {
  const own = freeOr(port);
  return start(own).catch((error) => {
    if (own === 0) throw error;
    return start(0);
  });
}
