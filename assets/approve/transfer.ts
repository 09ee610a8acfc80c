// The transfer of USDC that an app asks for: an authorization by EIP-3009, which the token itself takes.
import { checksum } from '../../client/checksum.ts';
import { keccak256 } from '../../client/keccak.ts';
import {
  AUTHORIZATION_SECONDS_MAX,
  type TokenDomain,
  type TransferAuthorization,
} from '../../client/transfer-authorization.ts';
import { usdcDomainOf } from '../../client/usdc.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { printable } from '../wallet/printable.ts';
import { addressIn, chainIn, unitsIn } from '../wallet/terms.ts';

/** A transfer whose form is right: times in seconds since 1970, addresses in lower case. */
export interface Transfer {
  readonly token: TokenDomain;
  /** The account that pays, where the app names it. */
  readonly from: Hex | undefined;
  readonly to: Hex;
  readonly amount: bigint;
  readonly validAfter: number;
  readonly validBefore: number;
  readonly nonce: Hex;
  /** The app's words for it, which are not signed. */
  readonly label: string | undefined;
}

/** Why a transfer cannot be approved. */
export type TransferFault =
  | ('bad_to' | 'bad_checksum' | 'bad_amount' | 'bad_token' | 'bad_validity' | 'bad_nonce' | 'bad_from')
  | 'other_chain';

type Given = Readonly<Record<string, unknown>>;

/** Reads a transfer of the USDC of this chain; or says what is wrong with it. `now` is in seconds. */
export function readTransfer(
  { authorization, token, label }: Given,
  { now, chainId }: { readonly now: number; readonly chainId: number },
): Transfer | TransferFault {
  const { chainId: chain, address: contract } = (token ?? {}) as Given;
  const { from, to, value, validAfter, validBefore, nonce } = (authorization ?? {}) as Given;
  if (chainIn(chain) !== chainId) return 'other_chain';
  const usdc = usdcDomainOf(chainId);
  if (!usdc || addressIn(contract, keccak256) !== usdc.address.toLowerCase()) return 'bad_token';
  const [payer, payee] = [from, to].map((one) => addressIn(one, keccak256));
  if (payer === 'misspelt' || payee === 'misspelt') return 'bad_checksum';
  // Tokens sent to their own contract, or to the zero address, are lost.
  if (payee === undefined || BigInt(payee) === 0n || payee === usdc.address.toLowerCase()) return 'bad_to';
  if (from !== undefined && payer === undefined) return 'bad_from';
  const amount = unitsIn(value);
  if (amount === undefined) return 'bad_amount';
  const [after, before] = [validAfter, validBefore].map(secondsIn);
  if (after === undefined || before === undefined || after > now || before > now + AUTHORIZATION_SECONDS_MAX)
    return 'bad_validity';
  if (typeof nonce !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(nonce)) return 'bad_nonce';
  const words = typeof label === 'string' ? printable(label) : '';
  return {
    ...{ token: { ...usdc, chainId }, from: payer, to: payee, amount, validAfter: after, validBefore: before },
    ...{ nonce: nonce.toLowerCase() as Hex, label: words || undefined },
  };
}

/** What the account signs of it. */
export function authorizationBy(
  account: string,
  { to, amount, validAfter, validBefore, nonce }: Transfer,
): TransferAuthorization {
  const [from, payee] = [account, to].map((one) => checksum(one.slice(2).toLowerCase(), keccak256)) as [Hex, Hex];
  return {
    ...{ from, to: payee, value: String(amount) },
    ...{ validAfter: String(validAfter), validBefore: String(validBefore), nonce },
  };
}

/** Seconds as x402 writes them; a time that is later than any date counts as none. */
function secondsIn(value: unknown): number | undefined {
  return typeof value === 'string' && /^(?:0|[1-9]\d{0,11})$/.test(value) ? Number(value) : undefined;
}
