// A club for the people of some mail hosts, who come by their DID. It takes credentials and DIDs of a vault that it has
// a name of and no contract with: page and server, for Bun, Deno, Workers, and Node by srvx.
// npm install jose @sd-jwt/sd-jwt-vc@0.19.0
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { compactVerify, decodeJwt, decodeProtectedHeader, importJWK } from 'jose';
import { verifyApproval } from 'vault/approvals';

const origin = 'https://club.example'; // of this page: from your settings, never from a request
const vault = 'https://vault.example.com'; // whom you believe: its statements of addresses, and its view of the chain
const chainId = 84532; // of its DIDs
const hosts = ['example.com']; // who may come in
const AGE_SECONDS = 30 * 86_400; // a proof that is older is too old for you
const STEP_MS = 300_000; // how long a person has for each step
const WAITING_MAX = 10_000;

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Club</title>
<button id="enter" type="button">Show where I work</button>
<button id="sign" type="button" hidden>Come in by my DID</button>
<output id="says"></output>
<script type="module">
  import { createClient } from '${vault}/client.js';

  const vault = createClient({ url: '${vault}' });
  const ask = async (path, body = {}) => (await fetch(path, { method: 'POST', body: JSON.stringify(body) })).json();
  const askCode = ({ problem = 'The code that you were sent' }) => prompt(problem);
  const tell = ({ says: words, message = words }) => says.append(message, ' ');
  const show = async () => {
    const mine = await vault.credential({ email: prompt('Your email'), askCode });
    const { nonce } = await ask('/nonces');
    const presentation = await mine.present({ audience: location.origin, nonce, disclose: ['email_domain'] });
    const answer = await ask('/shown', { nonce, presentation });
    sign.hidden = !answer.question;
    // From a click: it opens the vault's page, where the person's passkey signs the question.
    sign.onclick = () =>
      vault.approve(answer.question).then((approval) => ask('/signed', approval)).then(tell, tell);
    return answer;
  };
  enter.onclick = () => show().then(tell, tell);
</script>
</html>
`;

// The nonces and questions that are open, and until when; yours are in the person's session.
const waiting = new Map();

function keep(facts = {}) {
  // A map keeps its order: the oldest goes.
  if (waiting.size >= WAITING_MAX) waiting.delete(waiting.keys().next().value);
  const id = crypto.randomUUID();
  waiting.set(id, { ...facts, until: Date.now() + STEP_MS });
  return id;
}

/** What was kept, once, also where it is refused then. */
function take(id) {
  const facts = waiting.get(id);
  waiting.delete(id);
  return facts?.until > Date.now() ? facts : undefined;
}

/** Takes a showing, and asks for a DID: the question names what was shown, so that the two belong together. */
async function takeShowing({ nonce, presentation }) {
  if (!take(nonce)) throw new Error('nonce');
  const { email_domain: host } = await claimsOf(String(presentation), nonce);
  if (!hosts.includes(host)) throw new Error('host');
  const text = `Come in as somebody of ${host}.`;
  const expires = new Date(Date.now() + STEP_MS).toISOString();
  return { says: `You work at ${host}`, question: { id: keep({ host, text, expires }), text, expires } };
}

async function takeApproval(answer) {
  const asked = take(answer?.id);
  if (!asked) throw new Error('question');
  return { says: `Welcome from ${asked.host}, ${await didOf(answer, asked)}` };
}

/** The DID that signed this question, by a key that its document shows now. Throws for everything else. */
async function didOf(answer, { text, expires }) {
  const { id, account, pubKeyX, pubKeyY } = answer;
  const question = { vault, app: origin, chainId, id, text, expires, account };
  const verdict = await verifyApproval(answer, question, { pubKeyX, pubKeyY });
  if (verdict.status !== 'approved') throw new Error(verdict.reason);
  // From the DID to its keys, never back: that the key is this DID's was only a claim.
  const signal = AbortSignal.timeout(5_000);
  const accept = { headers: { accept: 'application/did' }, redirect: 'error', signal };
  const response = await fetch(`${vault}/1.0/identifiers/${verdict.did}`, accept);
  // 410 is a DID that was ended.
  if (!response.ok) throw new Error('DID');
  const { verificationMethod: methods = [], authentication: uses = [] } = await response.json();
  const key = multikeyOf(pubKeyX, pubKeyY);
  if (!methods.some((one) => uses.includes(one.id) && one.publicKeyMultibase === key)) throw new Error('DID');
  return verdict.did;
}

/** A P-256 key as DID documents write it: its code and the compressed point, in base58. */
function multikeyOf(x, y) {
  let text = '';
  for (let left = BigInt(`0x8024${BigInt(y) % 2n ? '03' : '02'}${x.slice(2)}`); left > 0n; left /= 58n)
    text = BASE58[Number(left % 58n)] + text;
  return `z${text}`;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The claims that were shown here and now. Throws for everything else. */
async function claimsOf(presentation, nonce) {
  if (presentation.length > 10_000) throw new Error('size');
  const [token] = presentation.split('~');
  const { kid, typ } = decodeProtectedHeader(token);
  const { iss } = decodeJwt(token);
  // Before anything is asked: who shows it says which issuer that is.
  if (iss !== vault) throw new Error('issuer');
  if (typ !== 'dc+sd-jwt') throw new Error('type');
  const key = (await vaultKeys()).find((one) => one.kid === kid);
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
  if (Math.abs(now - kb.payload.iat) > STEP_MS / 1000) throw new Error('time');
  if (payload.vct !== `${iss}/credentials/types/email`) throw new Error('type');
  if (payload.exp < now || payload.verified_at < now - AGE_SECONDS) throw new Error('age');
  return payload;
}

let kept = { keys: [], until: 0 }; // for an hour

async function vaultKeys() {
  if (kept.until > Date.now()) return kept.keys;
  const signal = AbortSignal.timeout(5_000);
  const { jwks } = await (await fetch(`${vault}/.well-known/jwt-vc-issuer`, { redirect: 'error', signal })).json();
  kept = { keys: jwks.keys, until: Date.now() + 3_600_000 };
  return kept.keys;
}

async function isSigned(data, signature, jwk) {
  const key = await importJWK(jwk, jwk.kty === 'EC' ? 'ES256' : 'EdDSA');
  return compactVerify(`${data}.${signature}`, key).then(
    () => true,
    () => false,
  );
}

const posts = { '/nonces': async () => ({ nonce: keep() }), '/shown': takeShowing, '/signed': takeApproval };

export default {
  async fetch(request) {
    if (request.method === 'GET')
      return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    const { pathname } = new URL(request.url);
    if (!Object.hasOwn(posts, pathname)) return new Response('Not found\n', { status: 404 });
    const body = await request.json().catch(() => ({}));
    return Response.json(await posts[pathname](body).catch(({ message }) => ({ says: `Refused: ${message}` })));
  },
};
