// The shop's page: sign in, get test money, pay, receipt. It works through `vault/client`, which the vault serves.
import type { VaultClient } from '../../../client/vault/index.ts';
import { hasPasskeys } from '../../../client/vault/passkeys.ts';
import { formatAmount } from '../../../client/wallet/amount.ts';
import type { ShownOrder } from '../orders.ts';
import { type Hints, keep, type Person, recall } from './memory.ts';
import { showReceipt } from './receipt.ts';
import { askForMoney, checkReceipt, newOrder, readOrder } from './server.ts';
import { askWho } from './sign-in.ts';
import { busy, element, onPress, show, showProblem, toggle, write, writeAddress } from './view.ts';
import { paymentWords, refusalWords } from './words.ts';

const LOOK_MS = 1_500;
/** Words after which an order's id is used up, and nothing was paid for it. */
const USED = ['voided', 'reverted', 'spent', 'no_transfer', 'order_paid'];
/** How long the page only waits; then it also offers a way back. */
const PATIENCE_MS = 15_000;

const vault = await loadClient();
let order: ShownOrder;

/** The client as the vault serves it. */
async function loadClient(): Promise<VaultClient | undefined> {
  const { vault: url = '', app } = document.documentElement.dataset;
  const client = (await import(`${url}/client.js`).catch(() => undefined)) as
    | typeof import('../../../client/vault/index.ts')
    | undefined;
  return client?.createClient({ url, app: app || undefined });
}

async function main(client: VaultClient): Promise<void> {
  // A payment by link comes back here, in a page that knows nothing any more.
  const back = client.returned();
  const id = back?.id ?? recall('order');
  const known = id === undefined ? undefined : await readOrder(id);
  order = known ?? (await newOrder());
  keep('order', order.id);
  if (back?.userOpHash) keep('hints', { ...back, userOpHash: back.userOpHash });
  if (!known) keep('hints', undefined);
  if (known?.finding.status === 'paid') return showReceipt(order, known.finding, orderAgain);
  const hints = recall('hints');
  if (hints) return follow(client, hints);
  if (!hasPasskeys()) return showNoPasskeys();
  const person = recall('person');
  if (person) return welcome(client, person, back?.error === undefined ? undefined : paymentWords(back));
  askWho(client, (found) => arrive(client, found));
}

function showNoPasskeys(): void {
  const title = 'This browser cannot use passkeys here';
  const words = 'Open this page in another browser, by the address of localhost, and not inside another app.';
  showProblem({ title, words, button: 'Try again' });
  onPress('problem-go', () => location.reload());
}

function arrive(client: VaultClient, person: Person): void {
  keep('person', person);
  run(() => welcome(client, person));
}

/** Shows what the person can do next: pay, or get money first. */
async function welcome(client: VaultClient, person: Person, notice?: string): Promise<void> {
  const { account } = person;
  const read = () => client.call('GET /pay/token', { token: order.token, account });
  const { symbol, decimals, balance = '0' } = await read();
  const held = `${formatAmount(BigInt(balance), decimals)} ${symbol}`;
  const part = BigInt(balance) < BigInt(order.amount) ? 'money' : 'pay';
  write(`${part}-notice`, notice);
  writeAddress(element(`${part}-account`), account);
  write(`${part}-balance`, held);
  show(part);
  const getMoney = (button: string) =>
    busy(button, () => askForMoney(account)).then(
      () => run(() => welcome(client, person)),
      (error: Error) => write(`${part}-notice`, error.message),
    );
  onPress('money-go', () => void getMoney('money-go'));
  onPress('pay-more', () => void getMoney('pay-more'));
  for (const out of ['money-out', 'pay-out']) onPress(out, () => signOut(client));
  onPress('pay-go', () => void pay(client, person));
}

function signOut(client: VaultClient): void {
  keep('person', undefined);
  client.forget();
  askWho(client, (person) => arrive(client, person));
}

/** There is no wait between the press and `pay`: browsers open windows only for presses. */
async function pay(client: VaultClient, person: Person): Promise<void> {
  // After a reload the client knows nobody; the shop does.
  const { did: _, ...payer } = person;
  const paying = client.pay(order, { payer });
  const receipt = await busy('pay-go', () => paying).catch((error) => {
    run(() => tryAgain(client, person, error.error, paymentWords(error)));
  });
  if (!receipt) return;
  const { userOpHash, txHash, account } = receipt;
  keep('hints', { userOpHash, ...(txHash ? { txHash } : {}), ...(account ? { account } : {}) });
  run(() => follow(client, receipt));
}

/** Leads back to the payment, with a new order where the old one can no longer be paid. */
async function tryAgain(client: VaultClient, person: Person, word: string, notice: string): Promise<void> {
  if (USED.includes(word)) {
    order = await newOrder();
    keep('order', order.id);
  }
  await welcome(client, person, notice);
}

/** Has the server look for the payment until it knows. */
async function follow(client: VaultClient, hints: Hints): Promise<void> {
  show('waiting');
  const since = Date.now();
  let isLeft = false;
  const leave = (word: string, notice: string) => {
    isLeft = true;
    keep('hints', undefined);
    const person = recall('person');
    if (person) run(() => tryAgain(client, person, word, notice));
    else askWho(client, (found) => arrive(client, found), notice);
  };
  toggle('waiting-stop', false);
  onPress('waiting-stop', () => leave('', 'The payment may still come. Press Pay again: an order is paid once.'));
  while (!isLeft) {
    const finding = await checkReceipt(order.id, hints).catch((error: Error) => error);
    if (isLeft) return;
    write('waiting-notice', finding instanceof Error ? finding.message : undefined);
    if (!(finding instanceof Error)) {
      if (finding.status === 'paid') {
        keep('hints', undefined);
        return showReceipt(order, finding, orderAgain);
      }
      if (finding.status === 'unpaid' || finding.status === 'unverifiable')
        return leave(finding.reason, refusalWords(finding.reason));
    }
    toggle('waiting-stop', Date.now() - since > PATIENCE_MS);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function orderAgain(): void {
  keep('order', undefined);
  keep('hints', undefined);
  location.reload();
}

/** Does something that may fail for a reason that passes, and offers to do it again. */
function run(act: () => Promise<void>): void {
  act().catch((error) => {
    showProblem({ title: 'This did not work', words: paymentWords(error), button: 'Try again' });
    onPress('problem-go', () => run(act));
  });
}

if (vault) run(() => main(vault));
else {
  const words = 'This shop signs you in and takes your payment through the vault. Is npm start still running?';
  showProblem({ title: 'The vault does not answer', words, button: 'Try again' });
  onPress('problem-go', () => location.reload());
}
