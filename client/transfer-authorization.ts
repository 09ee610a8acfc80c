// EIP-3009: a transfer of a token that its owner signs, and that anybody can hand to the token.
import type { ApprovalAnswer } from './approval-question.ts';
import { bytesOf, fixed, join, number, utf8 } from './bytes.ts';
import { keccak256 } from './keccak.ts';
import { addressWord, DOMAIN_TYPE, type TypedMessage } from './messages.ts';

/** An authorization as x402 writes it: numbers as decimal texts, times in seconds since 1970. */
export interface TransferAuthorization {
  readonly from: string;
  /** The payee. */
  readonly to: string;
  /** In the token's smallest unit. */
  readonly value: string;
  /** It counts after this second, and before the other one. */
  readonly validAfter: string;
  readonly validBefore: string;
  /** 32 bytes. The token takes each of an account once. */
  readonly nonce: string;
}

/** The answer of the page: the authorization, and its signature as the token's `transferWithAuthorization` takes it. */
export interface TransferAnswer extends ApprovalAnswer {
  readonly authorization: TransferAuthorization;
}

/** A token as its domain of typed data names it. */
export interface TokenDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly address: string;
}

/** The type of all such authorizations, as the token hashes it. */
export const AUTHORIZATION_TYPE =
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)';

/** The longest time from a request to the end of its authorization. */
export const AUTHORIZATION_SECONDS_MAX = 3_600;

/** The typed data of an authorization: in the token's own domain. Throws for members of another form. */
export function authorizationOf(
  { from, to, value, validAfter, validBefore, nonce }: TransferAuthorization,
  { name, version, chainId, address }: TokenDomain,
): TypedMessage {
  const hash = (text: string) => keccak256(utf8(text));
  const word = (text: string | number) => number(BigInt(text), 32);
  const numbers = [value, validAfter, validBefore].map(word);
  return {
    domainSeparator: keccak256(join([...[DOMAIN_TYPE, name, version].map(hash), word(chainId), addressWord(address)])),
    contents: keccak256(
      join([hash(AUTHORIZATION_TYPE), addressWord(from), addressWord(to), ...numbers, fixed(bytesOf(nonce), 32)]),
    ),
    type: AUTHORIZATION_TYPE,
  };
}
