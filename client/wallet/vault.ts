// The parts of a vault that operations of accounts need, and its failures.
import type { Factories } from './account.ts';
import type { Hex } from './bytes.ts';

/** The chain that the vault pays on, and the relying party of its passkeys. */
export interface Config extends Factories {
  readonly rpId: string;
  /** The name that dialogs of passkeys show. */
  readonly rpName: string;
  readonly origin: string;
  readonly chainId: number;
  readonly chain: string;
  readonly entryPoint: Hex | null;
  readonly usdc: Hex | null;
  /** The most that an operation may cost in fees, in wei; the operator's bound. */
  readonly feeMax: string;
  /** Where people look at transactions; null if unknown. */
  readonly explorer: string | null;
}

/** Fees per unit of gas, the chain's time in seconds, its newest block, and whether it has a precompile for P-256. */
export interface Fees {
  readonly time: number;
  /** The number of the newest block. */
  readonly block: number;
  readonly p256: boolean;
  readonly maxFeePerGas: Hex;
  readonly maxPriorityFeePerGas: Hex;
}

/** The vault, the chain or the bundler does not answer, or answers nonsense. The result of the call is unknown. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** The vault or the bundler refused; `kind` and `aa` are the bundler's words for the reason. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly kind: string;
  readonly aa: string;

  constructor(message: string, kind: string, aa = '') {
    super(message);
    this.kind = kind;
    this.aa = aa;
  }
}
