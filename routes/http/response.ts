import { asVaultError, ERRORS, type LimitState, VaultError } from '../../lib/base/error.ts';
import type { Config } from '../../lib/config/config.ts';

/** The longest `X-Request-Id` that is taken over. */
export const REQUEST_ID_CHARS_MAX = 128;
export const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** A handler's answer. The boundary adds the headers that every response carries. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent as it comes, and cancelled when the caller goes. */
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
}

/** A JSON reply; `headers` replace the boundary's own. */
export function json(body: unknown, { status = 200, headers = NO_HEADERS }: Partial<Omit<Reply, 'body'>> = {}): Reply {
  return { status, headers, body: JSON.stringify(body) };
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** How a reply is sent: for HEAD without its body; if it is not `isShared`, no page of another origin may read it. */
interface Sending {
  readonly isHead: boolean;
  readonly isShared: boolean;
  /** The app that a request which names one was taken for. */
  readonly app?: string | undefined;
}

/** Turns a reply into the response. */
export type Respond = (reply: Reply, requestId: string, sending: Sending) => Response;

/** `Respond` for a vault; with an https origin every response carries `Strict-Transport-Security`. */
export function createRespond({ baseUrl }: Pick<Config, 'baseUrl'>): Respond {
  // Each response copies them: to read them from a plain object costs twice as much.
  const common = new Headers(COMMON);
  if (baseUrl.startsWith('https:')) common.set('strict-transport-security', STRICT_TRANSPORT);
  const closed = new Headers(common);
  closed.delete('access-control-allow-origin');
  return ({ status, headers: own, body }, requestId, { isHead, isShared, app }) => {
    const init = { status, headers: isShared ? common : closed };
    // Workers compress a body again although its headers say it is compressed, unless `encodeBody` is `manual`.
    const sent = 'content-encoding' in own ? { ...init, encodeBody: 'manual' } : init;
    const response = new Response(isHead ? null : body, sent);
    const { headers } = response;
    headers.set('x-request-id', requestId);
    if (app !== undefined) headers.set('x-vault-app', app);
    for (const name in own) headers.set(name, own[name] as string);
    if (body === null) headers.delete('content-type');
    if (isHead) describeBody(headers, body);
    return response;
  };
}

/** For HEAD: the length of the body that is not sent. */
function describeBody(headers: Headers, body: Reply['body']): void {
  if (typeof body === 'string') headers.set('content-length', String(new TextEncoder().encode(body).length));
  else if (body instanceof Uint8Array) headers.set('content-length', String(body.length));
  else body?.cancel();
}

/** Without `includeSubDomains`: names below the vault's own may be somebody else's, and served without TLS. */
const STRICT_TRANSPORT = 'max-age=31536000';

/** The headers that a page of another origin may read, and send. */
const EXPOSED = 'retry-after, ratelimit, ratelimit-policy, etag, link, x-request-id, x-vault-app, idempotent-replayed';
const SENDABLE = 'content-type, authorization, idempotency-key, last-event-id, x-request-id, x-vault-app';

/** The headers every response carries; a reply's own replace them. */
const COMMON = {
  'content-type': 'application/json',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/**
 * The one place where a failure becomes a reply: `{ "error": … }`, perhaps with `reason` and `hint`, the status of its
 * code, and a limit's name, wait and headers.
 */
export function failureReply(error: unknown, { isOAuth = false } = {}): Reply {
  const known = asVaultError(error);
  const { limit, retryAfterSeconds = limit?.retryAfterSeconds, extra, hint, reason, headers: own } = known.details;
  const status = ERRORS[known.code].status;
  const headers: Record<string, string> = { ...own, ...(limit ? limitHeaders(limit) : {}) };
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.max(0, retryAfterSeconds));
  const refused = status === 429 ? { limit: limit?.name, retry_after: retryAfterSeconds } : {};
  // Clients of OAuth 2.0 show `error_description` alone (RFC 6749 section 5.2), and it is always there.
  const words = isOAuth ? { error_description: described(hint ?? known.message) } : { hint };
  const body = JSON.stringify({ ...extra, error: isOAuth ? known.code : known.message, ...refused, reason, ...words });
  return { status, headers, body };
}

/** The characters that RFC 6749 allows. */
function described(text: string): string {
  return text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?');
}

/**
 * 204 with the methods and headers that a browser may send; also on an unknown path, so that the page can read the 404
 * that follows.
 */
export function preflightReply(methods: readonly string[]): Reply {
  const headers = {
    'access-control-allow-methods': allowed(methods),
    'access-control-allow-headers': SENDABLE,
    'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
    allow: allowed(methods),
  };
  return { status: 204, headers, body: null };
}

/** 405 with the methods there are. */
export function wrongMethodReply(methods: readonly string[]): Reply {
  return { ...failureReply(new VaultError('method_not_allowed')), headers: { allow: allowed(methods) } };
}

function allowed(methods: readonly string[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

/** The caller's own request id when it is a plain one, else undefined. */
export function callerRequestId(request: Request): string | undefined {
  const id = request.headers.get('x-request-id');
  return id !== null && id.length <= REQUEST_ID_CHARS_MAX && /^[A-Za-z0-9._-]+$/.test(id) ? id : undefined;
}

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10), structured fields. */
function limitHeaders({ name, limit, windowSeconds, retryAfterSeconds }: LimitState): Record<string, string> {
  const reset = retryAfterSeconds === undefined ? '' : `;t=${Math.max(0, retryAfterSeconds)}`;
  return { ratelimit: `"${name}";r=0${reset}`, 'ratelimit-policy': `"${name}";q=${limit};w=${windowSeconds}` };
}
