// A club for the people of some mail hosts, by credentials of a vault that it has a name of and no contract with: page
// and server, for Bun, Deno, Workers, and Node by srvx. npm install jose @sd-jwt/sd-jwt-vc@0.19.0
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { compactVerify, decodeJwt, decodeProtectedHeader, importJWK } from 'jose';

const origin = 'https://club.example'; // of this page: from your settings, never from a request
const issuers = ['https://vault.example.com']; // whom you believe
const hosts = ['example.com']; // who may come in
const AGE_SECONDS = 30 * 86_400; // a proof that is older is too old for you
const NONCE_MS = 300_000;
const NONCES_MAX = 10_000;

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Club</title>
<button id="enter" type="button">Show where I work</button>
<output id="says"></output>
<script type="module">
  import { createClient } from '${issuers[0]}/client.js';

  const vault = createClient({ url: '${issuers[0]}' });
  const ask = async (path, body = {}) => (await fetch(path, { method: 'POST', body: JSON.stringify(body) })).json();
  const askCode = ({ problem = 'The code that you were sent' }) => prompt(problem);
  enter.onclick = async () => {
    try {
      const mine = await vault.credential({ email: prompt('Your email'), askCode });
      const { nonce } = await ask('/nonces');
      const presentation = await mine.present({ audience: location.origin, nonce, disclose: ['email_domain'] });
      says.append((await ask('/shown', { nonce, presentation })).says, ' ');
    } catch ({ message }) {
      says.append(message, ' ');
    }
  };
</script>
</html>
`;

const nonces = new Map(); // until when each is good; yours are in the person's session

function createNonce() {
  // A map keeps its order: the oldest goes.
  if (nonces.size >= NONCES_MAX) nonces.delete(nonces.keys().next().value);
  const nonce = crypto.randomUUID();
  nonces.set(nonce, Date.now() + NONCE_MS);
  return { nonce };
}

async function takeShowing({ nonce, presentation }) {
  const until = nonces.get(nonce) ?? 0;
  // Once, also where it is refused then.
  nonces.delete(nonce);
  if (until < Date.now()) return { says: 'Refused: nonce' };
  try {
    const { email_domain: host } = await claimsOf(String(presentation), nonce);
    return { says: hosts.includes(host) ? `Welcome from ${host}` : 'Refused: host' };
  } catch ({ message }) {
    return { says: `Refused: ${message}` };
  }
}

/** The claims that were shown here and now. Throws for everything else. */
async function claimsOf(presentation, nonce) {
  if (presentation.length > 10_000) throw new Error('size');
  const [token] = presentation.split('~');
  const { kid, typ } = decodeProtectedHeader(token);
  const { iss } = decodeJwt(token);
  // Before anything is asked: who shows it says which issuer that is.
  if (!issuers.includes(iss)) throw new Error('issuer');
  if (typ !== 'dc+sd-jwt') throw new Error('type');
  const key = (await keysOf(iss)).find((one) => one.kid === kid);
  if (!key) throw new Error('key');
  const verifier = new SDJwtVcInstance({
    hasher: async (data) => new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(data))),
    verifier: (data, signature) => isSigned(data, signature, key),
    kbVerifier: (data, signature, { cnf }) => isSigned(data, signature, cnf.jwk),
  });
  // Without key binding it is a copy: the library demands one that is signed for this nonce and these claims.
  const { payload, kb } = await verifier.verify(presentation, { keyBindingNonce: nonce });
  const now = Date.now() / 1000;
  if (kb.payload.aud !== origin) throw new Error('audience');
  if (Math.abs(now - kb.payload.iat) > NONCE_MS / 1000) throw new Error('time');
  if (payload.vct !== `${iss}/credentials/types/email`) throw new Error('type');
  if (payload.exp < now || payload.verified_at < now - AGE_SECONDS) throw new Error('age');
  return payload;
}

const keySets = new Map(); // by issuer, for an hour

async function keysOf(issuer) {
  const kept = keySets.get(issuer);
  if (kept && kept.until > Date.now()) return kept.keys;
  const signal = AbortSignal.timeout(5_000);
  const { jwks } = await (await fetch(`${issuer}/.well-known/jwt-vc-issuer`, { redirect: 'error', signal })).json();
  keySets.set(issuer, { keys: jwks.keys, until: Date.now() + 3_600_000 });
  return jwks.keys;
}

async function isSigned(data, signature, jwk) {
  const key = await importJWK(jwk, jwk.kty === 'EC' ? 'ES256' : 'EdDSA');
  return compactVerify(`${data}.${signature}`, key).then(
    () => true,
    () => false,
  );
}

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET')
      return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    if (pathname === '/nonces') return Response.json(createNonce());
    if (pathname === '/shown') return Response.json(await takeShowing(await request.json()));
    return new Response('Not found\n', { status: 404 });
  },
};
