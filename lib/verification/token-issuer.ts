// The issuer of a mail domain's tokens: the DNS names it, its host has its keys. Strangers name what is asked for.
import { HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import { callUpstreamWith, type Fetch, measureUpstream, readText, UpstreamError } from '../base/http-client.ts';
import { isObject, parseJson } from '../base/json.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import { isPublicHost } from '../base/public-address.ts';
import type { Platform } from '../platform.ts';
import { readTokenKeys, type TokenKey } from './token-keys.ts';

const BYTES_MAX = 64 * 1024;
/** For all that one look-up asks. */
const TIMEOUT_MS = 5_000;
const KEPT_MS = 10 * MINUTE_MS;
const LOOKS_PER_HOUR = 2;
const DOMAINS_MAX = 1_000;
/** Asked at the same time: nobody else waits for a host that is slow. */
const AT_ONCE_MAX = 8;

/** A process's memory of issuers; times are of the monotonic clock. */
export interface IssuerFacts {
  readonly domains: Cache<string, Known>;
  /** When the look-ups began that are under way: an isolated request may end without a word. */
  looking: readonly number[];
}

interface Known {
  /** Undefined where the domain has no issuer, or none that answered. */
  readonly found: { readonly issuer: string; readonly keys: readonly TokenKey[] } | undefined;
  readonly until: number;
  readonly looks: readonly number[];
}

/** Nothing known yet. */
export function createIssuerFacts(): IssuerFacts {
  return { domains: createCache(DOMAINS_MAX), looking: [] };
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'metrics'> & {
  readonly issuerFacts: IssuerFacts;
  readonly documentFetch: Fetch;
};

/**
 * The keys of a mail domain's issuer, if it is this one; none otherwise. `spend` is called before anybody is asked, and
 * throws where the caller has had enough asked.
 */
export async function findIssuerKeys(
  ctx: Ctx,
  { domain, issuer }: { readonly domain: string; readonly issuer: string },
  spend: () => void,
): Promise<readonly TokenKey[]> {
  const { clock, issuerFacts: facts } = ctx;
  const now = clock.monotonic();
  const known = facts.domains.get(domain);
  if (known && now < known.until) return known.found?.issuer === issuer ? known.found.keys : [];
  const looks = (known?.looks ?? []).filter((at) => now < at + HOUR_MS);
  facts.looking = facts.looking.filter((began) => now < began + TIMEOUT_MS);
  if (!isPublicHost(domain) || looks.length >= LOOKS_PER_HOUR || facts.looking.length >= AT_ONCE_MAX) return [];
  spend();
  facts.looking = [...facts.looking, now];
  // Another request of the same domain asks nobody meanwhile.
  const until = now + KEPT_MS;
  facts.domains.set(domain, { found: undefined, until, looks: [...looks, now] });
  try {
    const found = await look(ctx, domain, issuer, now + TIMEOUT_MS);
    facts.domains.set(domain, { found, until, looks: [...looks, now] });
    return found?.keys ?? [];
  } catch (error) {
    if (error instanceof UpstreamError) return [];
    throw error;
  } finally {
    const at = facts.looking.indexOf(now);
    facts.looking = facts.looking.filter((_, i) => i !== at);
  }
}

async function look(ctx: Ctx, domain: string, issuer: string, endsAt: number): Promise<Known['found']> {
  const resolver = new URL(ctx.config.emailTokensResolver);
  resolver.searchParams.set('name', `_email-verification.${domain}`);
  resolver.searchParams.set('type', 'TXT');
  const records = issuersIn(await fetchJson(ctx, resolver.href, endsAt));
  // With two, nobody knows which one the domain means.
  if (records.length !== 1 || records[0] !== issuer) return undefined;
  const metadata = await fetchJson(ctx, `https://${issuer}/.well-known/email-verification`, endsAt);
  const url = keysUrl(isObject(metadata) ? metadata['jwks_uri'] : undefined, issuer);
  return url === undefined ? undefined : { issuer, keys: readTokenKeys(await fetchJson(ctx, url, endsAt)) };
}

/** The issuers that an answer of DNS over HTTPS in JSON names, by `iss=` of its TXT records. */
function issuersIn(answer: unknown): readonly string[] {
  const { Status: status, Answer: records } = isObject(answer) ? answer : {};
  if (status !== 0 || !Array.isArray(records)) return [];
  return records.flatMap((record: unknown) => {
    const { type, data } = isObject(record) ? record : {};
    // Some resolvers quote the text.
    const text = type === TXT && typeof data === 'string' ? data.replace(/^"(.*)"$/, '$1') : '';
    return text.startsWith('iss=') ? [text.slice('iss='.length)] : [];
  });
}

const TXT = 16;

/** Keys stand on the issuer's host, or below it. */
function keysUrl(given: unknown, issuer: string): string | undefined {
  if (typeof given !== 'string' || !URL.canParse(given)) return undefined;
  const { protocol, hostname, port, username, password, href } = new URL(given);
  const isPlain = protocol === 'https:' && port === '' && username === '' && password === '';
  return isPlain && (hostname === issuer || hostname.endsWith(`.${issuer}`)) ? href : undefined;
}

/** No redirect is followed: it would lead to a host that the DNS did not name. */
function fetchJson(ctx: Ctx, url: string, endsAt: number): Promise<unknown> {
  const request = { url, method: 'GET', headers: { accept: 'application/json, application/dns-json' } } as const;
  const outside = { fetch: ctx.documentFetch, clock: ctx.clock };
  return measureUpstream(ctx, 'email-issuer', () =>
    callUpstreamWith(outside, request, Math.max(1, endsAt - ctx.clock.monotonic()), async (response) => {
      if (response.status !== 200) throw new UpstreamError('refused', String(response.status));
      const { text } = await readText(response, BYTES_MAX);
      const json = parseJson(text);
      if (json === undefined) throw new UpstreamError('malformed', 'no JSON');
      return json;
    }),
  );
}
