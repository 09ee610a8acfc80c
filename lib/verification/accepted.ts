import type { Store } from '../db/database.ts';
import { markAccepted } from './send-store.ts';

/**
 * Returns a function that records that the next hop took the message of a send. Those of a moment go in one write: a
 * write each would cost a send a twentieth of its time. Nobody waits for it: a crash before it only overstates the lost
 * codes.
 */
export function createAccepted(db: Store): (seq: number) => void {
  let waiting: number[] = [];
  const record = () => {
    const seqs = waiting;
    waiting = [];
    db.write(markAccepted(seqs)).catch(() => undefined);
  };
  return (seq) => {
    // Before the reply of any of them: a host may end the process with the request.
    if (waiting.push(seq) === 1) queueMicrotask(record);
  };
}
