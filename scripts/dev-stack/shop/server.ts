// The page's requests to the shop's own server.
import type { Finding, ShownOrder } from '../orders.ts';

/** A refusal of the server, in words for the person. */
export class ShopError extends Error {
  override readonly name = 'ShopError';
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const ANSWER_MS = 20_000;

async function ask<T>(path: string, body?: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(path, { ...sent, signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
  if (!answer) throw new ShopError(0, 'The shop does not answer. Is npm start still running?');
  const said = (await answer.json().catch(() => ({}))) as T & { hint?: string };
  if (!answer.ok) throw new ShopError(answer.status, said.hint ?? 'The shop’s server made a mistake. Try again.');
  return said;
}

/** Has the server make an order. */
export function newOrder(): Promise<ShownOrder> {
  return ask('/orders', {});
}

/** An order and how it stands; undefined if the server does not know it: it was started again. */
export function readOrder(id: string): Promise<(ShownOrder & { readonly finding: Finding }) | undefined> {
  return ask<ShownOrder & { readonly finding: Finding }>(`/orders/${encodeURIComponent(id)}`).catch((error) => {
    if (error instanceof ShopError && error.status === 404) return undefined;
    throw error;
  });
}

/** Has the server check a payment of an order. */
export function checkReceipt(id: string, receipt: object): Promise<Finding> {
  return ask(`/orders/${encodeURIComponent(id)}/receipt`, receipt);
}

/** Asks for test money. */
export async function askForMoney(account: string): Promise<void> {
  await ask('/money', { account });
}
