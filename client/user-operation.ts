import { bytesOf, fixed, join, number } from './bytes.ts';

/** A user operation as ERC-4337 packs it; texts are 0x-hex. */
export interface PackedUserOperation {
  readonly sender: string;
  readonly nonce: bigint;
  readonly initCode: string;
  readonly callData: string;
  readonly verificationGasLimit: bigint;
  readonly callGasLimit: bigint;
  readonly preVerificationGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly paymasterAndData: string;
}

/** The EntryPoint and chain of a user operation; from version 0.8 on it hashes by EIP-712. */
export interface UserOperationDomain {
  readonly version: '0.7' | '0.8' | '0.9';
  readonly entryPoint: string;
  readonly chainId: number | bigint;
}

/** The fixed fields in the enclave's form. Throws a `RangeError` or `TypeError` for a field that does not fit. */
export function fieldsOf(op: PackedUserOperation, { entryPoint, chainId }: UserOperationDomain): Uint8Array {
  return join([
    fixed(bytesOf(op.sender), 20),
    number(op.nonce, 32),
    number(op.verificationGasLimit, 16),
    number(op.callGasLimit, 16),
    number(op.preVerificationGas, 32),
    number(op.maxPriorityFeePerGas, 16),
    number(op.maxFeePerGas, 16),
    fixed(bytesOf(entryPoint), 20),
    number(BigInt(chainId), 32),
  ]);
}

/** The parts of variable length, as this version hashes them. Throws a `RangeError` or `TypeError`. */
export function dynamicOf(
  { initCode, callData, paymasterAndData }: PackedUserOperation,
  { version }: UserOperationDomain,
): readonly Uint8Array[] {
  const paymaster = bytesOf(paymasterAndData);
  return [bytesOf(initCode), bytesOf(callData), version === '0.9' ? signedPaymaster(paymaster) : paymaster];
}

/**
 * The part of `paymasterAndData` that EntryPoint 0.9 hashes: all but the paymaster's signature and its length, which
 * precede `PAYMASTER_MAGIC` at the end.
 */
function signedPaymaster(bytes: Uint8Array): Uint8Array {
  const suffix = bytes.length - SUFFIX_BYTES;
  const [high = 0, low = 0, ...magic] = bytes.subarray(suffix);
  if (suffix < FIXED_BYTES || magic.join() !== PAYMASTER_MAGIC.join()) return bytes;
  const length = (high << 8) | low;
  if (length > suffix - FIXED_BYTES) throw new RangeError('a paymaster’s signature longer than its data');
  return length === 0 ? bytes : join([bytes.subarray(0, suffix - length), PAYMASTER_MAGIC]);
}

/** The first 8 bytes of keccak256 of `PaymasterSignature`. */
const PAYMASTER_MAGIC = bytesOf('0x22e325a297439656');
/** Length and magic. */
const SUFFIX_BYTES = 10;
/** Paymaster and its two gas limits. */
const FIXED_BYTES = 52;
