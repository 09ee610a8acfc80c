// Calls of contracts, encoded (Solidity ABI).
import { bytesOf, utf8 } from '../bytes.ts';
import { type Hex, toHex, word } from './bytes.ts';

/** A call of a contract. */
export interface Call {
  readonly to: Hex;
  readonly value: bigint;
  readonly data: Hex;
}

/** A static argument (a number, or hex of at most 32 bytes), or the bytes of a dynamic one. */
export type Argument = bigint | Hex | { readonly bytes: Hex };

/** The arguments of a call, as hex without 0x. */
export function encode(args: readonly Argument[]): string {
  let tail = '';
  const heads = args.map((arg) => {
    if (typeof arg !== 'object') return word(arg);
    const at = word(BigInt(args.length * 32 + tail.length / 2));
    tail += dynamic(arg.bytes);
    return at;
  });
  return heads.join('') + tail;
}

/** Length and padded bytes. */
function dynamic(bytes: Hex): string {
  const digits = bytes.slice(2);
  return word(BigInt(digits.length / 2)) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
}

/** Hashes bytes as Solidity does. */
export type Keccak = (bytes: Uint8Array) => Uint8Array;

/** The data of a call: the selector of a signature such as `transfer(address,uint256)`, and its arguments. */
export function dataOf(keccak256: Keccak, signature: string, args: readonly Argument[] = []): Hex {
  return `${toHex(keccak256(utf8(signature)).subarray(0, 4))}${encode(args)}`;
}

/** EIP-712 of a struct without dynamic members, in the account's own domain. */
export function typedDigest(
  keccak256: Keccak,
  { chainId, account }: { readonly chainId: number; readonly account: Hex },
  type: string,
  members: readonly Argument[],
): Uint8Array<ArrayBuffer> {
  const hash = (text: string) => toHex(keccak256(utf8(text)));
  const struct = (typeHash: Hex, ...args: readonly Argument[]) =>
    keccak256(bytesOf(`0x${encode([typeHash, ...args])}`));
  const domain = struct(
    hash('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
    hash('Vault Account'),
    hash('2'),
    BigInt(chainId),
    account,
  );
  return new Uint8Array(keccak256(new Uint8Array([0x19, 1, ...domain, ...struct(hash(type), ...members)])));
}
