// The errors that an operation can answer: those of its row, and those of its kind.
import { ERRORS, type ErrorCode } from '../../lib/base/error.ts';
import { isAdminPath } from '../../routes/http/admin.ts';
import type { Route } from '../../routes/http/route.ts';
import type { Json } from './schemas.ts';

/** The errors that any request may get, whatever its path and method. */
export const EVERYWHERE: readonly ErrorCode[] = [
  'not_found',
  'method_not_allowed',
  'misdirected_request',
  'internal_error',
  'database_unavailable',
  'shutting_down',
];

/** The error words of an operation, `EVERYWHERE` apart. */
export function errorsOf(route: Route): readonly ErrorCode[] {
  const { method, path, body, limit, security, isPage, isIdempotent, errors = [] } = route;
  const words: ErrorCode[] = [...errors];
  if (!isPage) words.push('bad_request');
  if (method === 'POST') words.push('request_timeout', 'payload_too_large', 'unsupported_media_type');
  if (method === 'POST' && body !== 'form') words.push('origin_not_allowed');
  if (limit !== undefined || security === 'operator') words.push('rate_limited');
  if (security === 'operator' || security === 'doctor') words.push('operator_unauthorized');
  if (security === 'operator') words.push('operator_role');
  if (isAdminPath(path)) words.push('misdirected_request');
  if (isIdempotent) words.push('idempotency_key_in_use', 'idempotency_key_reused');
  return [...new Set(words)];
}

/** The error words of an operation by status, with those of `EVERYWHERE` that share one. */
export function errorsByStatus(route: Route): ReadonlyMap<number, readonly ErrorCode[]> {
  const words = errorsOf(route);
  const own = new Set([...words.map((word) => ERRORS[word].status), ...Object.keys(route.answers).map(Number)]);
  const all = [...new Set([...words, ...EVERYWHERE])];
  const entries = [...own].map((status) => [status, all.filter((word) => ERRORS[word].status === status)] as const);
  return new Map(entries.filter(([, found]) => found.length > 0).sort(([x], [y]) => x - y));
}

/** The error responses of an operation, by status. */
export function errorResponses(route: Route): Readonly<Record<number, Json>> {
  return Object.fromEntries(Array.from(errorsByStatus(route), ([status, words]) => [status, shared(words)]));
}

/** A response of one word is a component under its name. */
function shared(words: readonly ErrorCode[]): Json {
  return words.length === 1 ? { $ref: `#/components/responses/${words[0]}` } : errorResponse(words);
}

/** The responses of one word that these routes have, by that word. */
export function sharedResponses(routes: readonly Route[]): Readonly<Record<string, Json>> {
  // A status with an answer of its own has the error beside that.
  const own = routes.map((route) => Object.entries(errorResponses(route)).filter(([one]) => !(one in route.answers)));
  const refs = JSON.stringify(own).matchAll(/"#\/components\/responses\/(\w+)"/g);
  const words = [...new Set(Array.from(refs, ([, word]) => word as ErrorCode))].sort();
  return Object.fromEntries(words.map((word) => [word, errorResponse([word])]));
}

/** The response with one of these words. */
export function errorResponse(given: readonly ErrorCode[]): Json {
  const words = [...new Set(given)];
  const status = ERRORS[words[0] ?? 'bad_request'].status;
  // In an `allOf`, not beside the reference: generators of clients drop members there.
  const own = { type: 'object', properties: { error: wordSchema(words) } };
  const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, own] };
  return {
    description: words.map((word) => SENTENCES[word]?.about ?? `\`${word}\``).join(', '),
    ...headersOf(status, words),
    content: { 'application/json': { schema } },
  };
}

function headersOf(status: number, words: readonly ErrorCode[]): Json {
  if (status === 429) return { headers: LIMIT_HEADERS };
  const saysWhen =
    status === 503 || words.some((word) => ['idempotency_key_in_use', 'registration_pending'].includes(word));
  return saysWhen ? { headers: { 'Retry-After': LIMIT_HEADERS['Retry-After'] } } : {};
}

function wordSchema(words: readonly ErrorCode[]): Json {
  const plain = words.filter((word) => !(word in SENTENCES));
  const sentences = words.flatMap((word) => SENTENCES[word] ?? []);
  const forms: Json[] = sentences.map(({ pattern }) => ({ type: 'string', pattern }));
  if (plain.length > 0) forms.push({ type: 'string', enum: plain });
  return forms.length === 1 ? (forms[0] ?? {}) : { anyOf: forms };
}

/** Errors whose text is a sentence. */
const SENTENCES: { readonly [Word in ErrorCode]?: { readonly about: string; readonly pattern: string } } = {
  bad_request: {
    about: 'A sentence that names the fault',
    pattern: '^(?:Missing|Invalid|Duplicate|Expected|Unsupported|USDC) .+',
  },
  unsupported_media_type: {
    about: 'A body of another type',
    pattern: '^Unsupported media type: send Content-Type: .+',
  },
};

const LIMIT_HEADERS = {
  'Retry-After': { $ref: '#/components/headers/Retry-After' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
};

/** Every error's members; which words `error` may be, each response says. */
export const ERROR_SCHEMA: Json = {
  description: 'An error: a word or a sentence, and perhaps what to do',
  type: 'object',
  required: ['error'],
  properties: {
    error: { type: 'string' },
    hint: { type: 'string', description: 'The remedy' },
    error_description: { type: 'string', description: 'The same, at `/token` and `/userinfo`' },
    reason: { type: 'string', description: 'The cause, where one word has several' },
    limit: { type: 'string', description: 'The name of the limit that refused' },
    retry_after: { type: 'integer', minimum: 0, description: 'Seconds; absent if waiting does not help' },
    ok: { type: 'boolean', const: false, description: 'Only beside `sms_provider_error`' },
  },
};
