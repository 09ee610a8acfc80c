// The receipt: the verdict of the shop's server, and nothing from elsewhere.
import type { Paid, ShownOrder } from '../orders.ts';
import { readOrder } from './server.ts';
import { copyOnPress, element, onPress, show, write } from './view.ts';

const LOOK_MS = 5_000;

/** Shows it, and asks on until the payment is final. */
export function showReceipt(order: ShownOrder, paid: Paid, again: () => void): void {
  fillIn(order, paid);
  show('receipt');
  copyOnPress('receipt-copy', paid.txHash);
  onPress('receipt-print', () => print());
  const timer = paid.final ? undefined : setInterval(() => void look(), LOOK_MS);
  const look = async () => {
    if (document.hidden) return;
    const finding = (await readOrder(order.id).catch(() => undefined))?.finding;
    if (finding?.status !== 'paid') return;
    fillIn(order, finding);
    if (finding.final) clearInterval(timer);
  };
  onPress('receipt-again', () => {
    clearInterval(timer);
    again();
  });
}

function fillIn({ id, to, chainId }: ShownOrder, paid: Paid): void {
  const { block, final, account, txHash, userOpHash, link, isExplorer, foundAt } = paid;
  const time = element<HTMLTimeElement>('receipt-time');
  time.dateTime = foundAt;
  const style = { dateStyle: 'long', timeStyle: 'long' } as const;
  time.textContent = new Intl.DateTimeFormat(navigator.languages.slice(), style).format(new Date(foundAt));
  write('check-amount', `Exactly 1.25 USDC went to Tea House, on chain ${chainId}`);
  write('check-block', `It is in block ${new Intl.NumberFormat().format(block)}, and succeeded`);
  write(
    'check-final',
    final ? 'The block is final: nothing takes it back' : 'Not final yet: further blocks make it so',
  );
  element('check-final').classList.toggle('waiting', !final);
  const way = element<HTMLAnchorElement>('receipt-link');
  way.href = link;
  way.textContent = isExplorer ? 'See the transaction in the explorer' : 'See the vault’s answer';
  write('receipt-order', id);
  write('receipt-from', account);
  write('receipt-to', to);
  write('receipt-transaction', txHash);
  write('receipt-operation', userOpHash);
  write('receipt-block', `${block}, ${paid.blockHash}`);
}
