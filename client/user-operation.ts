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

/** The EntryPoint and chain of a user operation; version 0.8 hashes by EIP-712. */
export interface UserOperationDomain {
  readonly version: '0.7' | '0.8';
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

/** The parts of variable length; they are hashed first. */
export function dynamicOf({ initCode, callData, paymasterAndData }: PackedUserOperation): readonly Uint8Array[] {
  return [bytesOf(initCode), bytesOf(callData), bytesOf(paymasterAndData)];
}
