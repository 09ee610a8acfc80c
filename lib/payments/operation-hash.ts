/** The hash of a user operation. Only a vault with a bundler loads this file. */
import * as UserOperation from 'ox/erc4337/UserOperation';
import { KNOWN_ENTRY_POINTS } from '../../client/known-accounts.ts';

/**
 * The hash of an operation, computed here and never asked of the bundler. It is a hint where to look, and a wrong one
 * only finds nothing. Undefined for an operation that no EntryPoint takes, such as one with gas of more than 128 bits.
 */
export function operationHash(
  { chainId, entryPoint }: { readonly chainId: number; readonly entryPoint: string },
  operation: Readonly<Record<string, unknown>>,
): string | undefined {
  const entryPointVersion = entryPoint === ENTRY_POINT_0_7 ? '0.7' : '0.8';
  const entryPointAddress = entryPoint as `0x${string}`;
  try {
    const plain = UserOperation.fromRpc(operation as never);
    return UserOperation.hash(plain, { chainId, entryPointAddress, entryPointVersion });
  } catch {
    return undefined;
  }
}

/** Hashes operations in its own way; 0.8 and 0.9 hash by EIP-712. */
const ENTRY_POINT_0_7 = KNOWN_ENTRY_POINTS[0].toLowerCase();
