// The vault's API, as this page asks it.

import { API_MS } from '../../client/wallet/constants.ts';
import { UnreachableError } from '../../client/wallet/vault.ts';
import { appOfPage } from '../words/words.ts';

/** The vault refused; `code` is its word for the reason. */
export class VaultRefusal extends Error {
  override readonly name = 'VaultRefusal';
  readonly code: string;
  readonly retryAfter: number | undefined;
  readonly hint: string | undefined;

  constructor(code: string, { hint, retry_after: retryAfter }: { hint?: string; retry_after?: number } = {}) {
    super(code);
    this.code = code;
    this.hint = hint;
    this.retryAfter = retryAfter;
  }
}

/** Faults of the vault that waiting mends, so that asking again is the advice. */
const PASSING = new Set(['rpc_error', 'internal_error', 'database_unavailable', 'shutting_down', 'bundler_timeout']);

/** The answer to a request. Throws `VaultRefusal`, and `UnreachableError` for no answer or nonsense. */
export async function ask<T>(line: `${'GET' | 'POST'} ${string}`, fields: Readonly<Record<string, unknown>> = {}) {
  const [method = '', path = ''] = line.split(' ');
  const isPost = method === 'POST';
  const query = isPost ? '' : `?${new URLSearchParams(fields as Record<string, string>)}`;
  // Mails are in the language and the brand of this page.
  const { app } = appOfPage();
  const headers = {
    'accept-language': document.documentElement.lang,
    ...(app ? { 'x-vault-app': app } : {}),
    ...(isPost ? { 'content-type': 'application/json' } : {}),
  };
  const body = isPost ? { body: JSON.stringify(fields) } : {};
  const response = await fetch(path + (query === '?' ? '' : query), {
    method,
    headers,
    ...body,
    cache: 'no-cache',
    credentials: 'omit',
    signal: AbortSignal.timeout(API_MS),
  }).catch((cause) => {
    throw new UnreachableError(path, { cause });
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (typeof answer !== 'object' || answer === null) throw new UnreachableError(`${path}: ${response.status}`);
  if (response.ok) return answer as T;
  const { error } = answer as { error?: unknown };
  if (typeof error !== 'string' || PASSING.has(error)) throw new UnreachableError(`${path}: ${response.status}`);
  throw new VaultRefusal(error, answer as object);
}
