/** A message that reached one of the dev stack's stand-ins, by mail or SMS. */
export interface Message {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

/** A message as it is kept: `arrival` counts up over all mailboxes, `at` is when it came, in milliseconds. */
export type Kept<M extends Message = Message> = M & { readonly arrival: number; readonly at: number };

/** Messages in order of arrival. */
export interface Mailbox<M extends Message = Message> {
  readonly messages: readonly Kept<M>[];
  add(message: M): void;
  /**
   * The first message for this recipient, or that passes this test, that answered no wait before: two waits get two
   * messages.
   */
  waitFor(wanted: string | ((message: M) => boolean), timeoutMs?: number): Promise<M>;
}

const MESSAGES_KEPT_MAX = 500;
const WAIT_MS = 120_000;

let arrivals = 0;

/** An empty mailbox that keeps the newest 500 messages. */
export function createMailbox<M extends Message>(): Mailbox<M> {
  const messages: Kept<M>[] = [];
  const taken = new WeakSet<M>();
  const waiting = new Set<(message: M) => boolean>();
  return {
    messages,
    add(arrived) {
      const message = { ...arrived, arrival: ++arrivals, at: Date.now() };
      messages.push(message);
      if (messages.length > MESSAGES_KEPT_MAX) messages.shift();
      for (const offer of waiting) if (offer(message)) return;
    },
    waitFor(wanted, timeoutMs = WAIT_MS) {
      const matches = typeof wanted === 'string' ? (message: M) => message.to.includes(wanted) : wanted;
      const { promise, resolve, reject } = Promise.withResolvers<M>();
      const offer = (message: M) => {
        if (taken.has(message) || !matches(message)) return false;
        taken.add(message);
        waiting.delete(offer);
        clearTimeout(timer);
        resolve(message);
        return true;
      };
      const timer = setTimeout(() => {
        waiting.delete(offer);
        reject(new Error(`No message came in ${timeoutMs} ms; ${messages.length} are kept.`));
      }, timeoutMs);
      waiting.add(offer);
      messages.some(offer);
      return promise;
    },
  };
}
