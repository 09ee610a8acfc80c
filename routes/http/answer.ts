/** What a handler answers: the boundary adds the headers that every response carries. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent as it comes, and cancelled when the caller goes. */
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
}

/** A JSON answer; `headers` replace the boundary's own. */
export function json(
  body: unknown,
  { status = 200, headers = NO_HEADERS }: Partial<Omit<Answer, 'body'>> = {},
): Answer {
  return { status, headers, body: JSON.stringify(body) };
}

const NO_HEADERS: Readonly<Record<string, string>> = {};
