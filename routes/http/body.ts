import type { Clock } from '../../lib/base/clock.ts';
import { badRequest, unsupportedMediaType, VaultError } from '../../lib/base/error.ts';
import { queryOf } from './target.ts';

/** The longest body of a request. */
export const BODY_BYTES_MAX = 64 * 1024;
/** How long a body may take, however little by little it comes. */
export const BODY_TIMEOUT_MS = 20_000;

/** The JSON object in a request's body. Throws as `readJson` does, and 400 `Invalid JSON body`. */
export async function readJsonObject(clock: Clock, request: Request): Promise<Record<string, unknown>> {
  const value = await readJson(clock, request, BODY_BYTES_MAX);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('Invalid JSON body');
  return value as Record<string, unknown>;
}

/**
 * The JSON value in a request's body; undefined when there is none. Throws as `readBytes` does, and 415 for a body of
 * another type. Without a type it is taken from programs only: a page of any site could send it unasked.
 */
export async function readJson(clock: Clock, request: Request, max: number): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  const isJson = type === '' ? !request.headers.has('origin') : JSON_TYPE.test(type);
  const bytes = await readBytes(clock, request, max);
  if (!isJson && bytes.length > 0) throw unsupportedMediaType();
  return parseJson(bytes);
}

/**
 * The body's bytes. Throws 413 `payload_too_large` as soon as they are more than `max`, and reads no further, and 408
 * `request_timeout` after `BODY_TIMEOUT_MS`.
 */
export function readBytes(clock: Clock, request: Request, max: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(BODY_TIMEOUT_MS, () => reject(new VaultError('request_timeout')));
    // `finally` would make two more promises for each request.
    const done = <T>(settle: (value: T) => void) => {
      return (value: T) => {
        cancel();
        settle(value);
      };
    };
    readAll(request, max).then(done(resolve), done(reject));
  });
}

async function readAll(request: Request, max: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? Number.NaN);
  if (declared > max) throw new VaultError('payload_too_large');
  if (declared <= max) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (bytes.length > max) throw new VaultError('payload_too_large');
    return bytes;
  }
  return readStream(request.body, max);
}

/** The text of a form. Throws as `readBytes` does, and 415 for a body of another type. */
export async function readFormText(clock: Clock, request: Request): Promise<string> {
  if (!FORM_TYPE.test(request.headers.get('content-type') ?? ''))
    throw unsupportedMediaType('application/x-www-form-urlencoded');
  return new TextDecoder().decode(await readBytes(clock, request, BODY_BYTES_MAX));
}

/** The fields of a form, decoded. Throws as `readFormText` does. */
export async function readFormFields(clock: Clock, request: Request): Promise<Record<string, unknown>> {
  return Object.fromEntries(new URLSearchParams(await readFormText(clock, request)));
}

/** The query's parameters, decoded. Throws 400 for one given twice. */
export function readQuery(url: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  const text = queryOf(url);
  if (text === undefined) return query;
  // One plain parameter is most of the traffic, and a general parser costs more than the look-up that follows.
  const plain = /^([\w-]+)=([\w.~-]*)$/.exec(text);
  if (plain) return { [plain[1] as string]: plain[2] as string };
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in query) throw badRequest(`Duplicate query parameter: ${printable(name)}`);
    query[name] = value;
  }
  return query;
}

const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
const JSON_TYPE = /^\s*application\/(?:[a-z0-9.!#$&^_-]+\+)?json\s*(?:;|$)/i;

async function readStream(stream: ReadableStream<Uint8Array> | null, max: number): Promise<Uint8Array> {
  if (!stream) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > max) {
      await reader.cancel().catch(() => undefined);
      throw new VaultError('payload_too_large');
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** Fatal: bytes that are not UTF-8 are not JSON. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Uint8Array): unknown {
  try {
    // Deep nesting may overflow the parser's stack: caught here too.
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    return undefined;
  }
}

/** A caller's own text as it may be said back: short and without control characters. */
function printable(name: string): string {
  return name.slice(0, 64).replace(/[\u0000-\u001f\u007f-\u009f]/g, '');
}
