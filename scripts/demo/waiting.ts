import type { Message } from '../dev-stack/mailbox.ts';
import type { Stack } from '../start.ts';

const WAIT_MS = 60_000;
const LOOK_MS = 50;

/** Looks until there is something. Throws after a minute. */
export async function waitFor<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + WAIT_MS;
  while (performance.now() < deadline) {
    const found = await look();
    if (found !== undefined) return found;
    await Bun.sleep(LOOK_MS);
  }
  throw new Error(`${what} did not come within ${WAIT_MS / 1000} s`);
}

/** The newest mail that was sent to an address, once there is one. */
export function mailFor({ inbox }: Stack, to: string): Promise<Message> {
  return waitFor('the mail', async () => {
    const response = await fetch(`${inbox}/messages?to=${encodeURIComponent(to)}`);
    return ((await response.json()) as Message[]).at(-1);
  });
}
