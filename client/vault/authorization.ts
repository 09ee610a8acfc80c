// Payments by an authorization of USDC (EIP-3009), as x402 asks for them: a file of its own, loaded when somebody pays
// so.
import { isApprovalId } from '../approval-terms.ts';
import { demandMembers, TERMS } from '../order-members.ts';
import { authorizationNonce } from '../payment-nonce.ts';
import { AUTHORIZATION_SECONDS_MAX, type TransferAnswer } from '../transfer-authorization.ts';
import { toHex } from '../wallet/bytes.ts';
import type { Asked } from './approve.ts';
import type { PayOptions, PayOrder } from './pay.ts';
import { readUsdc } from './payment-signer.ts';
import type { VaultInfo } from './vault-info.ts';
import { type PaymentHeaders, readRequirement } from './x402.ts';

export { signer } from './payment-signer.ts';

/** An order that is paid by an authorization, of USDC. The same `id` is paid once from an account. */
export type AuthorizedOrder = Omit<PayOrder, 'total'>;

/** The answer to a 402: the authorization, and the headers with which the request is sent again. */
export interface PaidRequest extends TransferAnswer {
  readonly headers: PaymentHeaders;
}

/** How it is paid: `authorization` has the account sign for the token itself. */
export interface AuthorizeOptions extends Pick<PayOptions, 'returnUrl' | 'payer'> {
  readonly by: 'authorization';
  /** In a popup, and where that is blocked by a link, as far as an order is paid. */
  readonly via?: 'popup' | 'link';
}

/** An authorization counts from ten minutes ago, as x402 has it: the clocks of chain and device differ. */
const EARLIER_SECONDS = 600;
/** Without an end of its own an order can be paid for so long, as by the page of payments. */
const ORDER_SECONDS = 600;

/**
 * The request of an order, or of a 402. Throws a `TypeError` for an order with faults, and `not_offered` for a 402 that
 * takes no USDC of the vault's chain.
 */
export async function asked(
  order: AuthorizedOrder | Response,
  info: VaultInfo,
  { payer: person }: Pick<PayOptions, 'payer'>,
): Promise<Asked> {
  const { chainId, address, form } = await readUsdc(info);
  const now = Math.floor(Date.now() / 1000);
  const common = { form, token: { chainId, address }, person };
  const timesUntil = (end: number) => ({
    validAfter: String(now - EARLIER_SECONDS),
    validBefore: String(Math.min(end, now + AUTHORIZATION_SECONDS_MAX)),
  });
  if (!(order instanceof Response)) {
    const { id, to, amount, label, expires } = order;
    demandMembers(order, { ...TERMS, ...membersOf(chainId, address) });
    const end = expires === undefined ? now + ORDER_SECONDS : Math.floor(Date.parse(expires) / 1000);
    const nonce = await authorizationNonce({ origin: location.origin, id });
    const authorization = { to, value: String(BigInt(amount)), ...timesUntil(end), nonce };
    return { shown: { ...common, id, label, authorization } };
  }
  const { payTo, value, seconds, label, headersFor } = await readRequirement(order, chainId, address);
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(32)));
  const authorization = { to: payTo, value, ...timesUntil(now + seconds), nonce };
  return {
    shown: { ...common, id: nonce, label, authorization },
    answered: (answer: TransferAnswer): PaidRequest => ({ ...answer, headers: headersFor(answer) }),
  };
}

function membersOf(chainId: number, address: string) {
  const isUsdc = (value: unknown) => String(value).toLowerCase() === address.toLowerCase();
  return {
    // The page names a request so, and /pay takes any text.
    id: [isApprovalId, '1 to 128 characters of ASCII without blanks'],
    token: [isUsdc, `USDC's address on the vault's chain, ${address}`],
    chainId: [(value: unknown) => value === undefined || value === chainId, `the vault's chain, ${chainId}`],
    expires: [(value: unknown) => value === undefined || Date.parse(String(value)) > 0, 'ISO 8601'],
  } as const;
}
