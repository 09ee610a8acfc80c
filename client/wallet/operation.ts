// User operations (ERC-4337, EntryPoint 0.7 to 0.9) of passkeys' accounts.
import { bytesOf } from '../bytes.ts';
import type { AccountKind } from './account.ts';
import { type Hex, quantity, word } from './bytes.ts';
import { CALL_GAS_MIN, VERIFICATION_GAS_MIN, VERIFICATION_GAS_WITHOUT_P256 } from './constants.ts';

/** A user operation as bundlers accept it (ERC-7769): 0x-hex, quantities without leading zeros. */
export interface Operation {
  readonly sender: Hex;
  readonly nonce: Hex;
  readonly factory?: Hex;
  readonly factoryData?: Hex;
  readonly callData: Hex;
  readonly callGasLimit: Hex;
  readonly verificationGasLimit: Hex;
  readonly preVerificationGas: Hex;
  readonly maxFeePerGas: Hex;
  readonly maxPriorityFeePerGas: Hex;
  readonly paymaster?: Hex;
  readonly paymasterVerificationGasLimit?: Hex;
  readonly paymasterPostOpGasLimit?: Hex;
  readonly paymasterData?: Hex;
  /** EntryPoint 0.9: behind the data, and not part of what the account signs. */
  readonly paymasterSignature?: Hex;
  readonly signature: Hex;
}

/** A transfer of `amount` of the token's smallest unit, of wei where it is `native`. */
export interface Transfer {
  readonly to: Hex;
  readonly amount: bigint;
  readonly token: 'native' | Hex;
}

/** The call that moves the money: a transfer of ether, or the token's own `transfer`. */
export function callDataOf({ to, amount, token }: Transfer): Hex {
  if (token === 'native') return execute(to, amount, '');
  return execute(token, 0n, `${TRANSFER}${word(to)}${word(amount)}`);
}

/** One call that an account makes; `value` in wei. */
export interface AccountCall {
  readonly target: Hex;
  readonly value?: bigint;
  readonly data?: Hex;
}

/** Several calls in order, all or none: `executeBatch`. */
export function batchOf(calls: readonly AccountCall[]): Hex {
  const tuples = calls.map(({ target, value = 0n, data = '0x' }) => callWords(target, value, data.slice(2)));
  let at = calls.length * 32;
  const offsets = tuples.map((tuple) => {
    const offset = word(BigInt(at));
    at += tuple.length / 2;
    return offset;
  });
  return `${EXECUTE_BATCH}${word(0x20n)}${word(BigInt(calls.length))}${offsets.join('')}${tuples.join('')}`;
}

/** The call that deploys the account of a key at salt 0. */
export function factoryDataOf(x: Hex, y: Hex): Hex {
  return `${CREATE_ACCOUNT}${word(x)}${word(y)}${word(0n)}`;
}

/** An operation before gas, paymaster and signature are known. */
export function draftOperation(draft: Draft): Operation {
  const { creation, kind, p256, ...members } = draft;
  return {
    ...members,
    ...(creation ?? {}),
    callGasLimit: quantity(CALL_GAS_MIN),
    verificationGasLimit: quantity(VERIFICATION_GAS_MIN + (p256 ? 0n : VERIFICATION_GAS_WITHOUT_P256)),
    preVerificationGas: '0x0',
    signature: kind === 2 ? `${signatureHead(0, NEVER)}${SIGNATURE_IN_FORM.slice(2)}` : SIGNATURE_IN_FORM,
  };
}

/** An operation's sender, calls and fees. */
export interface Draft {
  readonly sender: Hex;
  readonly nonce: Hex;
  readonly callData: Hex;
  readonly kind: AccountKind;
  readonly creation: Creation | undefined;
  readonly maxFeePerGas: Hex;
  readonly maxPriorityFeePerGas: Hex;
  /** Whether the chain has a precompile for P-256. */
  readonly p256: boolean;
}

/** The call that deploys the account. */
export interface Creation {
  readonly factory: Hex;
  readonly factoryData: Hex;
}

/** The first bytes of a signature of kind 2: the key's index, and the last second in which the operation is valid. */
export function signatureHead(index: number, validUntil: number): Hex {
  return `0x${word(BigInt(index)).slice(-2)}${word(BigInt(validUntil)).slice(-12)}`;
}

/** The longest end that an account takes: the next bit means something else to EntryPoints. */
const NEVER = 2 ** 47 - 1;

