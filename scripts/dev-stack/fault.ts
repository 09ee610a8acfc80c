/** Ways in which any HTTP service fails, on demand: never answering, and answers no client expects. */
export const FAULTS = ['silence', 'garbage', 'empty', 'endless', 'redirect', 'error-page'] as const;

export type Fault = (typeof FAULTS)[number];

/** Whether a provider is to fail in a general way, and not with an error of its own. */
export function isFault(name: unknown): name is Fault {
  return FAULTS.some((fault) => fault === name);
}

/** The answer to one request under a fault. */
export function answerFault(fault: Fault, request: Request): Response | Promise<Response> {
  switch (fault) {
    case 'silence':
      return new Promise((resolve) => {
        request.signal.addEventListener('abort', () => resolve(new Response()));
      });
    case 'garbage':
      return new Response('{"status": "approved', { headers: { 'content-type': 'application/json' } });
    case 'empty':
      return new Response('');
    case 'endless':
      return new Response(endless());
    case 'redirect':
      return new Response(null, { status: 307, headers: { location: request.url } });
    case 'error-page':
      return new Response('<html><h1>502 Bad Gateway</h1></html>', {
        status: 502,
        headers: { 'content-type': 'text/html' },
      });
  }
}

function endless(): ReadableStream<Uint8Array> {
  const spaces = new Uint8Array(64 * 1024).fill(0x20);
  return new ReadableStream({ pull: (controller) => controller.enqueue(spaces) });
}
