// A payout that its owner approves with a passkey: page and server, for Bun, Deno, Workers, and Node by srvx.
import { verifyApproval } from 'vault/approvals';

const vault = 'https://vault.example.com';
const app = 'https://app.example.com'; // the origin of this page
const chainId = 84532; // the vault's
/** Who approves: from a sign-in that your server checked, with the key that the person had then. */
const owner = { account: '0x…', pubKeyX: '0x…', pubKeyY: '0x…' };

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Payouts</title>
<button id="pay" type="button">Pay out</button>
<output id="says"></output>
<script type="module">
  import { createClient } from '${vault}/client.js';

  const vault = createClient({ url: '${vault}' });
  const ask = async (path, body = {}) => (await fetch(path, { method: 'POST', body: JSON.stringify(body) })).json();
  const show = async (answer) => says.append((await ask('/approved', answer)).says);
  const request = await ask('/payouts');
  pay.onclick = () => vault.approve(request).then(show, ({ message }) => says.append(message));
  // Where popups are blocked, a link led there and back.
  const back = vault.approved();
  if (back) await (back.error ? says.append(back.error) : show(back));
</script>
`;

const payouts = new Map(); // by id; yours are in a database

function createPayout() {
  const id = `payout-${crypto.randomUUID()}`;
  const text = 'Pay out 250.00 EUR to Bob Example.';
  const request = { id, text, expires: new Date(Date.now() + 300_000).toISOString() };
  payouts.set(id, { ...request, isPaid: false });
  return request;
}

async function takeApproval(answer) {
  const payout = payouts.get(answer?.id);
  if (!payout) return { says: 'No such payout' };
  // The text from your own records: the answer says nothing of it.
  const { id, text, expires } = payout;
  const question = { vault, app, chainId, id, text, expires, account: owner.account };
  const verdict = await verifyApproval(answer, question, owner);
  if (verdict.status !== 'approved') return { says: `Refused: ${verdict.reason}` };
  // Once: the same answer can be sent again.
  if (payout.isPaid) return { says: 'Paid out before' };
  payout.isPaid = true;
  return { says: 'Paid out' };
}

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET')
      return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    if (pathname === '/payouts') return Response.json(createPayout());
    if (pathname === '/approved') return Response.json(await takeApproval(await request.json()));
    return new Response('Not found\n', { status: 404 });
  },
};
