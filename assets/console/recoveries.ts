import { answerInto, explain, notDone } from './answer.ts';
import type { Api } from './api.ts';
import { confirmed } from './confirm.ts';
import { byId, make } from './dom.ts';
import { formatDate, formatValue } from './format.ts';

interface Recovery {
  readonly account: string;
  readonly identifier: string | null;
  readonly status: string;
  readonly foreign: boolean;
  readonly stopped: boolean;
  readonly readyAt: string | null;
}

/** The open recoveries, each with a button by which the guardian withdraws it. Call the result to refresh. */
export function createRecoveries(api: Api): () => Promise<void> {
  const list = byId('recoveries-list');
  const refresh = async (): Promise<void> => {
    if (list.contains(document.activeElement)) return;
    try {
      const { recoveries } = (await api.get('recoveries', { open: 'true' })) as { recoveries: readonly Recovery[] };
      list.replaceChildren(tableOf(recoveries, withdraw));
    } catch (error) {
      list.replaceChildren(make('p', { class: 'failure' }, explain(error)));
    }
  };
  const withdraw = (one: Recovery): void =>
    void answerInto(byId('recoveries-answer'), async () => {
      const isSure = await confirmed({
        title: 'Withdraw this recovery?',
        text: `The guardian ends the recovery of ${one.account} on the chain. Who lost the passkeys has to begin again. This cannot be undone.`,
        action: 'Withdraw the recovery',
      });
      if (!isSure) return notDone();
      await api.post('recoveries/cancel', { account: one.account });
      byId('title-recoveries').focus();
      void refresh();
      return make('p', { class: 'done' }, `The guardian will withdraw the recovery of ${one.account}.`);
    });
  return refresh;
}

function tableOf(recoveries: readonly Recovery[], withdraw: (one: Recovery) => void): Node {
  if (recoveries.length === 0) return make('p', { class: 'empty' }, 'None. Recoveries of accounts are listed here.');
  const headings = HEADINGS.map((name) => make('th', { scope: 'col' }, name));
  return make(
    'table',
    {},
    make('caption', { class: 'sr' }, 'Recoveries of accounts that may still end'),
    make('thead', {}, make('tr', {}, ...headings)),
    make('tbody', {}, ...recoveries.map((one) => rowOf(one, withdraw))),
  );
}

const HEADINGS = ['account', 'address', 'status', 'ready', 'action'];

function rowOf(one: Recovery, withdraw: (one: Recovery) => void): HTMLElement {
  const button = make('button', { type: 'button', class: 'small for-operators' }, 'Withdraw');
  button.setAttribute('aria-label', `Withdraw the recovery of ${one.account}`);
  button.addEventListener('click', () => withdraw(one));
  const status = [
    one.status,
    ...(one.foreign ? ['by another copy of the key'] : []),
    ...(one.stopped ? ['stopping'] : []),
  ];
  return make(
    'tr',
    {},
    make('td', { 'data-name': 'account' }, formatValue(one.account)),
    make('td', { 'data-name': 'address' }, formatValue(one.identifier)),
    make('td', { 'data-name': 'status' }, status.join(', ')),
    make('td', { 'data-name': 'ready' }, one.readyAt === null ? '–' : formatDate(one.readyAt)),
    make('td', { 'data-name': 'action' }, button),
  );
}
