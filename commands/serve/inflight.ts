/** The accepted requests that are not answered yet. */
export interface Inflight {
  /** Resolves with the answer of a request, or with the answer given at the deadline. */
  track(request: Request, answer: Promise<Response>): Promise<Response>;
  /** From now on each answer ends its connection, so that no client sends another request on it. */
  endConnections(): void;
  /**
   * Resolves when all requests are answered; those still open after `deadlineMs` get `late(request)`, and so do those
   * that come then.
   */
  settle(deadlineMs: number, late: (request: Request) => Response): Promise<void>;
}

/** Tracks the open requests, so that a stopping server answers each of them, even if an upstream is slow. */
export function createInflight(): Inflight {
  const waiting = new Map<(answer: Response) => void, Request>();
  let onEmpty = () => {};
  let isEnding = false;
  let refuse: ((request: Request) => Response) | undefined;
  // The rest of a body that took too long is not waited for.
  const lastOf = (response: Response) => (isEnding || response.status === 408 ? endingConnection(response) : response);
  return {
    track: (request, answer) =>
      new Promise((resolve, reject) => {
        waiting.set(resolve, request);
        const done = () => {
          waiting.delete(resolve);
          if (waiting.size === 0) onEmpty();
        };
        // `finally` would make two more promises for each request.
        answer.then(
          (response) => {
            resolve(lastOf(response));
            done();
          },
          (error) => {
            reject(error);
            done();
          },
        );
        if (refuse) resolve(lastOf(refuse(request)));
      }),
    endConnections() {
      isEnding = true;
    },
    settle: (deadlineMs, late) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          refuse = late;
          for (const [answer, request] of waiting) answer(lastOf(late(request)));
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

/** The answer as its connection's last one. Some answers' headers cannot be changed. */
function endingConnection(response: Response): Response {
  try {
    response.headers.set('connection', 'close');
    return response;
  } catch {
    const { status, statusText, body } = response;
    const headers = new Headers(response.headers);
    headers.set('connection', 'close');
    return new Response(body, { status, statusText, headers });
  }
}
