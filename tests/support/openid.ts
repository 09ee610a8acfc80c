// Apps that sign people in by OpenID Connect: their entries in CLIENTS, their requests, and what they get. A person signs
// in without a browser: the passkey of tests/support signs what the page would have it sign.
import { createHash, randomBytes } from 'node:crypto';
import { fromHex } from '../../lib/base/bytes.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import type { OperatorFiles } from '../../lib/base/operator-files.ts';
import { systemRandom } from '../../lib/base/random.ts';
import { createClientSecret, secretDigest } from '../../lib/clients/secret.ts';
import type { Config } from '../../lib/config/config.ts';
import { createStore } from '../../lib/db/store.ts';
import { createKeys } from '../../lib/identity/keys.ts';
import { addKey, createKeyFacts, readKeys } from '../../lib/signing/signing-keys.ts';
import type { Passkey } from './passkey.ts';
import { nonceFor, originOf } from './touch.ts';
import { type Reply, type TestVault, VAULT_SECRET } from './vault.ts';

/** The secrets of `tea` and `wiki`. */
export const SECRETS = {
  tea: createClientSecret((length) => new Uint8Array(randomBytes(length))),
  wiki: createClientSecret((length) => new Uint8Array(randomBytes(length))),
};

/** A client with a secret, one whose PKCE is optional, and a public one. */
export const CLIENTS = {
  tea: {
    redirect_uris: ['https://tea.example/back'],
    secrets: [secretDigest(SECRETS.tea)],
    resources: [{ url: 'https://mcp.tea.example/mcp', scopes: ['notes:read', 'notes:write'] }],
  },
  wiki: {
    redirect_uris: ['https://wiki.example/oauth?from=vault'],
    secrets: [secretDigest(SECRETS.wiki)],
    pkce: 'optional',
  },
  page: { redirect_uris: ['http://localhost:4001/'] },
} as const;

/** The settings of a vault that knows them. */
export const OPENID_VARS = { APPS: Object.keys(CLIENTS).join(','), CLIENTS: 'clients.json' } as const;

/** A host with the file of CLIENTS, for `startVault`. */
export function clientsFile(clients: unknown = CLIENTS): { readonly operatorFiles: OperatorFiles } {
  const bytes = new TextEncoder().encode(JSON.stringify(clients));
  return { operatorFiles: { read: () => bytes, list: () => [] } };
}

/** An authorization request, and the verifier that the app keeps. */
export interface AppRequest {
  readonly client: keyof typeof CLIENTS;
  readonly redirectUri: string;
  readonly verifier: string | undefined;
  /** As it stands in the address of the page. */
  readonly query: string;
}

/** A request of an app with parameters changed, or left out where undefined. */
export function requestOf(
  client: keyof typeof CLIENTS = 'tea',
  change: Readonly<Record<string, string | undefined>> = {},
): AppRequest {
  const verifier = randomBytes(32).toString('base64url');
  const parameters = {
    client_id: client,
    redirect_uri: CLIENTS[client].redirect_uris[0],
    response_type: 'code',
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'st/ate',
    nonce: 'no"nce',
    ...change,
  };
  const pairs = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return {
    client,
    redirectUri: parameters.redirect_uri,
    verifier: parameters.code_challenge === undefined ? undefined : verifier,
    query: String(new URLSearchParams(pairs)),
  };
}

/** Has the person's passkey sign a request, and asks for a code, as the page does. */
export async function answer(
  t: TestVault,
  { passkey, credentialId }: { readonly passkey: Passkey; readonly credentialId: string },
  { query }: Pick<AppRequest, 'query'>,
  { ceremony = {}, ...more }: { readonly ceremony?: Parameters<Passkey['assert']>[1] } & Record<string, unknown> = {},
): Promise<Reply> {
  const nonce = await nonceFor(t, query);
  const digest = createHash('sha256').update(query).digest('base64url');
  const lines = ['vault/authorize/v2', 'did:web:registrar.example', digest, nonce];
  const challenge = createHash('sha256').update(lines.join('\n')).digest();
  const proof = passkey.assert(challenge, { origin: originOf(t), ...ceremony });
  // The oldest address of each channel, unless the test picks another one.
  return t.call('POST /authorize/code', { request: query, credentialId, nonce, proof, identifiers: {}, ...more });
}

/** The parameters with which the browser comes back to the app. */
export function parametersOf({ body, headers }: Reply): Readonly<Record<string, string>> {
  const location = body?.location ?? headers.get('location');
  if (typeof location !== 'string') throw new Error(`no location: ${JSON.stringify(body)}`);
  return Object.fromEntries(new URL(location).searchParams);
}

/** A code for a person who signs in. */
export async function codeFor(
  t: TestVault,
  person: Parameters<typeof answer>[1],
  request: AppRequest,
  more: Parameters<typeof answer>[3] = {},
): Promise<string> {
  const given = await answer(t, person, request, more);
  return parametersOf(given)['code'] ?? '';
}

/** Asks `/token` with a form, by Basic where the client has a secret; what is undefined is left out. */
export function exchange(
  t: Pick<TestVault, 'post'>,
  { client, redirectUri, verifier }: AppRequest,
  code: string,
  change: Readonly<Record<string, string | undefined>> = {},
  headers: Readonly<Record<string, string>> = client === 'page' ? {} : basic(client, SECRETS[client]),
): Promise<Reply> {
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    client_id: client === 'page' ? client : undefined,
    ...change,
  };
  const pairs = Object.entries(form).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return t.post('/token', String(new URLSearchParams(pairs)), { ...FORM, ...headers });
}

/** The type of a form. */
export const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** The header by which a client authenticates. */
export function basic(id: string, secret: string): { readonly Authorization: string } {
  const pair = [id, secret].map(encodeURIComponent).join(':');
  return { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** The header of an access token. */
export function bearer(token: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}

/** Signs a person in, whole: what the app has then. */
export async function tokensFor(
  t: TestVault,
  person: Parameters<typeof answer>[1],
  request: AppRequest = requestOf(),
  more: Parameters<typeof answer>[3] = {},
) {
  const { status, body } = await exchange(t, request, await codeFor(t, person, request, more));
  if (status !== 200) throw new Error(`no tokens: ${JSON.stringify(body)}`);
  return { ...body, claims: partsOf(body.id_token)[1] } as {
    readonly access_token: string;
    readonly id_token: string;
    readonly scope: string;
    readonly claims: Readonly<Record<string, unknown>>;
  };
}

/** Header and claims of a token. */
export function partsOf(token: string): readonly Readonly<Record<string, unknown>>[] {
  return token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
}

/** Replaces the key of ID tokens at once, as `vault keys rotate --signing --now` does beside a running vault. */
export async function replaceSigningKey({ database, clock }: Pick<TestVault, 'database' | 'clock'>): Promise<void> {
  const metrics = createMetrics();
  const ctx = {
    config: { idTokenSeconds: 3_600 } as Config,
    clock,
    db: createStore({ database, clock, metrics, maxConnections: 1 }),
    keys: createKeys(fromHex(VAULT_SECRET) ?? new Uint8Array()),
    random: systemRandom,
    log: () => undefined,
    metrics,
    keyFacts: createKeyFacts(),
  };
  await addKey(ctx, 'RS256', await readKeys(ctx, 'RS256'), { signsFrom: clock.now(), endsNow: true });
}
