/**
 * A port nobody listens on; throws when the wanted one is taken, since whatever has it would be mistaken for what is
 * started there.
 */
export function freePort(wanted = 0): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: wanted, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** The port when nothing listens on it, else 0: any free one. */
export function freeOr(port: number): number {
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
