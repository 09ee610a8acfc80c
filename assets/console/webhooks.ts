import { answerInto, explain } from './answer.ts';
import type { Api } from './api.ts';
import { byId, make } from './dom.ts';
import { formatCount, formatDate, formatValue } from './format.ts';

interface Delivery {
  readonly id: number;
  readonly type: string;
  readonly at: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

/** The dead webhooks, each with a button that sends it again. Call the result to refresh. */
export function createWebhooks(api: Api): () => Promise<void> {
  const list = byId('webhooks-list');
  const refresh = async (): Promise<void> => {
    try {
      const { webhooks } = (await api.get('webhooks', { status: 'dead' })) as { webhooks: readonly Delivery[] };
      // A person who has come to a row meanwhile keeps it under the finger.
      if (list.contains(document.activeElement)) return;
      list.replaceChildren(tableOf(webhooks, resend));
    } catch (error) {
      list.replaceChildren(make('p', { class: 'failure' }, explain(error)));
    }
  };
  const resend = (one: Delivery): void =>
    void answerInto(byId('webhooks-answer'), async () => {
      await api.post('webhooks/resend', { id: one.id });
      byId('title-webhooks').focus();
      void refresh();
      return make('p', { class: 'done' }, `Event ${one.id} will be sent again.`);
    });
  return refresh;
}

function tableOf(deliveries: readonly Delivery[], resend: (one: Delivery) => void): Node {
  if (deliveries.length === 0)
    return make('p', { class: 'empty' }, 'None. Webhooks that fail for a day are listed here.');
  const rows = deliveries.map((one) => rowOf(one, resend));
  return make(
    'table',
    {},
    make('caption', { class: 'sr' }, 'Webhooks that the vault gave up on'),
    make('thead', {}, make('tr', {}, ...HEADINGS.map((name) => make('th', { scope: 'col' }, name)))),
    make('tbody', {}, ...rows),
  );
}

/** Why the last attempt failed: the status with its name, or the word of a failure without one. */
function failureOf({ last_status: status, last_error: error }: Delivery): string {
  if (status === null) return formatValue(error).replaceAll('_', ' ');
  const name = STATUSES[status];
  return name === undefined ? `status ${status}` : `${status} ${name}`;
}

/** The statuses that receivers answer most (RFC 9110 section 15). */
const STATUSES: Readonly<Record<number, string>> = {
  301: 'Moved Permanently',
  302: 'Found',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  410: 'Gone',
  413: 'Content Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

const HEADINGS = ['event', 'type', 'at', 'attempts', 'failure', 'action'];

function rowOf(one: Delivery, resend: (one: Delivery) => void): HTMLElement {
  const button = make('button', { type: 'button', class: 'small' }, 'Send again');
  button.setAttribute('aria-label', `Send event ${one.id} again`);
  button.addEventListener('click', () => resend(one));
  return make(
    'tr',
    {},
    make('td', { 'data-name': 'event' }, String(one.id)),
    make('td', { 'data-name': 'type' }, formatValue(one.type)),
    make('td', { 'data-name': 'at' }, formatDate(one.at)),
    make('td', { 'data-name': 'attempts' }, formatCount(one.attempts)),
    make('td', { 'data-name': 'failure' }, failureOf(one)),
    make('td', { 'data-name': 'action' }, button),
  );
}
