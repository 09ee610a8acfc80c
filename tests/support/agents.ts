// Clients of agents, which describe themselves by documents, and the host that has the documents.
import { type KeyObject, sign } from 'node:crypto';
import { type AppRequest, requestOf } from './openid.ts';

/** The document of an agent's client, and where people come back to. */
export const AGENT = 'https://agent.example/oauth/client.json';
export const AGENT_URI = 'http://127.0.0.1:33418/callback';

/** A document in order, with members changed, or left out where undefined. */
export function documentOf(change: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    client_id: AGENT,
    client_name: 'Claude Code',
    redirect_uris: ['http://127.0.0.1/callback', 'https://agent.example/back'],
    token_endpoint_auth_method: 'none',
    ...change,
  };
}

/** An answer of the host. */
export function jsonOf(body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json', ...headers } });
}

/** What the host answers by URL; what was asked of it stands in `asked`. */
export function createAgentHost(answers: Readonly<Record<string, () => Response | Promise<Response>>> = {}) {
  const asked: string[] = [];
  const own = { [AGENT]: () => jsonOf(documentOf()), ...answers };
  const documents = new Map<string, () => Response | Promise<Response>>(Object.entries(own));
  return {
    asked,
    documents,
    async documentFetch(url: string): Promise<Response> {
      asked.push(url);
      return (documents.get(url) ?? (() => new Response('', { status: 404 })))();
    },
  };
}

/** A request of the agent's client for the server of `tea`. */
export function agentRequest(change: Readonly<Record<string, string | undefined>> = {}): AppRequest {
  const own = { client_id: AGENT, redirect_uri: AGENT_URI, resource: 'https://mcp.tea.example/mcp', scope: undefined };
  const { redirectUri, verifier, query } = requestOf('tea', { ...own, ...change });
  return { client: 'tea', redirectUri, verifier, query };
}

/** The claims of an assertion, and how it is signed. */
export interface Assertion {
  readonly key: KeyObject;
  readonly alg?: string;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A token by which a client shows its key (RFC 7523). */
export function assertionOf({ key, alg = 'ES256', header = {}, claims }: Assertion): string {
  const parts = [{ alg, typ: 'JWT', ...header }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const text = parts.join('.');
  const signature = sign('sha256', Buffer.from(text), alg === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' } : key);
  return `${text}.${signature.toString('base64url')}`;
}
