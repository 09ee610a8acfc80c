// Published clients of OpenID Connect as their packages are, each given what its manual asks for. They run in apps whose
// origin nobody listens on: where a browser would go, `visit` does.
import { Auth, type AuthConfig } from '@auth/core';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { genericOAuth } from 'better-auth/plugins';
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { Passport } from 'passport';
import { Strategy } from 'passport-openidconnect';

/** The origin of the apps. */
export const HOME = 'http://localhost:9999';
const BACK = `${HOME}/back`;
/** Where the browser comes back to the apps, by who names the path. */
export const BACKS = [BACK, `${HOME}/auth/callback/vault`, `${HOME}/api/auth/callback/vault`];
const COOKIE_SECRET = 'of an app that nobody else uses: its cookies stay in this process';

/** What an app knows of the vault. */
export interface AppSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly secret?: string;
}

/** Opens a link of the app, signs in, and answers the URL by which the browser comes back. */
export type Visit = (link: string) => Promise<string>;

/** What the app has of the person; undefined where it keeps none of it. */
export interface SignedIn {
  readonly sub: string | undefined;
  readonly email: string | undefined;
}

/** Signs a person in, whole. Throws what the client says of a refusal. */
export type SignIn = (app: AppSettings, visit: Visit) => Promise<SignedIn>;

/** How openid-client may be called. */
export interface OpenIdClientOptions {
  /** Sends the secret in the form, in place of Basic. */
  readonly isPosted?: boolean;
  readonly hasPkce?: boolean;
  readonly more?: Readonly<Record<string, string>>;
  /** Changes the URL by which the browser comes back. */
  readonly change?: (url: URL) => void;
}

/** openid-client, by discovery: state, nonce, and the claims of `/userinfo`. */
export function openIdClient({
  isPosted = false,
  hasPkce = true,
  more = {},
  change,
}: OpenIdClientOptions = {}): SignIn {
  return async ({ issuer, clientId, secret }, visit) => {
    const withSecret = isPosted ? oidc.ClientSecretPost : oidc.ClientSecretBasic;
    const way = secret === undefined ? oidc.None() : withSecret(secret);
    const execute = [oidc.allowInsecureRequests];
    const config = await oidc.discovery(new URL(issuer), clientId, undefined, way, { execute });
    const [pkceCodeVerifier, expectedState] = [oidc.randomPKCECodeVerifier(), oidc.randomState()];
    const expectedNonce = oidc.randomNonce();
    const code_challenge = await oidc.calculatePKCECodeChallenge(pkceCodeVerifier);
    const link = oidc.buildAuthorizationUrl(config, {
      redirect_uri: BACK,
      scope: 'openid email',
      state: expectedState,
      nonce: expectedNonce,
      ...(hasPkce ? { code_challenge, code_challenge_method: 'S256' } : {}),
      ...more,
    });
    const url = new URL(await visit(link.href));
    change?.(url);
    const checks = { expectedState, expectedNonce, ...(hasPkce ? { pkceCodeVerifier } : {}) };
    const maxAge = more['max_age'] === undefined ? {} : { maxAge: Number(more['max_age']) };
    const tokens = await oidc.authorizationCodeGrant(config, url, { ...checks, ...maxAge });
    const person = await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? '');
    return { sub: person.sub, email: person.email };
  };
}

/** oauth4webapi, with the signature of the ID token checked. */
export const oauth4webapi: SignIn = async ({ issuer, clientId, secret = '' }, visit) => {
  const insecure = { [oauth.allowInsecureRequests]: true } as const;
  const found = await oauth.discoveryRequest(new URL(issuer), insecure);
  const server = await oauth.processDiscoveryResponse(new URL(issuer), found);
  const [client, verifier, state] = [
    { client_id: clientId },
    oauth.generateRandomCodeVerifier(),
    oauth.generateRandomState(),
  ];
  const link = new URL(server.authorization_endpoint ?? '');
  link.search = String(
    new URLSearchParams({
      client_id: clientId,
      redirect_uri: BACK,
      response_type: 'code',
      scope: 'openid email',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }),
  );
  const back = oauth.validateAuthResponse(server, client, new URL(await visit(link.href)), state);
  const way = oauth.ClientSecretPost(secret);
  const answer = await oauth.authorizationCodeGrantRequest(server, client, way, back, BACK, verifier, insecure);
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, { requireIdToken: true });
  await oauth.validateApplicationLevelSignature(server, answer, insecure);
  const sub = oauth.getValidatedIdTokenClaims(tokens)?.sub ?? '';
  const asked = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
  const person = await oauth.processUserInfoResponse(server, client, sub, asked);
  return { sub: person.sub, email: person.email };
};

