// node shop.mjs: a shop of one article, its page and its server. As it stands it works with `npm start` of the vault.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const vault = process.env.VAULT ?? 'http://localhost:8787';
const port = Number(process.env.PORT ?? 4242);
const origin = `http://localhost:${port}`;

/** Two teas for 1.25 USDC. The payee is nobody's: put your own address. */
const tea = {
  to: '0x00000000000000000000000000000000000A11cE',
  token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '1250000',
};

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>Tea shop</title>
<h1>Two teas</h1>
<button id="buy" disabled>Pay 1.25 USDC</button>
<p id="says" role="status"></p>
<script type="module">
  import { createClient } from '${vault}/client.js';

  const vault = createClient({ url: '${vault}' });
  const [buy, says] = ['buy', 'says'].map((id) => document.getElementById(id));
  const say = (text) => says.replaceChildren(text);

  async function ask(path, body = {}) {
    const headers = { 'Content-Type': 'application/json' };
    return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  }

  // A receipt of a browser proves nothing: the server asks, and the page says what it answers.
  async function show(id, receipt) {
    for (;;) {
      const { status, reason, txHash, final } = await ask('/paid', { id, receipt });
      if (status !== 'paid' && status !== 'pending') return say('Not accepted: ' + reason);
      say(status === 'pending' ? 'Not confirmed yet' : (final ? 'Paid, for good: ' : 'Paid: ') + txHash);
      if (final) return;
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }

  buy.onclick = async () => {
    buy.disabled = true;
    try {
      await show(order.id, await vault.pay(order));
    } catch (error) {
      say('No payment yet: ' + (error.hint ?? error.message));
      buy.disabled = false;
    }
  };

  const order = await ask('/orders');
  const back = vault.returned();
  if (back?.userOpHash) await show(back.id, back);
  else {
    if (back) say('No payment yet: ' + back.error);
    buy.disabled = false;
  }
</script>
</html>
`;

const status = await fetch(`${vault}/api/status`)
  .then((answer) => answer.json())
  .catch(() => undefined);
if (!status?.chainId) {
  console.error(
    `No vault answers at ${vault}. Start one, or say where it is: VAULT=http://localhost:8788 node shop.mjs`,
  );
  process.exit(1);
}
const { chainId } = status;

const orders = new Map(); // by id; yours are in a database
const payments = new Map(); // the order that a payment paid, by its userOpHash; a unique column

function createOrder() {
  // An id is paid once, however often it is asked for: never use one again.
  const id = `tea-${randomUUID()}`;
  orders.set(id, { ...tea, chainId, since: Math.floor(Date.now() / 1000) });
  return { id, ...tea, chainId, label: 'Two teas', total: { currency: 'USD', value: '1.25' } };
}

async function checkPayment({ id, receipt }) {
  const order = orders.get(id);
  if (!order) return { status: 'unpaid', reason: 'no_order' };
  const { to, token, amount, since } = order;
  const { userOpHash = '', txHash = '', account = '' } = receipt ?? {};
  const query = new URLSearchParams({ origin, id, to, token, amount, chainId, since, userOpHash, txHash, account });
  const answer = await fetch(`${vault}/pay/verify?${query}`).catch(() => undefined);
  if (!answer || answer.status >= 500) return { status: 'pending', reason: 'no_answer' };
  const verdict = await answer.json();
  if (!answer.ok) return { status: 'unverifiable', reason: verdict.error };
  if (verdict.status !== 'paid') return verdict;
  // A payment pays one order, and an order is paid once: a second payer gets that money back from you.
  const isOther = (payments.get(verdict.userOpHash) ?? id) !== id;
  if (isOther || (order.paidBy ?? verdict.userOpHash) !== verdict.userOpHash)
    return { status: 'unpaid', reason: isOther ? 'payment_used' : 'order_paid' };
  payments.set(verdict.userOpHash, id);
  order.paidBy = verdict.userOpHash;
  // Hand over when verdict.final is true: keep the receipt, and check it again until then.
  return verdict;
}

async function readBody(request) {
  let text = '';
  for await (const chunk of request) {
    text += chunk;
    if (text.length > 10_000) throw new Error('too long');
  }
  return JSON.parse(text);
}

async function answerTo(request) {
  const { pathname } = new URL(request.url, origin);
  if (request.method === 'GET' && pathname === '/') return [200, 'text/html; charset=utf-8', page];
  const json = async (work) => [200, 'application/json', JSON.stringify(await work(await readBody(request)))];
  if (request.method === 'POST' && pathname === '/orders') return json(createOrder);
  if (request.method === 'POST' && pathname === '/paid') return json(checkPayment);
  return [404, 'text/plain', 'Not found\n'];
}

createServer(async (request, response) => {
  const [code, type, body] = await answerTo(request).catch(() => [400, 'text/plain', 'Not understood\n']);
  response.writeHead(code, { 'Content-Type': type }).end(body);
}).listen(port, 'localhost', () => console.log(`The shop is open: ${origin}`));
