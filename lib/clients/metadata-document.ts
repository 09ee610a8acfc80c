// Documents by which clients that nobody registered describe themselves (draft-ietf-oauth-client-id-metadata-document).
import * as v from 'valibot';
import { parseJson } from '../base/json.ts';
import { isRedirectUri } from '../config/url-parsers.ts';
import type { Client, Clients } from './client.ts';
import { type KeySet, readKeySet } from './key-set.ts';

/** The longest URL of a document. */
const URL_CHARS_MAX = 512;

/** The client of a document, or its fault: a sentence for its developer that repeats none of its text. */
export type ReadDocument = { readonly client: Client } | { readonly trouble: string };

const DOCUMENT = v.looseObject({
  client_id: v.string(),
  redirect_uris: v.array(v.string()),
  token_endpoint_auth_method: v.optional(v.string(), 'none'),
  grant_types: v.optional(v.array(v.string())),
  response_types: v.optional(v.array(v.string())),
  jwks: v.optional(v.unknown()),
  jwks_uri: v.optional(v.string()),
});

/**
 * The host of a `client_id` that is the URL of a document, in the URL parser's spelling: https, the default port, a
 * path, and nothing that has two spellings. Undefined for any other text.
 */
export function documentHost(clientId: string): string | undefined {
  if (clientId.length > URL_CHARS_MAX || clientId.includes('#') || !URL.canParse(clientId)) return undefined;
  const { protocol, href, username, password, port, pathname, hostname } = new URL(clientId);
  const isPlain = protocol === 'https:' && href === clientId && username === '' && password === '' && port === '';
  return isPlain && pathname !== '/' ? hostname : undefined;
}

/** Reads a document that was fetched from `url`. Such a client may ask for tokens of every resource of `clients`. */
export function readDocument(url: string, text: string, clients: Clients): ReadDocument {
  const read = v.safeParse(DOCUMENT, parseJson(text));
  if (!read.success) return { trouble: 'it is no JSON object with client_id and redirect_uris' };
  const document = read.output;
  if (document.client_id !== url) return { trouble: 'its client_id is not its own URL' };
  if ('client_secret' in document) return { trouble: 'it has a client_secret, which everybody can read' };
  const redirectUris = document.redirect_uris.filter(isRedirectUri);
  if (redirectUris.length === 0) return { trouble: 'it has no redirect URI of https or loopback' };
  if (document.grant_types?.includes('authorization_code') === false)
    return { trouble: 'its grant_types are without authorization_code' };
  if (document.response_types?.includes('code') === false) return { trouble: 'its response_types are without code' };
  const keys = keysOf(url, document);
  if (keys === undefined)
    return {
      trouble: 'it authenticates neither by none nor by private_key_jwt with jwks, or jwks_uri on its own host',
    };
  const resources = [...clients.values()].flatMap((one) => one.resources);
  const ofAll = resources.filter((one, i) => resources.findIndex(({ url }) => url === one.url) === i);
  const client = { id: url, redirectUris, secrets: [], needsPkce: true, sector: url, resources: ofAll };
  return { client: { ...client, document: { host: new URL(url).hostname, keys } } };
}

/** Null for a public client; undefined for a way that is not taken. */
function keysOf(url: string, document: v.InferOutput<typeof DOCUMENT>): KeySet | string | null | undefined {
  const { token_endpoint_auth_method: method, jwks, jwks_uri: uri } = document;
  if (method === 'none') return null;
  if (method !== 'private_key_jwt' || (jwks === undefined) === (uri === undefined)) return undefined;
  if (uri === undefined) return readKeySet(jwks);
  return documentHost(uri) === documentHost(url) ? uri : undefined;
}
