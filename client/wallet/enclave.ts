// The calls of the enclave (`/enclave.wasm`) that a payment needs. Private keys stay in the authenticator.
import { bytesOf } from '../bytes.ts';
import { startModule } from '../load.ts';
import { createParsers } from '../parsers.ts';
import type { UserOperationDomain } from '../user-operation.ts';
import { ABI_VERSION } from '../window.ts';
import { type Hex, toHex } from './bytes.ts';
import { initCodeOf, type Operation, paymasterAndDataOf } from './operation.ts';

/** Hashes and packs the bytes that are signed. All calls throw what the enclave throws. */
export interface Enclave {
  keccak256(bytes: Uint8Array): Uint8Array;
  /** An assertion, its signature in DER, as the account's contract reads it. */
  packAssertion(assertion: SignedAssertion): Hex;
  /** r‖s of a signature in DER. */
  rawSignature(der: Uint8Array): Uint8Array;
  /** The hash that the passkey of an account of kind 1 signs. Throws a `TypeError` for an unknown EntryPoint. */
  userOpHash(operation: Operation, entryPoint: Hex, chainId: number): Uint8Array<ArrayBuffer>;
  /** The digest that the passkey of an account of kind 2 signs; `validUntil` is in seconds. */
  operationDigest(userOpHash: Uint8Array, validUntil: number): Uint8Array<ArrayBuffer>;
}

interface SignedAssertion {
  readonly authenticatorData: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  readonly signature: Uint8Array;
}

/** Named by its version, so that caches keep no older one. */
const SOURCE = `/enclave.wasm?abi=${ABI_VERSION}`;

/** Loads the enclave from the vault or from bytes. Throws if they are not an enclave. */
export async function loadEnclave(source: string | Uint8Array = SOURCE): Promise<Enclave> {
  const module = await startModule(
    typeof source === 'string'
      ? await WebAssembly.compileStreaming(fetch(source))
      : await WebAssembly.compile(new Uint8Array(source)),
  );
  const enclave = createParsers(module);
  return {
    keccak256: (bytes) => module.window.hash('keccak256', bytes),
    packAssertion: ({ authenticatorData, clientDataJSON, signature }) =>
      toHex(enclave.packAssertion(authenticatorData, clientDataJSON, enclave.rawSignature(signature))),
    rawSignature: (der) => enclave.rawSignature(der),
    operationDigest: (hash, validUntil) => enclave.operationDigest(hash, validUntil),
    userOpHash: (operation, entryPoint, chainId) => hashOf(enclave, operation, entryPoint, chainId),
  };
}

/** The EntryPoints whose hashes are known, lower-case. */
const ENTRY_POINTS = {
  '0x0000000071727de22e5e9d8baf0edac6f37da032': '0.7',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108': '0.8',
  '0x433709009b8330fda32311df1c2afa402ed8d009': '0.9',
} as const;

const NUMBERS = [
  ...(['nonce', 'verificationGasLimit', 'callGasLimit', 'preVerificationGas'] as const),
  ...(['maxPriorityFeePerGas', 'maxFeePerGas'] as const),
] as const;

function hashOf(
  enclave: ReturnType<typeof createParsers>,
  operation: Operation,
  entryPoint: Hex,
  chainId: number,
): Uint8Array<ArrayBuffer> {
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, BigInt(operation[name])]));
  const packed = {
    sender: operation.sender,
    initCode: toHex(initCodeOf(operation)),
    callData: toHex(bytesOf(operation.callData)),
    paymasterAndData: toHex(paymasterAndDataOf(operation)),
    ...(numbers as Record<(typeof NUMBERS)[number], bigint>),
  };
  const version = (ENTRY_POINTS as Readonly<Record<string, UserOperationDomain['version']>>)[entryPoint.toLowerCase()];
  if (version === undefined) throw new TypeError(`no known EntryPoint: ${entryPoint}`);
  return enclave.userOpHash(packed, { version, entryPoint, chainId });
}
