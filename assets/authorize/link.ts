// The link that an app sends a person with, and the way back.

/** What an app asks for; checked by the vault before anything is shown. */
export interface AppLink {
  /** The link's query as it stands, which the passkey signs. */
  readonly query: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  /** Undefined if there was none. */
  readonly state: string | undefined;
  /** The same as it stands in the link, to be returned as it came. */
  readonly rawState: string | undefined;
  readonly isPopup: boolean;
  readonly channel: string | undefined;
  readonly loginHint: string | undefined;
  readonly invite: string | undefined;
  /** The method is S256 and the challenge has its form; of OpenID Connect the vault has judged it. */
  readonly isComplete: boolean;
  /** A request of OpenID Connect; undefined for a link of `/register`. */
  readonly openId: OpenIdLink | undefined;
}

/** What an app asks for by OpenID Connect. */
export interface OpenIdLink {
  readonly scopes: readonly string[];
  /** The person wants to sign up first. */
  readonly isSignUp: boolean;
  /** The first language that the app names. */
  readonly language: string | undefined;
}

/** Reads the link; undefined for one that names no app and URI, or a parameter twice (RFC 6749 section 3.1). */
export function parseLink(search: string): AppLink | undefined {
  const query = new URLSearchParams(search);
  const names = [...query.keys()];
  const valueIn = (name: string) => query.get(name) || undefined;
  const [clientId, redirectUri] = [valueIn('client_id'), valueIn('redirect_uri')];
  if (!clientId || !redirectUri || new Set(names).size < names.length || !URL.canParse(redirectUri)) return undefined;
  const codeChallenge = valueIn('code_challenge') ?? '';
  const openId = query.has('response_type') ? openIdIn(query) : undefined;
  return {
    query: search.replace(/^\?/, ''),
    clientId,
    redirectUri,
    codeChallenge,
    state: query.get('state') ?? undefined,
    // Some servers split a query at semicolons too.
    rawState: /[?&]state=([^&]*)/.exec(search)?.[1]?.replaceAll(';', '%3B'),
    isPopup: !openId && valueIn('mode') === 'popup',
    channel: openId ? channelOf(openId) : valueIn('channel'),
    loginHint: valueIn('login_hint'),
    invite: valueIn('invite'),
    openId,
    isComplete:
      openId !== undefined ||
      (valueIn('code_challenge_method') === 'S256' && /^[A-Za-z0-9_-]{43}$/.test(codeChallenge)),
  };
}

function openIdIn(query: URLSearchParams): OpenIdLink {
  const wordsOf = (name: string) => query.get(name)?.split(' ').filter(Boolean) ?? [];
  const [language] = wordsOf('ui_locales');
  return { scopes: wordsOf('scope'), isSignUp: wordsOf('prompt').includes('create'), language };
}

/** An app that asks for one kind of address gets people who have it. */
function channelOf({ scopes }: OpenIdLink): 'email' | 'sms' | undefined {
  const [email, phone] = [scopes.includes('email'), scopes.includes('phone')];
  if (email === phone) return undefined;
  return email ? 'email' : 'sms';
}

/** What goes back to the app: a code, or why there is none (RFC 6749 section 4.1.2.1). */
export type Answer =
  | { readonly code: string }
  | { readonly error: 'access_denied' | 'invalid_request' }
  /** Of OpenID Connect: the vault has composed it. */
  | { readonly location: string };

/**
 * The redirect URI with the answer, the state, and the issuer (RFC 9207). URI and state are the app's own text, and
 * stay as they are.
 */
export function returnUrl({ redirectUri, state, rawState }: AppLink, answer: object, issuer: string): string {
  const pairs = [
    ...Object.entries(answer).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
    ...(state === undefined ? [] : [`state=${rawState ?? encodeURIComponent(state)}`]),
    `iss=${encodeURIComponent(issuer)}`,
  ];
  const joint = redirectUri.includes('?') ? (/[?&]$/.test(redirectUri) ? '' : '&') : '?';
  return redirectUri + joint + pairs.join('&');
}

/** How long the app's page may take to say that it heard. */
const HEARD_MS = 1_500;

/**
 * Answers the app: in a popup by a message that only the origin of its redirect URI can read, else by the redirect. A
 * window that does not say that it heard is gone, or is another's: then the popup goes to the redirect URI itself.
 * `told`: the app has heard, and the window is closing if the browser lets it.
 */
export async function answerApp(link: AppLink, answer: Answer, issuer: string): Promise<'told' | 'leaving'> {
  if ('location' in answer) {
    location.replace(answer.location);
    return 'leaving';
  }
  const opener = window.opener as Window | null;
  if (link.isPopup && opener && !opener.closed && (await isHeard(opener, link, { ...answer, iss: issuer }))) {
    window.close();
    return 'told';
  }
  // Back leads to the app then, not to a page that is over.
  location.replace(returnUrl(link, answer, issuer));
  return 'leaving';
}

function isHeard(opener: Window, { redirectUri, state }: AppLink, answer: object): Promise<boolean> {
  const { origin } = new URL(redirectUri);
  return new Promise((resolve) => {
    addEventListener('message', ({ source, origin: from, data }) => {
      if (source === opener && from === origin && data?.type === 'vault.register.heard') resolve(true);
    });
    setTimeout(resolve, HEARD_MS, false);
    opener.postMessage({ type: 'vault.register', ...answer, ...(state === undefined ? {} : { state }) }, origin);
  });
}
