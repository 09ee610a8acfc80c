/** A port of loopback that nothing listens on: `wanted` when it is one, else any. Another process may still take it first. */
export function freePort(wanted = 0): number {
  try {
    return tryPort(wanted);
  } catch {
    return tryPort(0);
  }
}

/** The port itself, or any when 0. Throws when something listens on it. */
export function tryPort(port: number): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } });
  const { port: found } = listener;
  listener.stop(true);
  return found;
}
