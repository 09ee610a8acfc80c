// The authorization request (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1), judged by its query.

import { CODE_CHALLENGE } from '../authorization-codes/challenge.ts';
import { type Client, type Clients, findResource, isRedirectOf, type Resource } from '../clients/client.ts';
import { type Parameters, readParameters } from './parameters.ts';
import { knownScopes, type Scope } from './scopes.ts';

/** The longest query. */
export const QUERY_CHARS_MAX = 8_192;
/** The longest `state` and `nonce`. */
export const STATE_CHARS_MAX = 4_096;

/** The supported values of `prompt` (OpenID Connect Core; `create` is of Initiating User Registration). */
export const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create'] as const;

/** Where the answer goes: a redirect URI that is the client's, and the state as it stands in the query. */
export interface ReturnPlace {
  readonly client: Client;
  readonly redirectUri: string;
  readonly rawState: string | undefined;
}

/** A request that is in order. */
export interface ValidRequest extends ReturnPlace {
  /**
   * The app of the sign-in, one of `APPS`: the client's own, or that of the resource which a client with a document
   * wants.
   */
  readonly app: string;
  readonly scopes: readonly Scope[];
  /** The purpose of the access token; undefined for one of `/userinfo`. */
  readonly target: ResourceGrant | undefined;
  /** Null where the client may omit PKCE and does. */
  readonly challenge: string | null;
  readonly nonce: string | undefined;
  /** Seconds. */
  readonly maxAge: number | undefined;
  /** Not judged yet: `demandHint` does. */
  readonly idTokenHint: string | undefined;
  /** The person asked to sign up first. */
  readonly isSignUp: boolean;
}

/** A resource, and the scopes of the access token there. */
export interface ResourceGrant {
  readonly resource: Resource;
  readonly scopes: readonly string[];
}

/** Errors of OAuth 2.0 and OpenID Connect that go back to the client. */
export type AuthorizationError =
  | 'invalid_request'
  | 'invalid_target'
  | 'invalid_scope'
  | 'unsupported_response_type'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  | 'login_required'
  | 'access_denied';

/** Why nothing is sent anywhere. */
export type PageFault =
  | 'query'
  | 'client_id_missing'
  | 'client_id_twice'
  | 'client_unknown'
  | 'client_document'
  | 'redirect_uri_missing'
  | 'redirect_uri_twice'
  | 'redirect_uri_unknown';

/** A request as it was judged: a page that leads nowhere, an error for the client, or one that is in order. */
export type JudgedRequest =
  | { readonly fault: PageFault; readonly client?: Client; readonly about?: string }
  | { readonly place: ReturnPlace; readonly error: AuthorizationError; readonly about: string }
  | { readonly valid: ValidRequest };

/**
 * Judges an authorization request by its query, as it stands in the address of the page. So the page shows, the passkey
 * signs and the code is issued for the same characters.
 */
export function judge(clients: Clients, query: string): JudgedRequest {
  if (query.length > QUERY_CHARS_MAX || !query.isWellFormed()) return { fault: 'query' };
  const given = readParameters(query);
  const place = placeOf(clients, given);
  if ('fault' in place) return place;
  const [error, about] = faultOf(given, place.client) ?? [];
  if (error !== undefined && about !== undefined) return { place, error, about };
  const { value } = given;
  const maxAge = value('max_age');
  const target = targetOf(place.client, given);
  return {
    valid: {
      ...place,
      app: place.client.document && target ? target.resource.app : place.client.id,
      scopes: wordsOf(value('scope')).includes('openid') ? knownScopes(value('scope') ?? '') : [],
      target,
      challenge: value('code_challenge') ?? null,
      nonce: value('nonce'),
      maxAge: maxAge === undefined ? undefined : Number(maxAge),
      idTokenHint: value('id_token_hint'),
      isSignUp: wordsOf(value('prompt')).includes('create'),
    },
  };
}