/** The operation with the gas and paymaster members of a bundler's or sponsor's answer. Throws if one is not hex. */
export function withGas(operation: Operation, given: unknown): Operation {
  const record = (given ?? {}) as Readonly<Record<string, unknown>>;
  const taken: Record<string, string> = {};
  // Bundlers answer a paymaster's gas limits, as zeros, also where there is none.
  for (const name of record['paymaster'] ? [...GAS_LIMITS, ...PAYMASTER] : GAS_LIMITS) {
    const value = record[name] ?? undefined;
    if (value === undefined) continue;
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]*$/.test(value)) throw new TypeError(`${name} is not hex`);
    taken[name] = value;
  }
  for (const name of ['callGasLimit', 'verificationGasLimit'] as const) {
    if (BigInt(taken[name] ?? '0x0') < BigInt(operation[name])) taken[name] = operation[name];
  }
  return { ...operation, ...taken };
}

/** The most that the account pays for it, in wei; 0 with a sponsor. */
export function feeOf(operation: Operation): bigint {
  return operation.paymaster === undefined ? costOf(operation) : 0n;
}

/** The most that it costs its account or its sponsor, in wei. */
export function costOf(operation: Operation): bigint {
  const limits = [...GAS_LIMITS, 'paymasterVerificationGasLimit', 'paymasterPostOpGasLimit'] as const;
  return limits.reduce((sum, name) => sum + BigInt(operation[name] ?? '0x0'), 0n) * BigInt(operation.maxFeePerGas);
}

/** The `initCode` of the packed form. */
export function initCodeOf({ factory, factoryData = '0x' }: Operation): Uint8Array<ArrayBuffer> {
  return bytesOf(factory === undefined ? '0x' : `${factory}${factoryData.slice(2)}`);
}

/**
 * The `paymasterAndData` of the packed form: the paymaster, its two gas limits of 16 bytes each, its data, and where it
 * signs by itself its signature, that one's length and a mark.
 */
export function paymasterAndDataOf(operation: Operation): Uint8Array<ArrayBuffer> {
  const { paymaster, paymasterData = '0x', paymasterSignature = '0x' } = operation;
  if (paymaster === undefined) return new Uint8Array();
  const limits = [operation.paymasterVerificationGasLimit, operation.paymasterPostOpGasLimit];
  const gas = limits.map((limit = '0x0') => word(BigInt(limit)).slice(32)).join('');
  const own = paymasterSignature.slice(2);
  const suffix = own === '' ? '' : `${own}${word(BigInt(own.length / 2)).slice(-4)}${PAYMASTER_MAGIC}`;
  return bytesOf(`${paymaster}${gas}${paymasterData.slice(2)}${suffix}`);
}

const GAS_LIMITS = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'] as const;
const PAYMASTER = [
  ...(['paymaster', 'paymasterVerificationGasLimit', 'paymasterPostOpGasLimit'] as const),
  ...(['paymasterData', 'paymasterSignature'] as const),
] as const;
/** The suffix of a paymaster's own signature: the first 8 bytes of keccak256 of `PaymasterSignature`. */
const PAYMASTER_MAGIC = '22e325a297439656';

/**
 * Selectors of `execute(address,uint256,bytes)`, `executeBatch((address,uint256,bytes)[])`,
 * `transfer(address,uint256)` and `createAccount(uint256,uint256,uint256)`.
 */
const EXECUTE = '0xb61d27f6';
const EXECUTE_BATCH = '0x34fcd5be';
const TRANSFER = 'a9059cbb';
const CREATE_ACCOUNT = '0x4c1ed7f5';

/** `data` is hex without 0x. */
function execute(target: Hex, value: bigint, data: string): Hex {
  return `${EXECUTE}${callWords(target, value, data)}`;
}

/** Target, value and data of a call, the data by its offset. */
function callWords(target: Hex, value: bigint, data: string): string {
  const length = data.length / 2;
  const padded = data.padEnd(Math.ceil(length / 32) * 64, '0');
  return `${word(target)}${word(value)}${word(0x60n)}${word(BigInt(length))}${padded}`;
}

/**
 * A placeholder as long as a real signature, for estimates that count its bytes: two halves in range, 37 bytes of
 * authenticator data, 160 of client data.
 */
const SIGNATURE_IN_FORM: Hex = (() => {
  const client = '{"type":"webauthn.get","challenge":"'.padEnd(160, 'A');
  const text = Array.from(client, (letter) => letter.charCodeAt(0).toString(16)).join('');
  const authenticator = `${'11'.repeat(32)}0500000001`.padEnd(128, '0');
  const head = [word(3n ** 160n), word(5n ** 100n), word(23n), word(1n), word(0xc0n), word(0x120n)].join('');
  return `0x${head}${word(37n)}${authenticator}${word(160n)}${text}`;
})();
