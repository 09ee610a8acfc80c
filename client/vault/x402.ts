// HTTP 402 as x402 writes it, version 2 in headers and version 1 in the body.
import { utf8 } from '../bytes.ts';
import { cappedText } from '../capped-text.ts';
import type { TransferAnswer } from '../transfer-authorization.ts';
import { fromBase64url } from '../wallet/bytes.ts';
import { fault, parseJson } from './error.ts';

/** The header of the request that is sent again, by the version that asked. */
export type PaymentHeaders = { readonly 'PAYMENT-SIGNATURE': string } | { readonly 'X-PAYMENT': string };

/** The entry of a 402 that is paid. All of it are a stranger's words: the page judges them, and shows them. */
export interface Requirement {
  readonly payTo: unknown;
  readonly value: unknown;
  /** How long the payment may take. */
  readonly seconds: number;
  readonly label: unknown;
  headersFor(answer: TransferAnswer): PaymentHeaders;
}

type Members = Readonly<Record<string, unknown>>;

/** Version 1 gives names to networks. */
const NETWORKS: Members = { 'base-sepolia': 'eip155:84532', base: 'eip155:8453' };
/** The longest body that is read. */
const BODY_BYTES_MAX = 65_536;
const SECONDS = 300;

/**
 * The entry of a 402 that takes this USDC by an authorization. Throws a `TypeError` for another status, `not_offered`
 * where there is none.
 */
export async function readRequirement(response: Response, chainId: number, usdc: string): Promise<Requirement> {
  if (response.status !== 402) throw new TypeError(`pay: the response has status ${response.status}; expected 402`);
  const header = response.headers.get('payment-required');
  const said = membersOf(parseJson(header === null ? await bodyOf(response) : textOf(header)));
  const { x402Version: version, accepts, resource, extensions } = said;
  const entries = Array.isArray(accepts) ? accepts.map(membersOf) : [];
  const accepted = entries.find(({ scheme, network, asset, extra }) => {
    const { assetTransferMethod = 'eip3009' } = membersOf(extra);
    const isHere = isText(network) && (NETWORKS[network] ?? network) === `eip155:${chainId}`;
    return scheme === 'exact' && isHere && isSame(asset, usdc) && assetTransferMethod === 'eip3009';
  });
  if (!accepted || (version !== 1 && version !== 2))
    throw fault('not_offered', { hint: `This 402 takes no USDC on chain ${chainId} by the scheme "exact".` });
  const { scheme, network, payTo, amount, maxAmountRequired, maxTimeoutSeconds, description } = accepted;
  const about = version === 2 ? membersOf(resource) : { description, url: accepted['resource'] };
  return {
    ...{ payTo, value: version === 2 ? amount : maxAmountRequired, label: about['description'] || about['url'] },
    seconds: secondsOf(maxTimeoutSeconds) || SECONDS,
    headersFor({ authorization, signature }) {
      const payload = { signature, authorization };
      if (version === 1) return { 'X-PAYMENT': encoded({ x402Version: 1, scheme, network, payload }) };
      return { 'PAYMENT-SIGNATURE': encoded({ x402Version: 2, resource, accepted, payload, extensions }) };
    },
  };
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isSame(one: unknown, other: string): boolean {
  return isText(one) && one.toLowerCase() === other.toLowerCase();
}

/** Whole seconds; 0 for nonsense. */
function secondsOf(value: unknown): number {
  return typeof value === 'number' ? Math.max(0, Math.floor(value)) : 0;
}

function textOf(base64: string): string {
  try {
    return new TextDecoder().decode(fromBase64url(base64));
  } catch {
    return '';
  }
}

/** A copy is read, so that the page can still read its own; empty where it is too long. */
async function bodyOf(response: Response): Promise<string> {
  return (await cappedText(response.clone().body, BODY_BYTES_MAX)) ?? '';
}

/** JSON in base64 with its padding, as x402 writes it. */
function encoded(value: object): string {
  return btoa(Array.from(utf8(JSON.stringify(value)), (byte) => String.fromCharCode(byte)).join(''));
}
