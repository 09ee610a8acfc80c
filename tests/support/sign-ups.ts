// Apps whose people sign in at a vault's `/authorize`, without secrets: their links, the page's requests, and the
// exchange of codes.
import { expect } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import type { Candidate, RelayChain } from './candidates.ts';
import { createCandidate, prove } from './candidates.ts';
import { untilMined, whileTimePasses } from './clock.ts';
import { clientsFile, FORM, partsOf } from './openid.ts';
import type { Ceremony, Passkey } from './passkey.ts';
import { nonceFor, originOf } from './touch.ts';
import type { Reply, TestVault } from './vault.ts';

/** Two apps, and their URIs; the second one's is in development. */
export const TEA = { app: 'tea', uri: 'https://tea.example/back' } as const;
export const BOOKS = { app: 'books', uri: 'http://localhost:4001/in?from=vault' } as const;

/** The settings of a vault that knows them, and a host with its file. */
export const APPS_VARS = { APPS: 'tea,books', CLIENTS: 'clients.json' } as const;
export const APPS_HOST = clientsFile({
  tea: { redirect_uris: [TEA.uri, 'https://tea.example/popup'] },
  books: { redirect_uris: [BOOKS.uri] },
});

/** What an app puts into its link, and the verifier that it keeps. */
export interface AppRequest {
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly code_challenge: string;
  readonly code_challenge_method?: string;
  readonly response_type?: string;
  readonly scope?: string;
  readonly verifier: string;
}

/** A request of an app, with a fresh verifier. */
export function appRequest({ app, uri }: { readonly app: string; readonly uri: string } = TEA): AppRequest {
  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const request = { client_id: app, redirect_uri: uri, response_type: 'code', scope: 'openid email phone profile did' };
  return { ...request, code_challenge, code_challenge_method: 'S256', verifier };
}

let people = 0;

/** Somebody who has an address attested and made a passkey at the page; nothing is registered yet. */
export async function newcomer(
  chain: Pick<RelayChain, 'rpc' | 'factory' | 'registry'>,
  t: TestVault,
  ceremony: Ceremony = {},
): Promise<Candidate> {
  const one = await createCandidate(chain, `signup${++people}`, t.clock.now());
  const proof = prove(chain, one, {}, { origin: originOf(t), ...ceremony });
  return { ...one, body: { ...one.body, proof } };
}

/** Asks the relay to register somebody; a moment passes wherever the chain takes one. */
export function askRelay(t: TestVault, body: Readonly<Record<string, unknown>>): Promise<Reply> {
  return whileTimePasses(t.clock, t.call('POST /api/dids', body, { 'X-Vault-App': 'tea' }));
}

/** Registers somebody by the relay, in a block. */
export function register(t: TestVault, body: Readonly<Record<string, unknown>>): Promise<Reply> {
  return untilMined(() => askRelay(t, body));
}

/** Somebody whose registration is made, and final. */
export async function registerNewcomer(chain: Parameters<typeof newcomer>[0], t: TestVault): Promise<Candidate> {
  const one = await newcomer(chain, t);
  const { status, body } = await register(t, one.body);
  expect([status, body.error]).toEqual([200, undefined]);
  await t.work();
  return one;
}

/** The query of the app's link, as it stands in the address of the page. */
export function queryOf({ verifier: _, ...link }: AppRequest): string {
  return String(new URLSearchParams({ ...link }));
}

/** What a signature at the page may differ in from a right one. */
export interface Signing {
  readonly by?: Passkey;
  /** What it names instead of the request. */
  readonly names?: Partial<AppRequest>;
  readonly registrar?: string;
  /** The nonce that is signed, in place of a fresh one. */
  readonly nonce?: string;
  readonly ceremony?: Ceremony;
}

/** The passkey's signature over an app's request, as the page makes it. */
export async function signFor(
  t: TestVault,
  { passkey }: { readonly passkey: Passkey },
  request: AppRequest,
  { by = passkey, names = {}, registrar = 'did:web:registrar.example', ceremony = {}, ...given }: Signing = {},
) {
  const query = queryOf({ ...request, ...names });
  const nonce = given.nonce ?? (await nonceFor(t, query));
  const digest = createHash('sha256').update(query).digest('base64url');
  const challenge = createHash('sha256').update(['vault/authorize/v2', registrar, digest, nonce].join('\n')).digest();
  return { nonce, proof: by.assert(challenge, { origin: originOf(t), ...ceremony }) };
}

/** Asks for a code, with the oldest address of each channel. `code` of the answer is that of the location. */
export async function authorize(
  t: Pick<TestVault, 'call'>,
  request: AppRequest,
  evidence: Readonly<Record<string, unknown>>,
): Promise<Reply> {
  const reply = await t.call('POST /authorize/code', { request: queryOf(request), identifiers: {}, ...evidence });
  return { ...reply, body: { ...reply.body, ...codeIn(reply) } };
}

/** The code in an answer's location. */
export function codeIn({ body }: Pick<Reply, 'body'>): { readonly code?: string } {
  const code = typeof body.location === 'string' ? new URL(body.location).searchParams.get('code') : null;
  return code === null ? {} : { code };
}

/** Has a registered person's passkey sign, and asks for a code. */
export async function signIn(
  t: TestVault,
  person: { readonly passkey: Passkey; readonly credentialId: string },
  request: AppRequest,
  signing: Signing = {},
): Promise<Reply> {
  const { credentialId } = person;
  return authorize(t, request, { credentialId, ...(await signFor(t, person, request, signing)) });
}

/** Exchanges a code as the app does, with something changed. The body is that of the ID token, or the error. */
export async function exchange(
  t: Pick<TestVault, 'post'>,
  { client_id, redirect_uri, verifier: code_verifier }: AppRequest,
  code: string,
  change: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const grant = { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier };
  const reply = await t.post('/token', String(new URLSearchParams({ ...grant, ...change })), FORM);
  const { id_token: token } = reply.body;
  return typeof token === 'string' ? { ...reply, body: partsOf(token)[1] ?? {} } : reply;
}
