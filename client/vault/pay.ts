import { demandMembers, TERMS } from '../order-members.ts';
import { fault, VaultClientError } from './error.ts';
import { askPopup, followLink, openPage, returnedBy } from './page.ts';
import type { VaultInfo } from './vault-info.ts';

/** An order, as your server made it. The same `id` is paid once. */
export interface PayOrder {
  readonly id: string;
  /** The payee. */
  readonly to: string;
  /** In the token's smallest unit, a decimal string. */
  readonly amount: string;
  /** `native`, or the token's address. */
  readonly token: string;
  /** The vault's chain, if absent. */
  readonly chainId?: number;
  readonly label?: string;
  /** ISO 8601. */
  readonly expires?: string;
  /** The total that the browser shows. */
  readonly total: { readonly currency: string; readonly value: string; readonly label?: string };
}

/**
 * The payer's passkey, so that the page asks for that one alone. A hint: the page believes none of it. With the key it
 * shows the order at once.
 */
export interface Payer {
  readonly credentialId: string;
  readonly account: string;
  readonly pubKeyX?: string | undefined;
  readonly pubKeyY?: string | undefined;
}

/** Hints for your server, which checks them. One without `txHash` was sent and is not confirmed yet. */
export interface PayReceipt {
  readonly userOpHash: string;
  readonly account?: string;
  readonly txHash?: string;
  readonly chainId?: number;
  readonly token?: string;
}

/** How an order is shown: `browser` is its Payment Request API; else that if it can, else a popup, else a link. */
export interface PayOptions {
  readonly via?: 'browser' | 'popup' | 'link';
  /** Where a link leads back to; this page, if absent. */
  readonly returnUrl?: string;
  /** If absent, the last person who signed up or in with this client. */
  readonly payer?: Payer | undefined;
}

/** The result of a payment by link. */
export interface PayReturn extends Partial<PayReceipt> {
  readonly id: string;
  readonly error?: string;
}

interface Shown {
  readonly id: string;
  readonly data: object;
  readonly total: object;
}

/**
 * Shows an order to the person; call it from a click. Rejects with the page's word, such as `cancelled`, with
 * `not_paid_yet`, or with a `TypeError` that names the member of the order that is missing or wrong.
 */
export async function pay(url: string, info: VaultInfo, order: PayOrder, { via, returnUrl, payer }: PayOptions = {}) {
  demandMembers(order, { ...TERMS, total: [isTotal, '{ currency: "USD", value: "1.25" }'] });
  const { id, total, ...data } = order;
  const { label = data.label ?? id, currency, value } = total;
  const sheet: Shown = { id, data, total: { label, amount: { currency, value } } };
  const shown = async (): Promise<Shown> => ({
    ...sheet,
    data: { ...data, payer, chainId: order.chainId ?? (await info()).status.chainId },
  });
  const origin = new URL(url).origin;
  if (via === 'link') return byLink(origin, await shown(), returnUrl);
  const isTried = via === undefined && 'PaymentRequest' in globalThis;
  if (via === 'browser' || isTried) {
    const receipt = await byBrowser(origin, sheet, shown, isTried);
    if (receipt) return receipt;
  }
  const popup = openPage('pay', origin);
  if (popup) return askPopup<PayReceipt>('pay', popup, shown());
  if (via === 'popup') throw fault('payment_blocked');
  return byLink(origin, await shown(), returnUrl);
}

function isTotal(total: unknown): boolean {
  const { currency, value } = (total ?? {}) as Partial<PayOrder['total']>;
  return typeof currency === 'string' && typeof value === 'string';
}

/** Undefined where the browser has no payment handlers, and something else can be tried. */
async function byBrowser(
  origin: string,
  sheet: Shown,
  shown: () => Promise<Shown>,
  isTried: boolean,
): Promise<PayReceipt | undefined> {
  const ask = ({ id, data, total }: Shown) =>
    new PaymentRequest([{ supportedMethods: `${origin}/pay`, data }], { id, total } as never);
  try {
    // Asked without the vault: a browser that has no handlers has to open a window for the same click.
    if (isTried && !(await ask(sheet).canMakePayment())) return undefined;
    const response = await ask(await shown()).show();
    // The receipt is there, also where the browser's sheet has ended meanwhile.
    await response.complete('success').catch(() => undefined);
    return response.details as PayReceipt;
  } catch (cause) {
    // No handler, or a page whose policy forbids payments.
    if (isTried && /^(?:NotSupported|Security)Error$/.test((cause as Error).name)) return undefined;
    throw cause instanceof VaultClientError ? cause : fault('not_paid_yet', { cause });
  }
}

/** A link ends for good: each one is new, for the same order. */
function byLink(origin: string, { data, ...shown }: Shown, returnUrl: string | undefined): Promise<never> {
  const expires = new Date(Date.now() + 240_000).toISOString();
  return followLink('pay', origin, { ...shown, data: { expires, ...data } }, returnUrl);
}

/**
 * The result with which a payment by link returned to this page; undefined if there is none. It is read once: the
 * address is cleared.
 */
export function returned(): PayReturn | undefined {
  return returnedBy('pay');
}
