import type { Call } from './call.ts';
import type { Known } from './known.ts';
import type { Memory, Progress } from './progress.ts';

/** The steps of a registration, in order; `operation` only where the account registers its DID itself. */
export type RegisterStep = 'code' | 'passkey' | 'operation' | 'proof' | 'record' | 'submitted' | 'confirmed';

/** What a registration works with. */
export interface Registrar {
  readonly call: Call;
  readonly memory: Memory;
  readonly known: Known;
  /** Where the vault is. */
  readonly url: string;
}

/** A registration on its way. */
export interface Way extends Registrar {
  readonly signal: AbortSignal | undefined;
  /** Says that a step begins, and waits for the page. */
  readonly step: (name: RegisterStep) => Promise<void>;
  readonly progress: () => Progress;
  readonly keep: (change: Partial<Progress>) => void;
}
