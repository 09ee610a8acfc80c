import type { Call } from './call.ts';
import type { Memory, Progress } from './progress.ts';
import type { VaultInfo } from './vault-info.ts';

/** A request for the code that was sent. */
export interface CodeRequest {
  readonly identifier: string;
  readonly channel: 'email' | 'sms';
  /** Until when the code works, and from when on another one can be sent; in milliseconds of this device's clock. */
  readonly endsAt: number;
  readonly nextAt: number;
  /** The vault's refusal of the last code, or `Too soon` where no other code can be sent before `nextAt`. */
  readonly problem: 'Incorrect code' | 'Code expired' | 'Too many attempts' | 'Too soon' | (string & {}) | undefined;
  readonly attemptsRemaining: number | undefined;
}

/** The code. `{ resend: true }`, or an empty text, sends another one; null or undefined gives up. */
export type CodeAnswer = string | { readonly resend: true } | null | undefined;

/** Asks the person for the code. */
export type AskCode = (request: CodeRequest) => Promise<CodeAnswer> | CodeAnswer;

/** The options for proving an address. */
export interface Proving {
  readonly askCode: AskCode;
  /** A pass of an earlier mail. */
  readonly pass?: string | undefined;
  /** The language of the message. */
  readonly language?: string | undefined;
}

/** The steps of a registration, in order; `operation` only where the account registers its DID itself. */
export type RegisterStep = 'code' | 'passkey' | 'operation' | 'proof' | 'record' | 'submitted' | 'confirmed';

/** The parts that a registration works with. */
export interface Registrar {
  readonly call: Call;
  readonly memory: Memory;
  readonly info: VaultInfo;
  /** Where the vault is. */
  readonly url: string;
}

/** The proof of one address by codes. */
export interface CodeRun extends Omit<Partial<Proving>, 'askCode'> {
  readonly call: Call;
  readonly signal?: AbortSignal | undefined;
  readonly invite?: string | undefined;
  readonly progress: () => Progress;
  readonly keep: (change: Partial<Progress>) => void;
}

/** One run of a registration: its parts, and its progress. */
export interface RegistrationRun extends Registrar, Omit<CodeRun, 'call'>, Partial<Proving> {
  /** Says that a step begins, and waits for the page. */
  readonly step: (name: RegisterStep) => Promise<void>;
}
