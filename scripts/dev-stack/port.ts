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
