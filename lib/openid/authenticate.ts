// Clients at `/token` (RFC 6749 section 2.3.1, RFC 7523 section 2.2).
import { fromBase64 } from '../base/bytes.ts';
import { VaultError } from '../base/error.ts';
import { type Client, type Clients, wayOf } from '../clients/client.ts';
import { isSecretOf } from '../clients/secret.ts';
import type { Platform } from '../platform.ts';
import { ASSERTION_TYPE, claimedClient, takeAssertion } from './client-assertion.ts';
import { type DocumentContext, findClient, findKeySet } from './client-documents.ts';
import type { Parameters } from './parameters.ts';

/** How clients of `CLIENTS` may authenticate, as discovery names it. */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/** How a client of `CLIENTS` may authenticate. */
export function methodsOf(client: Pick<Client, 'secrets'>): readonly (typeof AUTH_METHODS)[number][] {
  return AUTH_METHODS.filter((method) => (wayOf(client) === 'none') === (method === 'none'));
}

type Ctx = DocumentContext & Pick<Platform, 'db'> & { readonly clients: Clients };

/** A request to `/token`, and what is done beside its answer. */
interface TokenCall {
  readonly authorization: string | null;
  readonly form: Parameters;
  /** Is called for a client that has another secret. */
  readonly onWrongSecret: (client: Client) => void;
  /** Is called with what the answer does not say, as it has the same words for all. */
  readonly onRefused: (client: Client | undefined, why: string) => void;
  /** Is called before something is fetched; throws where the caller has fetched enough. */
  readonly spend: () => void;
}

/**
 * The client of a request, which authenticates in one way only: a client of `CLIENTS` by Basic, by `client_secret` in
 * the form, or a public one by `client_id` alone; one of a document by `client_id` alone, or by `private_key_jwt`.
 * Throws 401 `invalid_client`, in the same words for all, and 400 `invalid_request` for two ways at once.
 */
export async function authenticate(ctx: Ctx, call: TokenCall): Promise<Client> {
  const issuer = ctx.config.baseUrl;
  const { id, secret, assertion } = credentialsOf(call, issuer);
  const client = id === undefined ? undefined : await findClient(ctx, id, call.spend);
  const way = assertion !== undefined ? 'key' : secret !== undefined ? 'secret' : 'none';
  const refuse = (why: string) => {
    call.onRefused(client, why);
    return invalidClient(issuer);
  };
  if (!client) throw refuse('client_id is no app of CLIENTS, and no document that is in order');
  const due = wayOf(client);
  if (due !== way) throw refuse(`the client shows ${SHOWN[way]} where ${SHOWN[due]} is due`);
  if (assertion !== undefined && !(await isShown(ctx, client, assertion, call.spend)))
    throw refuse('client_assertion is not in order, or was shown before');
  if (secret === undefined || isSecretOf(client, secret)) return client;
  call.onWrongSecret(client);
  throw refuse('the secret is none of those that CLIENTS has the digests of');
}

const SHOWN = { none: 'no secret', secret: 'a secret', key: 'a client_assertion' } as const;

async function isShown(ctx: Ctx, client: Client, assertion: string, spend: () => void): Promise<boolean> {
  const keys = client.document?.keys;
  if (!keys) return false;
  const found = typeof keys === 'string' ? await findKeySet(ctx, keys, spend) : { value: keys };
  return 'value' in found && takeAssertion(ctx, client, found.value, assertion);
}

/** A request's evidence of its client; nothing of it is judged yet. */
interface Credentials {
  readonly id: string | undefined;
  readonly secret?: string | undefined;
  readonly assertion?: string | undefined;
}

function credentialsOf({ authorization, form: { value } }: TokenCall, issuer: string): Credentials {
  const [id, secret, assertion] = [value('client_id'), value('client_secret'), value('client_assertion')];
  const ways = [authorization, secret, assertion].filter((one) => one !== null && one !== undefined);
  if (ways.length > 1)
    throw invalidRequest('The client authenticates twice: by Authorization, client_secret or client_assertion.');
  if (assertion !== undefined) {
    if (value('client_assertion_type') !== ASSERTION_TYPE)
      throw invalidRequest(`client_assertion_type must be ${ASSERTION_TYPE}.`);
    return { id: id ?? claimedClient(assertion), assertion };
  }
  if (authorization === null) return { id, secret };
  const [name, password] = basicPair(authorization, issuer);
  if (id !== undefined && id !== name) throw invalidRequest('Authorization and client_id name two clients.');
  return { id: name, secret: password };
}

function basicPair(authorization: string, issuer: string): readonly [string, string] {
  const basic = /^Basic +([\w+/=-]+)$/i.exec(authorization)?.[1];
  const bytes = basic === undefined ? undefined : fromBase64(basic);
  if (!bytes) throw invalidClient(issuer);
  const pair = new TextDecoder().decode(bytes);
  const colon = pair.indexOf(':');
  if (colon < 0) throw invalidClient(issuer);
  return [formDecoded(pair.slice(0, colon)), formDecoded(pair.slice(colon + 1))];
}

/** The 400 for a form that is not in order. */
export function invalidRequest(hint: string): VaultError {
  return new VaultError('invalid_request', { hint });
}

function invalidClient(issuer: string): VaultError {
  return new VaultError('invalid_client', { headers: { 'www-authenticate': `Basic realm="${issuer}"` } });
}

/** Both halves are form-encoded before they are joined. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
