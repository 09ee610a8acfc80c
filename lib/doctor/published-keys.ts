// The keys that others read of the vault, beside those of its database.
import { callUpstream } from '../base/http-client.ts';
import { isObject, parseJson } from '../base/json.ts';
import { MESSAGE_ANSWER_BYTES_MAX, UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import type { Examined } from './host.ts';
import type { StoredSigningKey } from './stored.ts';

type Json = Readonly<Record<string, unknown>>;

/** The object that an address answers with; undefined for any other answer. Rejects where there is none. */
export async function readAnswer(outside: Pick<Examined, 'fetch' | 'clock'>, url: string): Promise<Json | undefined> {
  const limits = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: MESSAGE_ANSWER_BYTES_MAX };
  const { status, text } = await callUpstream(outside, { url, method: 'GET' }, limits);
  const body = parseJson(text);
  return status === 200 && isObject<Json>(body) ? body : undefined;
}

/** The keys of a JWK set; none in anything else. */
export function keysIn(jwks: unknown): readonly unknown[] {
  const keys = isObject<Json>(jwks) ? jwks['keys'] : undefined;
  return Array.isArray(keys) ? keys : [];
}

/** Keys in words: "its key", "2 keys". */
export function countKeys(keys: readonly unknown[]): string {
  return keys.length === 1 ? 'its key' : `${keys.length} keys`;
}

/** The key that signs is not there; another one is not; or one is there that the database does not have. */
export type KeyDifference = 'current' | 'missing' | 'foreign';

/** How the keys that others read differ from those of the database; undefined where they do not, or it has none yet. */
export function differenceOf(
  served: readonly unknown[],
  stored: readonly StoredSigningKey[],
  now: number,
): KeyDifference | undefined {
  if (stored.length === 0) return undefined;
  const idOf = ({ kid, n, x }: { readonly kid?: unknown; readonly n?: unknown; readonly x?: unknown }) =>
    `${kid} ${n ?? x}`;
  const [found, known] = [served, stored].map((keys) => new Set(keys.filter(isObject).map(idOf)));
  const missing = stored.filter((key) => !found?.has(idOf(key)));
  const current = stored.filter(({ signsFrom }) => signsFrom <= now).toSorted((a, b) => b.signsFrom - a.signsFrom)[0];
  if (current && missing.includes(current)) return 'current';
  if (missing.length > 0) return 'missing';
  return [...(found ?? [])].some((id) => !known?.has(id)) ? 'foreign' : undefined;
}
