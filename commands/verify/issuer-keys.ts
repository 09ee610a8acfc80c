import { systemClock } from '../../lib/base/clock.ts';
import { callUpstream, UpstreamError } from '../../lib/base/http-client.ts';
import { isObject, parseJson } from '../../lib/base/json.ts';
import { isLoopbackHost } from '../../lib/config/url-parsers.ts';
import type { CredentialVerifier } from '../../lib/credentials/judge.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import { readSmallJson } from './read-evidence.ts';

/** The keys of an issuer; `issuer` is absent in a bare set of keys. */
export interface IssuerKeys extends Pick<CredentialVerifier, 'keys'> {
  readonly issuer?: string;
}

const LIMITS = { timeoutMs: 15_000, maxBytes: 65_536 };

/** Where an issuer publishes its keys; undefined for one that is no https (or loopback) origin. */
export function wellKnownOf(issuer: string): string | undefined {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  return url?.origin === issuer && isSecure(url) ? `${issuer}/.well-known/jwt-vc-issuer` : undefined;
}

/**
 * The keys in the file or at the URL that `--jwks` names, or why there are none. A URL is asked if it is on the
 * issuer's own origin. Throws `UsageError` for a file that holds no keys, and for another kind of URL.
 */
export async function readIssuerKeys(
  { options: { jwks: named } }: Arguments,
  wellKnown: string,
): Promise<IssuerKeys | { readonly unread: string }> {
  if (named === undefined) return { unread: `Only its issuer's keys decide: name them with --jwks ${wellKnown}.` };
  if (!/^https?:/i.test(named)) {
    const keys = keysIn(readSmallJson(named));
    if (!keys) throw new UsageError(`${named} is no set of keys: it is the JSON of ${wellKnown}.`);
    return keys;
  }
  const url = URL.canParse(named) ? new URL(named) : undefined;
  if (!url || !isSecure(url) || url.username !== '' || url.password !== '')
    throw new UsageError('--jwks is a file, or an https URL without a user (http:// only on loopback).');
  if (url.origin !== new URL(wellKnown).origin)
    return { unread: `--jwks names another host than its issuer, whose keys are at ${wellKnown}.` };
  try {
    const { status, text } = await callUpstream(
      { fetch, clock: systemClock },
      { url: url.href, method: 'GET' },
      LIMITS,
    );
    const keys = status === 200 ? keysIn(parseJson(text)) : undefined;
    return keys ?? { unread: `There are no keys where --jwks points to (status ${status}): they are at ${wellKnown}.` };
  } catch (error) {
    if (error instanceof UpstreamError) return { unread: `The keys of its issuer cannot be read: ${error.message}.` };
    throw error;
  }
}

/** The P-256 keys in the answer of `jwt-vc-issuer`, or in a bare JWK set. */
function keysIn(value: unknown): IssuerKeys | undefined {
  if (!isObject(value)) return undefined;
  const set = isObject(value['jwks']) ? value['jwks'] : value;
  if (!Array.isArray(set['keys'])) return undefined;
  const { issuer } = value;
  const keys = set['keys'].flatMap((one: unknown) => (isObject(one) ? publicKey(one) : []));
  return typeof issuer === 'string' ? { issuer, keys } : { keys };
}

function publicKey({ kty, crv, x, y, kid }: Record<string, unknown>): CredentialVerifier['keys'] {
  const isWhole = [x, y, kid].every((one) => typeof one === 'string');
  return isWhole && kty === 'EC' && crv === 'P-256' ? [{ kty, crv, x: String(x), y: String(y), kid: String(kid) }] : [];
}

function isSecure(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}
