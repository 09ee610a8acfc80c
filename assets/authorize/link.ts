// The request of an app, as it stands in the address of the page. The vault has judged it before it gave the page.

/** An app's request. */
export interface AppLink {
  /** The query as it stands, which the passkey signs. */
  readonly query: string;
  readonly clientId: string;
  /** The host that the person goes back to, by which the app is named. */
  readonly host: string;
  readonly scopes: readonly string[];
  /** The server that the app wants to use in the person's name. */
  readonly resource: string | undefined;
  /** The person wants to sign up first. */
  readonly isSignUp: boolean;
  /** The languages that the app names, the best first. */
  readonly languages: readonly string[];
  readonly loginHint: string | undefined;
  readonly invite: string | undefined;
}

/** Reads the request of a page's address; undefined for an address that is none. */
export function parseLink(search: string): AppLink | undefined {
  const query = new URLSearchParams(search);
  const valueIn = (name: string) => query.get(name) || undefined;
  const wordsOf = (name: string) => valueIn(name)?.split(' ').filter(Boolean) ?? [];
  const [clientId, redirectUri] = [valueIn('client_id'), valueIn('redirect_uri')];
  if (!clientId || !redirectUri || !URL.canParse(redirectUri)) return undefined;
  return {
    query: search.replace(/^\?/, ''),
    clientId,
    host: new URL(redirectUri).host,
    scopes: wordsOf('scope'),
    resource: valueIn('resource'),
    isSignUp: wordsOf('prompt').includes('create'),
    languages: wordsOf('ui_locales'),
    loginHint: valueIn('login_hint'),
    invite: valueIn('invite'),
  };
}

/**
 * The channels with which somebody new registers, of those that the vault has: those that the app asks for, else all,
 * as an account needs an address.
 */
export function channelsFor<Channel extends 'email' | 'sms'>(
  { scopes }: Pick<AppLink, 'scopes'>,
  channels: readonly Channel[],
): readonly Channel[] {
  const asked = channels.filter((channel) => scopes.includes(channel === 'sms' ? 'phone' : channel));
  return asked.length > 0 ? asked : channels;
}
