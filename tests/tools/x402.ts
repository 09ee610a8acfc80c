// The published packages of x402, as they are: what pays and what a facilitator is asked.
import { x402Client } from '@x402/core/client';
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402HTTPClient } from '@x402/fetch';

/** An account, as the packages know one. */
export type X402Signer = ConstructorParameters<typeof ExactEvmScheme>[0];

/** A payment as an API gets it, and the price that it is for. */
export interface X402Payment {
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: PaymentRequirements;
}

/** The members of an authorization (EIP-3009), as they travel. */
export type X402Authorization = Readonly<
  Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>
>;

const clientOf = (signer: X402Signer) => new x402Client().register('eip155:*', new ExactEvmScheme(signer));

/** A `fetch` that pays what it is asked for. */
export function payingFetch(signer: X402Signer): (url: string) => Promise<Response> {
  return wrapFetchWithPayment(fetch, clientOf(signer));
}

/** What the API says of the settlement. */
export function settlementOf({ headers }: Response): SettleResponse {
  return decodePaymentResponseHeader(headers.get('PAYMENT-RESPONSE') ?? '');
}

/** Has an account sign for the price of an API, which is not paid with it yet. */
export async function paymentFor(url: string, signer: X402Signer): Promise<X402Payment> {
  const [client, unpaid] = [clientOf(signer), await fetch(url)];
  const required = new x402HTTPClient(client).getPaymentRequiredResponse((name) => unpaid.headers.get(name));
  const paymentPayload = await client.createPaymentPayload(required);
  return { paymentPayload, paymentRequirements: paymentPayload.accepted };
}

/** Asks the API with a payment. */
export function payWith(url: string, { paymentPayload }: X402Payment): Promise<Response> {
  const headers = new x402HTTPClient(new x402Client()).encodePaymentSignatureHeader(paymentPayload);
  return fetch(url, { headers });
}

/** What a facilitator says of a payment: whether it verifies, and whether it settles. */
export async function judge(facilitator: string, payment: X402Payment) {
  const ask = async (path: string) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ x402Version: payment.paymentPayload.x402Version, ...payment });
    return (await fetch(`${facilitator}/${path}`, { method: 'POST', headers, body })).json();
  };
  const verified = (await ask('verify')) as VerifyResponse;
  return { verified, settled: (await ask('settle')) as SettleResponse };
}
