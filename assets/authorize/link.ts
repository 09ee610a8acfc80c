// The request of an app, as it stands in the address of the page. The vault has judged it before it gave the page.

/** An app's request. */
export interface AppLink {
  /** The query as it stands, which the passkey signs. */
  readonly query: string;
  /** The app of the vault: the client, or whose server it wants to use. */
  readonly appId: string;
  /** By which the app is named: the host that the person goes back to, or that of a client's document. */
  readonly host: string;
  /** Of a client with a document: where the person goes back to, if that is another host. */
  readonly backTo: string | undefined;
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

/**
 * Reads the request of a page's address; undefined for an address that is none. `app` is there of a client with a
 * document: the vault names the app whose server it wants to use.
 */
export function parseLink(search: string, app?: string): AppLink | undefined {
  const query = new URLSearchParams(search);
  const valueIn = (name: string) => query.get(name) || undefined;
  const wordsOf = (name: string) => valueIn(name)?.split(' ').filter(Boolean) ?? [];
  const [clientId, redirectUri] = [valueIn('client_id'), valueIn('redirect_uri')];
  if (!clientId || !redirectUri || !URL.canParse(redirectUri)) return undefined;
  const back = new URL(redirectUri).host;
  const host = app === undefined || !URL.canParse(clientId) ? back : new URL(clientId).host;
  return {
    query: search.replace(/^\?/, ''),
    appId: app ?? clientId,
    host,
    backTo: host === back ? undefined : back,
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
