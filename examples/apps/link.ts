// An app whose whole sign-in is one link to the vault's /authorize, one exchange, and one look. A fetch handler: Bun,
// Deno, Workers and, with an adapter, Node run it. The vault knows it by APPS=tea and, in the file of CLIENTS,
// { "tea": { "redirect_uris": ["https://tea.example/back"] } }. Libraries of OpenID Connect do the same: docs/openid.md.
import { createHash, randomBytes } from 'node:crypto';

const vault = 'https://vault.example.com';
const app = { client_id: 'tea', redirect_uri: 'https://tea.example/back' };

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/back') return back(searchParams, request.headers.get('cookie') ?? '');
    return pathname === '/' ? start() : new Response('Not found\n', { status: 404 });
  },
};

/** The link. What its answer is checked against stays in this browser, where no script reads it. */
function start(): Response {
  const [state, verifier] = [random(), random()];
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const asked = { response_type: 'code', scope: 'openid email did', state };
  const query = new URLSearchParams({ ...app, ...asked, code_challenge, code_challenge_method: 'S256' });
  const link = `${vault}/authorize?${query}`.replaceAll('&', '&amp;');
  const cookie = `sign-in=${state}.${verifier}; Path=/back; HttpOnly; Secure; SameSite=Lax; Max-Age=3600`;
  return page(`<a id="sign-in" href="${link}">Sign in</a>`, cookie);
}

/** The exchange: the code of the address bar for a token, which reads who it is. Here your app begins its own session. */
async function back(query: URLSearchParams, cookies: string): Promise<Response> {
  const [, state, code_verifier = ''] = /(?:^|; )sign-in=([\w-]+)\.([\w-]+)/.exec(cookies) ?? [];
  if (query.get('state') !== state || query.get('iss') !== vault) return page('This answers no link of ours.');
  if (query.has('error')) return page('Not signed in. <a href="/">Try again</a>');
  const form = { ...app, grant_type: 'authorization_code', code: query.get('code') ?? '', code_verifier };
  const exchange = await fetch(`${vault}/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token } = (await exchange.json()) as { access_token?: string };
  const answer = await fetch(`${vault}/userinfo`, { headers: { Authorization: `Bearer ${access_token}` } });
  // `sub` is the key of your records: addresses change hands, and other apps know the person by another one.
  const { sub, did, error } = (await answer.json()) as { sub?: string; did?: string; error?: string };
  return page(sub ? `Welcome, ${did}` : `Not signed in: ${error}`, 'sign-in=; Path=/back; Max-Age=0');
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

function page(text: string, cookie?: string): Response {
  const headers = new Headers({ 'Content-Type': 'text/html; charset=utf-8' });
  if (cookie) headers.set('Set-Cookie', cookie);
  return new Response(`<!doctype html><title>Tea House</title><p>${text}</p>`, { headers });
}
