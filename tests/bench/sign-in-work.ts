import { createHash, randomBytes } from 'node:crypto';
import { type Finding, load, offer, repeat, request } from './frame/load.ts';
import type { Target } from './frame/target.ts';
import { ipOf, mustBeOk } from './vault-work.ts';

/** Where every app of the bench gets its codes. */
export const REDIRECT_URI = 'https://tea.example/back';
/** How many people and servers of apps are busy at the same time. */
const AT_ONCE = 16;
/** Longer than any measurement that ends by its count. */
const NO_END_MS = 60_000;
/** Where all requests come from, as an edge says: both limiters count it, and neither is reached. */
export const IP = ipOf(1);
/** What an app has of its own. */
const NONCE = 'n-0S6_WzA2Mj';

/** An OpenID provider under load. */
export interface Provider {
  readonly target: Target;
  readonly client: { readonly id: string; readonly secret: string };
  readonly tokenPath: string;
  readonly userinfoPath: string;
  readonly jwksPath: string;
  /** A request that reads, for the times beside exchanges. */
  readonly read: () => string;
  /** Opens the app's link where that shows a page, and signs in: where the browser goes then. */
  open(query: string): Promise<void>;
  answer(query: string): Promise<URL>;
}

/** What a provider is asked for. */
export interface SignInWork {
  /** One sign-in whose ID token is checked by the published key, as an app does. Throws what an app would refuse. */
  check(): Promise<void>;
  /** From the answer of the person to the code, for `ms`. */
  codes(): Promise<Finding>;
  /** Of the codes of the last `codes`, each once, as fast as they are answered. */
  exchanges(): Promise<Finding>;
  /** Page, code, exchange and claims, one after the other, for `ms`. */
  whole(): Promise<Finding>;
  /** Reads beside so many exchanges a second, for `ms`. The processor time is that of both. */
  readsBeside(exchangesPerSecond: number, readsPerSecond: number): Promise<Finding>;
}

/** A code, and the verifier of its PKCE. */
type Code = readonly [code: string, verifier: string];

/** The work on one provider. */
export function signInWork(provider: Provider, ms: number): SignInWork {
  const { target, client } = provider;
  let codes: Code[] = [];
  const issue = async () => void codes.push(await codeOf(provider));
  const exchange = (n: number) => exchangeRequest(provider, codes[n] ?? ['', '']);
  const holds = '"id_token":"ey';
  return {
    async check() {
      const tokens = await signIn(provider);
      const { keys } = (await (await ask(target, provider.jwksPath)).json()) as { keys: JsonWebKey[] };
      await demandGood(tokens.id_token, keys, client.id);
    },
    async codes() {
      codes = [];
      return mustBeOk(await repeat(target, issue, { ms, connections: AT_ONCE }));
    },
    async exchanges() {
      const span = { ms: NO_END_MS, connections: AT_ONCE, count: codes.length, holds };
      return mustBeOk(await load(target, exchange, span));
    },
    async whole() {
      return mustBeOk(await repeat(target, () => signIn(provider), { ms, connections: AT_ONCE }));
    },
    async readsBeside(exchangesPerSecond, readsPerSecond) {
      codes = [];
      const count = Math.floor((ms * exchangesPerSecond) / 1000);
      await repeat(target, issue, { ms: NO_END_MS, connections: AT_ONCE, count });
      const [reads, beside] = await Promise.all([
        offer(target, provider.read, { ms, perSecond: readsPerSecond }),
        offer(target, exchange, { ms, perSecond: exchangesPerSecond, count: codes.length, holds }),
      ]);
      mustBeOk(beside);
      return mustBeOk(reads);
    },
  };
}

