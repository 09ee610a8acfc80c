/** An app that people sign in to: a client of OAuth 2.0 (RFC 6749 section 2). */
export interface Client {
  /** Its `client_id`: its name in `APPS`. */
  readonly id: string;
  /** Compared character by character (RFC 9700 section 4.1.3). */
  readonly redirectUris: readonly string[];
  /** Digests of its secrets, as `secretDigest` makes them; none of a public client. */
  readonly secrets: readonly string[];
  /** Whether it must use PKCE; always of a public client. */
  readonly needsPkce: boolean;
  /** Clients of one sector get the same `sub` of a person. */
  readonly sector: string;
  /** What it may ask access tokens for (RFC 8707). */
  readonly resources: readonly Resource[];
}

/** A server that takes access tokens of the vault, such as one of MCP. */
export interface Resource {
  /** As the URL parser writes it: the `aud` of its tokens. */
  readonly url: string;
  /** What its tokens may be good for. */
  readonly scopes: readonly string[];
  /** The sector of the app that has it: people have the `sub` there that they have at the app. */
  readonly sector: string;
}

/** The clients of a vault, by `client_id`. */
export type Clients = ReadonlyMap<string, Client>;

/** The resource of the client that a text names, in any spelling of its URL; undefined for another one. */
export function findResource({ resources }: Pick<Client, 'resources'>, text: string): Resource | undefined {
  const url = URL.canParse(text) ? new URL(text).href : undefined;
  return resources.find((one) => one.url === url);
}

/** How the client authenticates: by secrets, or not at all. */
export function isConfidential({ secrets }: Pick<Client, 'secrets'>): boolean {
  return secrets.length > 0;
}