/** Auth.js with a provider of type `oidc`; what a session has is what it shows. */
export function authJs(more: object = {}): SignIn {
  return async ({ issuer, clientId, secret = '' }, visit) => {
    const said: unknown[] = [];
    const config: AuthConfig = {
      providers: [{ id: 'vault', name: 'Vault', type: 'oidc', issuer, clientId, clientSecret: secret, ...more }],
      secret: COOKIE_SECRET,
      trustHost: true,
      basePath: '/auth',
      callbacks: {
        // A session of Auth.js has name, email and image alone, until an app adds more.
        jwt: ({ token, profile }) => ({ ...token, ...(profile?.sub ? { sub: profile.sub } : {}) }),
        session: ({ session, token }) => ({ ...session, sub: token.sub }),
      },
      // It says what came back with an error in its debug log alone.
      debug: true,
      logger: {
        error: (error) => said.push((error.cause as { err?: Error } | undefined)?.err?.message ?? error.message),
        warn() {},
        debug: (_message, about) =>
          said.push(...[(about as Partial<SaidBack> | undefined)?.error_description ?? []].flat()),
      },
    };
    const app = withCookies((request) => Auth(request, config));
    const { csrfToken } = (await (await app(`${HOME}/auth/csrf`)).json()) as { csrfToken: string };
    const form = new URLSearchParams({ csrfToken, callbackUrl: `${HOME}/` });
    const begun = await app(`${HOME}/auth/signin/vault`, { method: 'POST', body: form });
    await app(await visit(begun.headers.get('location') ?? ''));
    const session = (await (await app(`${HOME}/auth/session`)).json()) as { sub: string; user?: { email: string } };
    if (!session?.user) throw new Error(String(said[0] ?? 'no session'));
    return { sub: session.sub, email: session.user.email };
  };
}

/** better-auth with its generic OAuth plugin: the user and the account that it made. */
export function betterAuthOf(more: object = {}): SignIn {
  return async ({ issuer, clientId, secret = '' }, visit) => {
    const db: Record<string, Record<string, string>[]> = { user: [], session: [], account: [], verification: [] };
    const auth = betterAuth({
      baseURL: HOME,
      secret: COOKIE_SECRET,
      database: memoryAdapter(db),
      logger: { disabled: true },
      plugins: [
        genericOAuth({
          config: [
            {
              providerId: 'vault',
              clientId,
              clientSecret: secret,
              discoveryUrl: `${issuer}/.well-known/openid-configuration`,
              scopes: ['openid', 'email', 'profile'],
              pkce: true,
              ...more,
            },
          ],
        }),
      ],
    });
    const app = withCookies((request) => auth.handler(request));
    const begun = await app(`${HOME}/api/auth/sign-in/social`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'vault', callbackURL: '/' }),
    });
    if (!begun.ok) throw new Error(await begun.text());
    const { url } = (await begun.json()) as { url: string };
    const done = await app(await visit(url));
    const [[user], [account]] = [db['user'] ?? [], db['account'] ?? []];
    if (!user) throw new Error(done.headers.get('location') ?? (await done.text()));
    return { sub: account?.['accountId'], email: user['email'] };
  };
}

/** passport-openidconnect: it knows neither discovery nor PKCE. */
export const passport: SignIn = async ({ issuer, clientId, secret }, visit) => {
  const strategy = new Strategy(
    {
      issuer,
      authorizationURL: `${issuer}/authorize`,
      tokenURL: `${issuer}/token`,
      userInfoURL: `${issuer}/userinfo`,
      clientID: clientId,
      clientSecret: secret,
      callbackURL: BACK,
      scope: ['email'],
    },
    (_issuer, { id, emails }, done) => done(null, { sub: id, email: emails?.[0]?.value }),
  );
  const session = {};
  const ask = (query: object) =>
    new Promise<string | SignedIn>((resolve, reject) => {
      let location = '';
      const answer = {
        statusCode: 200,
        setHeader: (name: string, value: string) => {
          if (name === 'Location') location = value;
        },
        end: () => resolve(location),
      };
      const request = { query, session, headers: {}, connection: {} };
      new Passport().authenticate(strategy, (error, user, info) => {
        if (user) resolve(user as SignedIn);
        else reject(error ?? new Error(info?.message));
      })(request, answer, reject);
    });
  const url = new URL(await visit(String(await ask({}))));
  return (await ask(Object.fromEntries(url.searchParams))) as SignedIn;
};

/** An app in this process, and the cookies that a browser keeps for it. */
function withCookies(handle: (request: Request) => Promise<Response>) {
  const jar = new Map<string, string>();
  return async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const headers = { origin: HOME, ...(init.headers as Record<string, string>), cookie };
    const answer = await handle(new Request(url, { ...init, headers }));
    for (const line of answer.headers.getSetCookie()) {
      const pair = line.split(';')[0] ?? '';
      const at = pair.indexOf('=');
      jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  };
}

interface SaidBack {
  readonly error_description: string;
}
