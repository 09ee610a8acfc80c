import type { Relay } from '../relay/relay.ts';
import { recoveryCommitment } from './commitment.ts';

/** The vault as guardian: the outbox of its key, and the commitments that only it can make. */
export interface Guardian {
  readonly relay: Relay;
  /** The commitment of an account to an identifier's key, 0x-hex. */
  commit(account: string, identifierKey: string): `0x${string}`;
}

/** The guardian of this private key. */
export function createGuardian(relay: Relay, privateKey: `0x${string}`): Guardian {
  return { relay, commit: (account, identifierKey) => recoveryCommitment(privateKey, account, identifierKey) };
}
