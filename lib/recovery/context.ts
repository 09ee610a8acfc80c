import type { PredictAddress } from '../chain/account-address.ts';
import type { EmailSender } from '../delivery/email.ts';
import type { Platform } from '../platform.ts';
import type { Guardian } from './guardian.ts';

/** The pause between two looks at the chain, which find the proposals of other copies of the key. */
export const RECOVERY_POLL_MS = 15_000;
/** The services that the parts of recovery share. */
export interface RecoveryContext
  extends Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics' | 'leases'> {
  readonly guardian: Guardian | undefined;
  readonly predict: PredictAddress;
  readonly email: EmailSender;
}

/** The parts with a guardian. */
export type GuardianContext = RecoveryContext & { readonly guardian: Guardian };

/** The chain as one turn sees it. */
export interface ChainView {
  readonly head: { readonly number: number; readonly time: number };
  readonly finalNumber: number;
  /** The guardian's address, lower-case. */
  readonly guardian: string;
  /** The guardians whose proposals are watched: the present one, and this vault's former ones. */
  readonly guardians: readonly string[];
}
