import type { TestVault } from './vault.ts';

/** The operator's secret of test vaults. */
export const OPERATOR = {
  Authorization: 'Bearer ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
};

/** A frame of an event stream as it came; `comment` is what stood behind a colon. */
export interface StreamFrame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly retry?: string;
  readonly comment?: string;
}

/** A client of the event stream that reads all the time. */
export interface StreamClient {
  readonly response: Response;
  /** All frames so far but the opening one. */
  readonly frames: readonly StreamFrame[];
  /** Events by type and data, without the stream's own notices. */
  events(): { id: number; app: string; channel: string; type: string; at: string; data: Record<string, unknown> }[];
  /** Resolves when so many frames have come. */
  until(count: number): Promise<readonly StreamFrame[]>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** The data of all events of a type. Closes the vault first: a refusal's event is written after its answer. */
export async function dataOf(t: Pick<TestVault, 'vault' | 'rows'>, type: string): Promise<unknown[]> {
  await t.vault.close();
  const rows = await t.rows('SELECT data FROM events WHERE type = :type ORDER BY id', { type });
  return rows.map(({ data }) => JSON.parse(String(data)));
}

/** A token of the event stream, from the operator's route. */
export async function tokenOf(
  t: Pick<TestVault, 'call'>,
  scope: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { status, body, text } = await t.call('POST /v1/console/token', { app: 'default', ...scope }, OPERATOR);
  if (status !== 200) throw new Error(`no token: ${status} ${text}`);
  return body.token;
}

/** Opens a stream and reads it until it ends or is closed. Throws what was answered instead of a stream. */
export async function openStream(
  url: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  send: (url: string, init: RequestInit) => Promise<Response> = fetch,
): Promise<StreamClient> {
  const abort = new AbortController();
  const target = `${url}/v1/console/events?${new URLSearchParams(query)}`;
  const response = await send(target, { headers, signal: abort.signal });
  if (response.status !== 200 || !response.body) throw new Error(`${response.status} ${await response.text()}`);
  const frames: StreamFrame[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const told = () => {
    for (const one of waiting) if (frames.length >= one.count) one.resolve();
  };
  const ended = readFrames(response.body, (frame) => {
    if (frame.comment !== 'vault events') frames.push(frame);
    told();
  }).catch(() => undefined);
  return {
    response,
    frames,
    ended,
    events: () => frames.flatMap(({ data }) => (data?.startsWith('{') ? [JSON.parse(data)] : [])),
    until: async (count) => {
      await new Promise<void>((resolve) => {
        waiting.push({ count, resolve });
        told();
      });
      return frames;
    },
    close: () => abort.abort(),
  };
}

/** A frame of the wire, read. */
export function parseFrame(text: string): StreamFrame {
  const frame: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    frame[at === 0 ? 'comment' : line.slice(0, at)] = line.slice(at + 1).trimStart();
  }
  return frame;
}

async function readFrames(body: ReadableStream<Uint8Array>, onFrame: (frame: StreamFrame) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const parts = rest.split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) onFrame(parseFrame(part));
  }
}
