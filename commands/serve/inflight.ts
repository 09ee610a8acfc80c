/** Requests that were taken and not yet answered. */
export interface Inflight {
  /** The answer of a request, or the one given at the deadline if that comes first. */
  track(answer: Promise<Response>): Promise<Response>;
  /** Resolves when everything is answered; what is not after `deadlineMs` is answered then, with `late()`. */
  settle(deadlineMs: number, late: () => Response): Promise<void>;
}

/** Keeps the requests under way, so that a stopping server answers each of them, however slow what it waits for. */
export function createInflight(): Inflight {
  const waiting = new Set<(answer: Response) => void>();
  let onEmpty = () => {};
  return {
    track: (answer) =>
      new Promise((resolve, reject) => {
        waiting.add(resolve);
        const done = () => {
          waiting.delete(resolve);
          if (waiting.size === 0) onEmpty();
        };
        answer.then(resolve, reject).finally(done);
      }),
    settle: (deadlineMs, late) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          for (const answer of waiting) answer(late());
          resolve();
        }, deadlineMs);
        onEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
        if (waiting.size === 0) onEmpty();
      }),
  };
}