/** Asks a server as `fetch` does, at its own name and behind an edge. */
export function ask(
  { port }: Target,
  path: string,
  { headers = {}, ...init }: { method?: string; body?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const from = { 'Edge-Connecting-IP': IP, ...headers };
  return fetch(`http://localhost:${port}${path}`, { redirect: 'manual', headers: from, ...init });
}

/** The answer's body, once it is read whole. Throws what else was answered than `status`. */
export async function bodyOf(response: Response, status = 200): Promise<string> {
  const text = await response.text();
  if (response.status !== status) throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return text;
}

/** An app's request with a state, a nonce and PKCE, and its verifier. */
function authorizationQuery({ client }: Provider): readonly [query: string, verifier: string] {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'af0ifjsldkj',
    nonce: NONCE,
  });
  return [String(query), verifier];
}

/** Page, code, exchange and claims. Throws what an app would refuse. */
async function signIn(provider: Provider): Promise<Tokens> {
  const [query, verifier] = authorizationQuery(provider);
  await provider.open(query);
  const tokens = await tokensOf(provider, [codeIn(await provider.answer(query)), verifier]);
  await demandClaims(provider, tokens);
  return tokens;
}

async function codeOf(provider: Provider): Promise<Code> {
  const [query, verifier] = authorizationQuery(provider);
  return [codeIn(await provider.answer(query)), verifier];
}

function codeIn(location: URL): string {
  const code = location.searchParams.get('code');
  if (!location.href.startsWith(REDIRECT_URI) || code === null) throw new Error(`no code: ${location}`);
  return code;
}

/** The form and the header of an exchange, by Basic. */
function exchangeParts({ client }: Provider, [code, verifier]: Code) {
  const grant = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: verifier };
  const pair = [client.id, client.secret].map(encodeURIComponent).join(':');
  return {
    body: String(new URLSearchParams(grant)),
    headers: { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
  };
}

function exchangeRequest(provider: Provider, code: Code): string {
  return request('POST', provider.tokenPath, { ...exchangeParts(provider, code), ip: IP });
}

interface Tokens {
  readonly access_token: string;
  readonly id_token: string;
}

async function tokensOf(provider: Provider, code: Code): Promise<Tokens> {
  const { body, headers } = exchangeParts(provider, code);
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const init = { method: 'POST', body, headers: { ...headers, ...type } };
  return JSON.parse(await bodyOf(await ask(provider.target, provider.tokenPath, init)));
}

/** Throws unless the claims at userinfo are of the person whom the ID token names, with an address. */
async function demandClaims({ target, userinfoPath }: Provider, { access_token, id_token }: Tokens): Promise<void> {
  const headers = { Authorization: `Bearer ${access_token}` };
  const claims = JSON.parse(await bodyOf(await ask(target, userinfoPath, { headers })));
  const { sub, nonce } = jsonOf(id_token.split('.')[1]);
  const isRight = typeof sub === 'string' && claims.sub === sub && nonce === NONCE && typeof claims.email === 'string';
  if (!isRight) throw new Error(`wrong claims: ${JSON.stringify(claims)} beside ${JSON.stringify({ sub, nonce })}`);
}

/** Throws unless the token is signed by RS256 with one of the keys, of 2,048 bits, for this client. */
async function demandGood(token: string, keys: readonly JsonWebKey[], clientId: string): Promise<void> {
  const [head = '', claims = '', signature = ''] = token.split('.');
  const { alg, kid } = jsonOf(head);
  const key = keys.find((one) => 'kid' in one && one.kid === kid);
  if (alg !== 'RS256' || !key) throw new Error(`signed by ${alg} with ${kid}`);
  const way = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('jwk', key, way, false, ['verify']);
  const signed = new TextEncoder().encode(`${head}.${claims}`);
  const isSigned = await crypto.subtle.verify(way, imported, Buffer.from(signature, 'base64url'), signed);
  const bits = Buffer.from(key.n ?? '', 'base64url').length * 8;
  if (!isSigned || bits !== 2_048 || jsonOf(claims)['aud'] !== clientId)
    throw new Error(`a bad ID token: ${isSigned}, ${bits} bits, ${Buffer.from(claims, 'base64url')}`);
}

function jsonOf(part = ''): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
