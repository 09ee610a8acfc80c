// Clients at `/token` (RFC 6749 section 2.3.1).
import { fromBase64 } from '../base/bytes.ts';
import { VaultError } from '../base/error.ts';
import { type Client, type Clients, isConfidential } from '../clients/client.ts';
import { isSecretOf } from '../clients/secret.ts';
import type { Parameters } from './parameters.ts';

/** How clients may authenticate, as discovery names it. */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/**
 * The client of a request: by Basic, by `client_secret` in the form, or a public one by `client_id` alone, in one way
 * only. `onWrongSecret` is called for a client that has another secret. Throws 401 `invalid_client`, in the same words
 * for all, and 400 `invalid_request` for two ways at once.
 */
export function authenticate(
  clients: Clients,
  { authorization, form }: { readonly authorization: string | null; readonly form: Parameters },
  issuer: string,
  onWrongSecret: (client: Client) => void,
): Client {
  const [given, secret] = credentialsOf(authorization, form, issuer);
  const client = given === undefined ? undefined : clients.get(given);
  if (!client || isConfidential(client) !== (secret !== undefined)) throw invalidClient(issuer);
  if (secret !== undefined && !isSecretOf(client, secret)) {
    onWrongSecret(client);
    throw invalidClient(issuer);
  }
  return client;
}

function credentialsOf(
  authorization: string | null,
  { value }: Parameters,
  issuer: string,
): readonly [string | undefined, string | undefined] {
  const [id, secret] = [value('client_id'), value('client_secret')];
  if (authorization === null) return [id, secret];
  const basic = /^Basic +([\w+/=-]+)$/i.exec(authorization)?.[1];
  const bytes = basic === undefined ? undefined : fromBase64(basic);
  if (!bytes) throw invalidClient(issuer);
  const pair = new TextDecoder().decode(bytes);
  const colon = pair.indexOf(':');
  if (colon < 0) throw invalidClient(issuer);
  if (secret !== undefined) throw invalidRequest('The client authenticates twice: by Authorization and client_secret.');
  const [name, password] = [formDecoded(pair.slice(0, colon)), formDecoded(pair.slice(colon + 1))];
  if (id !== undefined && id !== name) throw invalidRequest('Authorization and client_id name two clients.');
  return [name, password];
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
