// An MCP server that knows people by access tokens of a vault: npm install @modelcontextprotocol/sdk jose. A fetch
// handler: Bun, Deno, Workers and, with an adapter, Node run it. The vault knows it by APPS=tea, in the file of CLIENTS
// { "tea": { "resources": [{ "url": "https://mcp.tea.example/mcp", "scopes": ["notes:read"] }] } }, and its clients by
// CLIENT_METADATA_HOSTS.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';

const vault = 'https://vault.example.com';
const resource = 'https://mcp.tea.example/mcp';
const metadata = new URL('/.well-known/oauth-protected-resource/mcp', resource);
const about = { resource, authorization_servers: [vault], scopes_supported: ['notes:read'] };
const keys = createRemoteJWKSet(new URL(`${vault}/jwks`));

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === metadata.pathname)
      return Response.json(about, { headers: { 'access-control-allow-origin': '*' } });
    if (pathname !== '/mcp') return new Response('Not found\n', { status: 404 });
    const person = await personOf(request);
    if (!person) return refusal(401, 'invalid_token');
    if (!String(person['scope']).split(' ').includes('notes:read')) return refusal(403, 'insufficient_scope');
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await serverFor(person).connect(transport);
    return transport.handleRequest(request);
  },
};

/** The claims of the token; undefined without one that the vault has made for this server. */
async function personOf(request: Request): Promise<JWTPayload | undefined> {
  const token = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  const expected = { issuer: vault, audience: resource, typ: 'at+jwt', algorithms: ['RS256'] };
  return jwtVerify(token, keys, expected).then(
    ({ payload }) => payload,
    () => undefined,
  );
}

/** The client reads where to get a token. */
function refusal(status: number, error: string): Response {
  const header = `Bearer error="${error}", resource_metadata="${metadata}", scope="notes:read"`;
  return new Response(null, { status, headers: { 'www-authenticate': header } });
}

/** What agents may do in the person's name: `sub` is the key of your records. */
function serverFor({ sub }: JWTPayload): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const notes = { content: [{ type: 'text' as const, text: `The notes of ${sub}` }] };
  server.registerTool('read_notes', { description: 'Reads the notes of the person' }, () => notes);
  return server;
}
