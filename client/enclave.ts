import { createHashes } from './hashes.ts';
import { createKeys } from './keys.ts';
import { loadModule } from './load.ts';
import { createMessages } from './messages.ts';
import { createParsers } from './parsers.ts';
import { createSharing } from './shares.ts';
import { EnclaveError } from './window.ts';

export type { Curve, EnclaveKey } from './keys.ts';
export type { MessageAccount, TypedMessage } from './messages.ts';
export type { PackedUserOperation, UserOperationDomain } from './user-operation.ts';
export { EnclaveError };

/**
 * The enclave (`docs/enclave.md`). A refused call throws `EnclaveError`; inputs and output of one call fit 8 KiB
 * together, but hashes take any length.
 */
export type Enclave = ReturnType<typeof createHashes> &
  ReturnType<typeof createParsers> &
  ReturnType<typeof createMessages> &
  ReturnType<typeof createKeys> &
  ReturnType<typeof createSharing>;

/**
 * Loads the enclave from its URL, or from its bytes; `sha256` is the digest, in hex, that it must have (`GET
 * /api/status` publishes it). Throws an `Error` for another digest or version, and for a module that imports anything
 * or shows its memory.
 */
export async function loadEnclave(
  source: string | URL | Uint8Array,
  options: { sha256?: string } = {},
): Promise<Enclave> {
  const module = await loadModule(source, options.sha256);
  const messages = createMessages((bytes) => module.window.hash('keccak256', bytes));
  const calls = { ...createHashes(module), ...createParsers(module), ...messages };
  return { ...calls, ...createKeys(module), ...createSharing(module) };
}
