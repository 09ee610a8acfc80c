// An app whose whole sign-up is one link to the vault's /register, and one exchange. A fetch handler: Bun, Deno,
// Workers and, with an adapter, Node run it. The vault knows it by APPS=tea and
// REGISTER_REDIRECTS=tea=https://tea.example/back.
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
  const query = new URLSearchParams({ ...app, state, code_challenge, code_challenge_method: 'S256' });
  const link = `${vault}/register?${query}`.replaceAll('&', '&amp;');
  const cookie = `sign-up=${state}.${verifier}; Path=/back; HttpOnly; Secure; SameSite=Lax; Max-Age=3600`;
  return page(`<a id="sign-up" href="${link}">Sign up</a>`, cookie);
}

/** The exchange: the code of the address bar for who the person is. Here your app begins its own session. */
async function back(query: URLSearchParams, cookies: string): Promise<Response> {
  const [, state = '', code_verifier = ''] = /(?:^|; )sign-up=([\w-]+)\.([\w-]+)/.exec(cookies) ?? [];
  if (query.get('state') !== state || query.get('iss') !== vault) return page('This answers no link of ours.');
  if (query.has('error')) return page('Not signed up. <a href="/">Try again</a>');
  const answer = await fetch(`${vault}/api/register/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...app, code: query.get('code'), code_verifier }),
  });
  const { did, error } = (await answer.json()) as { did?: string; error?: string };
  return page(did ? `Welcome, ${did}` : `Not signed up: ${error}`, 'sign-up=; Path=/back; Max-Age=0');
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

function page(text: string, cookie?: string): Response {
  const headers = new Headers({ 'Content-Type': 'text/html; charset=utf-8' });
  if (cookie) headers.set('Set-Cookie', cookie);
  return new Response(`<!doctype html><title>Tea House</title><p>${text}</p>`, { headers });
}
