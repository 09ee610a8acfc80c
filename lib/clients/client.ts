import type { KeySet } from './key-set.ts';

/** An app that people sign in to: a client of OAuth 2.0 (RFC 6749 section 2). */
export interface Client {
  /** Its `client_id`: its name in `APPS`, or the URL of its document. */
  readonly id: string;
  /** Compared character by character (RFC 9700 section 4.1.3). */
  readonly redirectUris: readonly string[];
  /** Digests of its secrets, as `secretDigest` makes them; none of a public client. */
  readonly secrets: readonly string[];
  /** Whether it must use PKCE; always of a public client. */
  readonly needsPkce: boolean;
  /** Clients of one sector get the same `sub` of a person. */
  readonly sector: string;
  /** The resources for which it may request access tokens (RFC 8707). */
  readonly resources: readonly Resource[];
  /** The document of a client that nobody registered. */
  readonly document?: ClientDocument;
}

/** A document that a client's `client_id` is the URL of. */
export interface ClientDocument {
  /** The host that people see as the client's name: the names that it gives itself are not believed. */
  readonly host: string;
  /** The keys that it signs by, or their URL; null for a public client. */
  readonly keys: KeySet | string | null;
}

/** A server that takes access tokens of the vault, such as one of MCP. */
export interface Resource {
  /** As the URL parser writes it: the `aud` of its tokens. */
  readonly url: string;
  /** The scopes that its tokens may have. */
  readonly scopes: readonly string[];
  /** The app that has it: the first that lists it. */
  readonly app: string;
  /** The app's sector: people have the `sub` there that they have at the app. */
  readonly sector: string;
}

/** The clients of a vault, by `client_id`. */
export type Clients = ReadonlyMap<string, Client>;

/** The resource of the client that a text names, in any spelling of its URL; undefined for another one. */
export function findResource({ resources }: Pick<Client, 'resources'>, text: string): Resource | undefined {
  const url = URL.canParse(text) ? new URL(text).href : undefined;
  return resources.find((one) => one.url === url);
}

/** The port of a loopback URI, and what is before and behind it. */
const LOOPBACK_URI = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(?=[/?]|$)/;

/**
 * Whether the client may have people led back to a URI: one of its own, to the character. A program on a person's
 * device, which has a document, asks for any port of it (RFC 8252 section 7.3).
 */
export function isRedirectOf(
  { redirectUris, document }: Pick<Client, 'redirectUris' | 'document'>,
  uri: string,
): boolean {
  if (redirectUris.includes(uri)) return true;
  const bare = document && LOOPBACK_URI.test(uri) && URL.canParse(uri) ? uri.replace(LOOPBACK_URI, '$1') : undefined;
  return bare !== undefined && redirectUris.some((one) => one.replace(LOOPBACK_URI, '$1') === bare);
}

/** How the client authenticates: by a secret, by a key, or not at all. */
export function wayOf({ secrets, document }: Pick<Client, 'secrets' | 'document'>): 'secret' | 'key' | 'none' {
  if (secrets.length > 0) return 'secret';
  return document?.keys ? 'key' : 'none';
}

/** Whether the client authenticates. */
export function isConfidential(client: Pick<Client, 'secrets' | 'document'>): boolean {
  return wayOf(client) !== 'none';
}
