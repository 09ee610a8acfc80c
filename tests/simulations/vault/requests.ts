import type { Draw } from '../../support/draw.ts';
import type { Ground, Life } from './life.ts';
import type { VirtualTime } from './time.ts';

/** Where the vaults think they are. */
export const BASE_URL = 'http://localhost:8787';

/** What a client asks, and how long it waits for the answer. */
export interface Asked {
  readonly path: string;
  readonly init: RequestInit;
  readonly limitMs: number | undefined;
}

/** A request of a client, which has no answer where the process dies first. */
export function request(
  { time, draw }: Pick<Ground, 'time' | 'draw'>,
  life: Life,
  { path, init, limitMs }: Asked,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const way = () => draw.below(4);
    const cut = () =>
      void time.after(
        way(),
        end(() => reject(new Error('the connection broke'))),
      );
    const late = limitMs === undefined ? () => {} : time.after(limitMs, () => cut());
    const end = (fn: () => void) => () => {
      life.cut.delete(cut);
      late();
      fn();
    };
    life.cut.add(cut);
    const { signal, ...rest } = init;
    const length = typeof init.body === 'string' ? { 'Content-Length': String(init.body.length) } : {};
    const headers = { ...(init.headers as Record<string, string>), ...length };
    const serve = async () => {
      const response = await life.vault.fetch(new Request(BASE_URL + path, { ...rest, headers }), {
        peer: '127.0.0.1',
      });
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      const whole = isStream ? undefined : await response.text();
      const { status, headers: answered } = response;
      const answer = (body: BodyInit | null) => resolve(new Response(body, { status, headers: answered }));
      life.give(() => {
        time.after(
          way(),
          end(() => {
            if (whole !== undefined) answer(whole === '' ? null : whole);
            else answer(streamed(life, response, { time, draw, signal }));
          }),
        );
      });
    };
    time.after(way(), () => life.give(() => void serve()));
  });
}

interface Reading {
  readonly time: VirtualTime;
  readonly draw: Draw;
  readonly signal: AbortSignal | null | undefined;
}

/** The stream as its reader gets it: at times late, and cut off where the process dies. */
function streamed(life: Life, { body }: Response, { time, draw, signal }: Reading): ReadableStream<Uint8Array> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      let isOver = false;
      const over = (end: () => void) => () => {
        if (isOver) return;
        isOver = true;
        life.cut.delete(cut);
        end();
      };
      const cut = over(() => controller.error(new Error('the connection broke')));
      life.cut.add(cut);
      signal?.addEventListener('abort', () => {
        cut();
        void reader.cancel();
      });
      const next = () => {
        if (isOver) return;
        reader.read().then(({ done, value }) => {
          time.after(draw.below(draw.below(4) === 0 ? 200 : 3), () =>
            life.give(() => {
              if (done) over(() => controller.close())();
              else if (!isOver) {
                controller.enqueue(value);
                next();
              }
            }),
          );
        }, cut);
      };
      next();
    },
  });
}