/** Where either is unknown, nothing is sent anywhere, whatever else is wrong (RFC 6749 section 4.1.2.1). */
function placeOf(clients: Clients, given: Parameters): ReturnPlace | { fault: PageFault; client?: Client } {
  const { value, isTwice, raw } = given;
  const [clientId, redirectUri] = [value('client_id'), value('redirect_uri')];
  if (isTwice('client_id')) return { fault: 'client_id_twice' };
  if (clientId === undefined) return { fault: 'client_id_missing' };
  const client = clients.get(clientId);
  if (!client) return { fault: 'client_unknown' };
  if (isTwice('redirect_uri')) return { fault: 'redirect_uri_twice', client };
  if (redirectUri === undefined) return { fault: 'redirect_uri_missing', client };
  if (!isRedirectOf(client, redirectUri)) return { fault: 'redirect_uri_unknown', client };
  return { client, redirectUri, rawState: isTwice('state') ? undefined : raw('state') };
}

type Fault = readonly [AuthorizationError, string];

/** The first thing that is wrong. The words are ASCII without quotation marks and backslashes (RFC 6749). */
function faultOf(given: Parameters, client: Client): Fault | undefined {
  const { value, repeated } = given;
  if (repeated !== undefined) return ['invalid_request', `the parameter ${printable(repeated)} is there twice`];
  for (const name of ['request', 'request_uri', 'registration'] as const)
    if (value(name) !== undefined) return [`${name}_not_supported`, `${name} is not supported`];
  const type = value('response_type');
  if (type === undefined) return ['invalid_request', 'response_type is missing: it must be code'];
  if (type !== 'code') return ['unsupported_response_type', 'response_type must be code'];
  if ((value('response_mode') ?? 'query') !== 'query') return ['invalid_request', 'response_mode must be query'];
  const resource = value('resource');
  if (resource !== undefined && !findResource(client, resource))
    return ['invalid_target', 'resource is no server that this client may ask tokens for'];
  if (resource === undefined && client.document)
    return ['invalid_target', 'resource is missing: the server that this client wants to use'];
  // A client that asks for a token of a resource may omit `openid`: then it is OAuth 2.0 alone.
  if (resource === undefined && !wordsOf(value('scope')).includes('openid'))
    return ['invalid_scope', 'scope must contain openid'];
  return faultOfPkce(given, client) ?? faultOfRest(given);
}

/** Which of the resource's scopes: those that are asked for, all where none is (RFC 6749 section 3.3). */
function targetOf(client: Client, { value }: Parameters): ResourceGrant | undefined {
  const resource = findResource(client, value('resource') ?? '');
  if (!resource) return undefined;
  const asked = resource.scopes.filter((scope) => wordsOf(value('scope')).includes(scope));
  return { resource, scopes: asked.length > 0 ? asked : resource.scopes };
}

/** The method S256 alone: `plain` would put the verifier into the link. */
function faultOfPkce({ value }: Parameters, { needsPkce }: Client): Fault | undefined {
  const [challenge, method] = [value('code_challenge'), value('code_challenge_method')];
  if (challenge === undefined) {
    if (method !== undefined) return ['invalid_request', 'code_challenge_method is there without code_challenge'];
    return needsPkce
      ? ['invalid_request', 'code_challenge is missing: this client must use PKCE with S256']
      : undefined;
  }
  if (method !== 'S256') return ['invalid_request', 'code_challenge_method must be S256'];
  return CODE_CHALLENGE.test(challenge)
    ? undefined
    : ['invalid_request', 'code_challenge must have 43 characters: base64url of SHA-256 of the verifier'];
}

function faultOfRest({ value }: Parameters): Fault | undefined {
  for (const name of ['state', 'nonce'] as const)
    if ((value(name)?.length ?? 0) > STATE_CHARS_MAX)
      return ['invalid_request', `${name} must have at most ${STATE_CHARS_MAX} characters`];
  const prompts = wordsOf(value('prompt'));
  if (prompts.some((one) => !(PROMPTS as readonly string[]).includes(one)))
    return ['invalid_request', `prompt must be of ${PROMPTS.join(', ')}`];
  if (prompts.includes('none') && prompts.length > 1) return ['invalid_request', 'prompt=none goes with no other'];
  const maxAge = value('max_age');
  if (maxAge !== undefined && !/^\d{1,9}$/.test(maxAge)) return ['invalid_request', 'max_age must be seconds'];
  if (prompts.includes('none')) return ['login_required', 'each sign-in asks the person: there is no session'];
  return undefined;
}

function wordsOf(text: string | undefined): readonly string[] {
  return text?.split(' ').filter((word) => word !== '') ?? [];
}

/** A name as it may be said back. */
function printable(name: string): string {
  return name.slice(0, 40).replace(/[^\w.-]/g, '?');
}
