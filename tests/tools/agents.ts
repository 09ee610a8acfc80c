// The published client of MCP, as its package is: what an agent on a person's device does to reach a server.
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';

/** An agent, by the URL of its document, and where people come back to it. */
export interface Agent {
  readonly document: string;
  readonly redirectUri: string;
  /** Opens a link, signs in, and answers the code that the person comes back with. */
  readonly visit: (link: URL) => Promise<string>;
}

/** Has the agent call a tool of a server, which it has no token for yet; what the tool answers, and the tokens. */
export async function callTool(server: string, name: string, { document, redirectUri, visit }: Agent) {
  const kept: Partial<{
    link: URL;
    verifier: string;
    information: OAuthClientInformationMixed;
    tokens: OAuthTokens;
  }> = {};
  const keep = (more: typeof kept) => void Object.assign(kept, more);
  const authProvider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadataUrl: document,
    clientMetadata: { client_name: 'An agent', redirect_uris: [redirectUri] },
    state: () => 'of the agent',
    clientInformation: () => kept.information,
    saveClientInformation: (information) => keep({ information }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => keep({ tokens }),
    redirectToAuthorization: (link) => keep({ link }),
    saveCodeVerifier: (verifier) => keep({ verifier }),
    codeVerifier: () => kept.verifier ?? '',
  };
  const open = () => new StreamableHTTPClientTransport(new URL(server), { authProvider });
  const connect = (transport: StreamableHTTPClientTransport) => {
    const client = new Client({ name: 'an-agent', version: '1.0.0' });
    // The types of the package do not know exactOptionalPropertyTypes.
    return client.connect(transport as Parameters<Client['connect']>[0]).then(() => client);
  };
  const first = open();
  const refused = await connect(first).catch((error: unknown) => error);
  if (!(refused instanceof UnauthorizedError) || !kept.link) throw refused;
  await first.finishAuth(await visit(kept.link));
  const client = await connect(open());
  const answer = await client.callTool({ name });
  await client.close();
  return { link: kept.link, tokens: kept.tokens, answer };
}
