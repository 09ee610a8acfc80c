// The bytes of an approval's signature, taken apart.
import { messages } from './approval-terms.ts';
import { bytesOf, toHex } from './bytes.ts';
import { argumentsIn } from './call-data.ts';
import type { TypedMessage } from './messages.ts';
import { type RawAssertion, readPacked } from './packed-assertion.ts';

/** A signature whose form is right. */
export interface ReadSignature {
  /** What the account itself takes, without the creation around it: hex without 0x. */
  readonly inner: string;
  readonly assertion: RawAssertion;
  /** The creation that it carries (ERC-6492). */
  readonly creation: { readonly factory: string; readonly key: string } | undefined;
}

/** The end of a signature that carries a creation (ERC-6492). */
const MAGIC = '6492'.repeat(16);
/** The factories' `createAccount(uint256,uint256,uint256)`. */
const CREATE_ACCOUNT = '4c1ed7f5';
/** Four times that of an assertion whose client data holds more than browsers write there. */
const DIGITS_MAX = 16_384;

/** Undefined where it has another form: also where the part that names the typed data is of another approval. */
export function readSignature(signature: string, kind: 1 | 2, typed: TypedMessage): ReadSignature | undefined {
  const all = signature.slice(2).toLowerCase();
  if (all.length > DIGITS_MAX) return undefined;
  const isWrapped = all.endsWith(MAGIC);
  const wrapped = argumentsIn(`0x00000000${all}`);
  const inner = isWrapped ? wrapped.bytes(2)?.slice(2) : all;
  const creation = isWrapped ? creationIn(wrapped.word(0), wrapped.bytes(1)) : undefined;
  if (inner === undefined || (isWrapped && !creation)) return undefined;
  const packed = packedIn(inner, kind, typed);
  const assertion = packed === undefined ? undefined : readPacked(packed);
  return assertion && { inner, assertion, creation };
}

function creationIn(factory: bigint | undefined, data: string | undefined): ReadSignature['creation'] {
  const key = new RegExp(`^0x${CREATE_ACCOUNT}([0-9a-f]{192})$`).exec(data ?? '')?.[1];
  return key === undefined || factory === undefined
    ? undefined
    : { factory: `0x${factory.toString(16).padStart(40, '0')}`, key };
}

/** An account of the second kind has the key's index before, and behind it what ERC-7739 nests. */
function packedIn(inner: string, kind: 1 | 2, typed: TypedMessage): string | undefined {
  if (kind === 1) return inner;
  const nested = toHex(messages.accountSignature({ kind }, bytesOf('0x'), { typed })).slice(2);
  return inner.endsWith(nested) ? inner.slice(2, -nested.length) : undefined;
}
