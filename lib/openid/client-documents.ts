// Clients that nobody registered: their `client_id` is the URL of a document on a host that the operator trusts.
import { HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import { callUpstreamWith, type Fetch, measureUpstream, readText, UpstreamError } from '../base/http-client.ts';
import { parseJson } from '../base/json.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import type { Client, Clients } from '../clients/client.ts';
import { type KeySet, readKeySet } from '../clients/key-set.ts';
import { documentHost, readDocument } from '../clients/metadata-document.ts';
import type { Platform } from '../platform.ts';

const BYTES_MAX = 5 * 1024;
const TIMEOUT_MS = 5_000;
const [KEPT_MIN_MS, KEPT_MAX_MS, FAILED_MS] = [5 * MINUTE_MS, 24 * HOUR_MS, MINUTE_MS];
/** Fetched at the same time: nobody else waits for a host that is slow. */
const FETCHED_AT_ONCE_MAX = 8;
/** Failures stand apart: a stranger can make as many as they like. By what was wanted, and its URL. */
const [DOCUMENTS_MAX, FAILURES_MAX] = [200, 1_000];

/** A process's memory of documents; times are of the monotonic clock. */
export interface DocumentFacts {
  readonly documents: Cache<string, Kept<Client>>;
  readonly keySets: Cache<string, Kept<KeySet>>;
  readonly failures: Cache<string, Kept<string>>;
  /** When the fetches began that are under way: an isolated request may end without a word. */
  fetching: readonly number[];
}

interface Kept<T> {
  readonly value: T;
  readonly until: number;
}

/** Nothing known yet. */
export function createDocumentFacts(): DocumentFacts {
  const [documents, keySets] = [
    createCache<string, Kept<Client>>(DOCUMENTS_MAX),
    createCache<string, Kept<KeySet>>(DOCUMENTS_MAX),
  ];
  return { documents, keySets, failures: createCache(FAILURES_MAX), fetching: [] };
}

/** The services that documents need. */
export type DocumentContext = Pick<Platform, 'config' | 'clock' | 'metrics'> & {
  readonly documentFacts: DocumentFacts;
  readonly documentFetch: Fetch;
};

/** A client, or why there is none: a sentence that repeats nothing of the document. */
export type Found<T> = { readonly value: T } | { readonly trouble: string };

/** Whether a `client_id` is the URL of a document that may be fetched. */
export function isDocumentUrl({ config }: Pick<DocumentContext, 'config'>, clientId: string): boolean {
  const host = documentHost(clientId);
  return host !== undefined && config.clientMetadataHosts.includes(host);
}

/** A client by its id: one of `CLIENTS`, or that of a document; undefined for any other. Throws as `spend`. */
export async function findClient(
  ctx: DocumentContext & { readonly clients: Clients },
  clientId: string,
  spend: () => void,
): Promise<Client | undefined> {
  if (!isDocumentUrl(ctx, clientId)) return ctx.clients.get(clientId);
  const found = await findDocument(ctx, ctx.clients, clientId, spend);
  return 'value' in found ? found.value : undefined;
}

/**
 * The client of a document. `spend` is called before something is fetched, and throws where the caller has fetched
 * enough.
 */
export function findDocument(
  ctx: DocumentContext,
  clients: Clients,
  url: string,
  spend: () => void,
): Promise<Found<Client>> {
  const read = (text: string) => {
    const found = readDocument(url, text, clients);
    return 'client' in found ? { value: found.client } : found;
  };
  return fetchKept(ctx, ctx.documentFacts.documents, { kind: 'document', url, read, keptMaxMs: KEPT_MAX_MS }, spend);
}

/** The keys of a client that has put them at a URL; read again so often that a new one is soon known. */
export function findKeySet(ctx: DocumentContext, url: string, spend: () => void): Promise<Found<KeySet>> {
  const read = (text: string) => {
    const value = readKeySet(parseJson(text));
    return value ? { value } : { trouble: 'its jwks_uri has no key of ES256 or RS256' };
  };
  return fetchKept(ctx, ctx.documentFacts.keySets, { kind: 'keys', url, read, keptMaxMs: KEPT_MIN_MS }, spend);
}

interface Wanted<T> {
  readonly kind: 'document' | 'keys';
  readonly url: string;
  readonly read: (text: string) => Found<T>;
  readonly keptMaxMs: number;
}

async function fetchKept<T>(
  ctx: DocumentContext,
  cache: Cache<string, Kept<T>>,
  { kind, url, read, keptMaxMs }: Wanted<T>,
  spend: () => void,
): Promise<Found<T>> {
  const { clock, documentFacts: facts } = ctx;
  const known = cache.get(url);
  const now = clock.monotonic();
  if (known && now < known.until) return known;
  // What is no document may be a set of keys, and the other way round: strangers choose what is read as which.
  const attempt = `${kind} ${url}`;
  const failed = facts.failures.get(attempt);
  if (failed && now < failed.until) return { trouble: failed.value };
  spend();
  facts.fetching = facts.fetching.filter((began) => now < began + TIMEOUT_MS);
  if (facts.fetching.length >= FETCHED_AT_ONCE_MAX) return { trouble: 'too many are fetched at the moment' };
  facts.fetching = [...facts.fetching, now];
  try {
    const { text, keptMs } = await fetchJson(ctx, url);
    const found = read(text);
    if ('trouble' in found) throw new DocumentFault(found.trouble);
    cache.set(url, { value: found.value, until: clock.monotonic() + Math.min(keptMs, keptMaxMs) });
    return found;
  } catch (error) {
    const trouble = troubleOf(error);
    facts.failures.set(attempt, { value: trouble, until: clock.monotonic() + FAILED_MS });
    return { trouble };
  } finally {
    const at = facts.fetching.indexOf(now);
    facts.fetching = facts.fetching.filter((_, i) => i !== at);
  }
}

class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
}

function troubleOf(error: unknown): string {
  if (error instanceof DocumentFault) return error.message;
  return `it cannot be fetched: ${error instanceof UpstreamError ? error.message : 'unreachable'}`;
}

/** No redirect is followed: it would lead to a host that nobody trusts. */
function fetchJson(ctx: DocumentContext, url: string): Promise<{ text: string; keptMs: number }> {
  const request = { url, method: 'GET', headers: { accept: 'application/json' } } as const;
  const outside = { fetch: ctx.documentFetch, clock: ctx.clock };
  return measureUpstream(ctx, 'client-document', () =>
    callUpstreamWith(outside, request, TIMEOUT_MS, async (response) => {
      if (response.status !== 200) throw new UpstreamError('refused', String(response.status));
      const type = response.headers.get('content-type') ?? '';
      if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) throw new UpstreamError('malformed', 'no JSON');
      const { text } = await readText(response, BYTES_MAX);
      return { text, keptMs: keptMs(response.headers.get('cache-control') ?? '') };
    }),
  );
}

function keptMs(cacheControl: string): number {
  const [, seconds] = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(cacheControl) ?? [];
  const isFresh = seconds !== undefined && !/(?:^|[\s,])no-(?:store|cache)/i.test(cacheControl);
  return Math.min(Math.max(isFresh ? Number(seconds) * 1_000 : 0, KEPT_MIN_MS), KEPT_MAX_MS);
}
