/** `/1.0/identifiers/…`: the HTTP binding of DID Resolution 1.0. */
import { toBase64url, utf8 } from '../lib/base/bytes.ts';
import { VaultError } from '../lib/base/error.ts';
import type { Context } from '../lib/context.ts';
import { RESOLUTION_ERRORS, ResolutionError } from '../lib/resolution/fault.ts';
import { chooseMedia } from './http/accept.ts';
import { readQuery } from './http/body.ts';
import { optional, textField } from './http/fields.ts';
import { json, type Reply } from './http/response.ts';
import { get, type Route } from './http/route.ts';
import { pathOf } from './http/target.ts';

const PATH = '/1.0/identifiers/';
const RESULT = 'application/did-resolution';
const DOCUMENT = 'application/did';

/** What is answered by the media type that is asked for: the whole result, or the document alone. */
const MEDIA = {
  [DOCUMENT]: DOCUMENT,
  'application/did+json': 'application/did+json',
  'application/did+ld+json': 'application/did+ld+json',
  'application/json': 'application/json',
  [RESULT]: RESULT,
  // The name that the result had before version 1.0.
  'application/ld+json;profile="https://w3id.org/did-resolution"': RESULT,
} as const;

const failed = (about: string) => ({ media: RESULT, about });

/** Resolution of DIDs. */
export const resolutionRoutes = [
  get('/1.0/identifiers/:did+', {
    summary: 'Resolve a DID',
    limit: 'proxy',
    // The handler reads the query itself: its faults have the form of DID Resolution.
    isPage: true,
    fields: {
      versionId: optional(textField('versionId')),
      versionTime: optional(textField('versionTime')),
      noCache: optional(textField('noCache')),
      expandRelativeUrls: optional(textField('expandRelativeUrls')),
    },
    answers: {
      200: {
        media: DOCUMENT,
        otherMedia: [RESULT, 'application/did+json', 'application/did+ld+json', 'application/json'],
        about: 'The document, or the whole result, by `Accept`',
      },
      400: failed('`INVALID_DID` or `INVALID_OPTIONS`'),
      404: failed('`NOT_FOUND`'),
      406: failed('`REPRESENTATION_NOT_SUPPORTED`'),
      410: failed('The DID was ended'),
      500: failed('`INTERNAL_ERROR`: the node does not answer, or two nodes disagree'),
      501: failed('`METHOD_NOT_SUPPORTED` or `FEATURE_NOT_SUPPORTED`'),
    },
    async handler({ ctx, request, spendProxy }) {
      const did = didInPath(pathOf(request.url).slice(PATH.length));
      const { reply, outcome } = await answer(ctx, request, did, spendProxy);
      ctx.metrics.counter('vault_did_resolutions_total').add({ method: labelOf(did), outcome });
      return reply;
    },
  }),
] as const satisfies readonly Route[];

type Outcome = 'resolved' | 'deactivated' | Lowercase<keyof typeof RESOLUTION_ERRORS>;

async function answer(
  ctx: Context,
  request: Request,
  did: string,
  spendProxy: () => void,
): Promise<{ readonly reply: Reply; readonly outcome: Outcome }> {
  try {
    const media = chooseMedia(request.headers.get('accept'), Object.keys(MEDIA) as (keyof typeof MEDIA)[]);
    if (media === undefined) throw new ResolutionError('REPRESENTATION_NOT_SUPPORTED', NO_MEDIA);
    const version = optionsOf(request.url);
    // Loads a curve, which no start needs.
    const { resolveDid } = await import('../lib/resolution/resolve.ts');
    // With the one of the route, a search by time costs three.
    const spend = () => {
      spendProxy();
      spendProxy();
    };
    const { document, metadata, isFinal } = await resolveDid(ctx, did, version, spend);
    const headers = { 'cache-control': isFinal ? FINAL : NEWEST };
    if (document === null) return { reply: resultReply(410, {}, { metadata, headers }), outcome: 'deactivated' };
    const text = JSON.stringify(document);
    const tag = `"${await digestOf(text)}"`;
    const reply =
      MEDIA[media] === RESULT
        ? // The metadata names the block: of two answers about one document the bytes differ.
          resultReply(200, { contentType: DOCUMENT }, { document, metadata, headers: { ...headers, etag: `W/${tag}` } })
        : { status: 200, headers: { ...headers, ...VARY, etag: tag, 'content-type': MEDIA[media] }, body: text };
    return { reply, outcome: 'resolved' };
  } catch (failure) {
    if (!(failure instanceof ResolutionError)) throw failure;
    const { type, message: detail } = failure;
    const { title, status } = RESOLUTION_ERRORS[type];
    const error = { type: `https://www.w3.org/ns/did#${type}`, title, detail };
    const reply = resultReply(status, { error }, { metadata: {}, headers: { 'cache-control': 'no-store' } });
    return { reply, outcome: type.toLowerCase() as Outcome };
  }
}

interface Result {
  /** Null, or absent, where there is none. */
  readonly document?: object | null;
  readonly metadata: object;
  readonly headers: Readonly<Record<string, string>>;
}

function resultReply(
  status: number,
  didResolutionMetadata: object,
  { document = null, metadata, headers }: Result,
): Reply {
  const body = { didResolutionMetadata, didDocument: document, didDocumentMetadata: metadata };
  return json(body, { status, headers: { ...headers, ...VARY, 'content-type': RESULT } });
}

/**
 * The DID in a path: as it is, or percent-encoded once as a whole. A did:web has percent signs of its own, and decoding
 * those would name another DID.
 */
function didInPath(segment: string): string {
  if (segment.startsWith('did:')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Throws `ResolutionError` for an option that is unknown or given twice. */
function optionsOf(url: string): {
  readonly versionId?: string | undefined;
  readonly versionTime?: string | undefined;
} {
  const { versionId, versionTime, noCache, expandRelativeUrls, ...unknown } = queryIn(url);
  const [other] = Object.keys(unknown);
  if (other !== undefined) throw new ResolutionError('FEATURE_NOT_SUPPORTED', NO_OPTION);
  return { versionId, versionTime };
}

function queryIn(url: string): Record<string, string> {
  try {
    return readQuery(url);
  } catch (failure) {
    if (!(failure instanceof VaultError)) throw failure;
    throw new ResolutionError('INVALID_OPTIONS', 'An option is given twice.', { cause: failure });
  }
}

/** The label of a metric: methods are the caller's words. */
function labelOf(did: string): 'pkh' | 'hyper' | 'web' | 'other' {
  const name = /^did:(pkh|hyper|web):/.exec(did)?.[1];
  return (name as 'pkh' | 'hyper' | 'web' | undefined) ?? 'other';
}

async function digestOf(text: string): Promise<string> {
  return toBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text))).subarray(0, 16));
}

const VARY = { vary: 'accept' };
const NEWEST = 'public, max-age=10';
const FINAL = 'public, max-age=86400, immutable';
const NO_MEDIA = 'Ask for application/did, application/did-resolution or application/json.';
const NO_OPTION = 'The options are versionId, versionTime, noCache and expandRelativeUrls.';
