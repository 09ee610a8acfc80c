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
}

/** The clients of a vault, by `client_id`. */
export type Clients = ReadonlyMap<string, Client>;

/** How the client authenticates: by secrets, or not at all. */
export function isConfidential({ secrets }: Pick<Client, 'secrets'>): boolean {
  return secrets.length > 0;
}
