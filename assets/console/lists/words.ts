// The API's words, explained for people.
import type { Registration, Session } from './rows.ts';

/** A state: its look, and its words. */
export interface StateWords {
  readonly look: 'good' | 'warn' | 'bad' | 'unused';
  readonly text: string;
}

/** The state of a registration in a few words. */
export function registrationState({ status, failure, lost, blockNumber, final }: Registration): StateWords {
  if (status === 'failed') return { look: 'bad', text: `Failed: ${reasonOf(failure)}` };
  if (lost !== null) return { look: 'warn', text: `Lost its handle: ${reasonOf(lost)}` };
  if (status === 'submitted') return { look: 'warn', text: 'Waiting for its block' };
  const block = blockNumber === null ? 'Confirmed' : `Confirmed in block ${blockNumber}`;
  return { look: 'good', text: final ? block : `${block}, not final yet` };
}

/** The state of a session in a few words. */
export function sessionState({ status }: Session): StateWords {
  if (status === 'linked') return { look: 'good', text: 'Linked to its DID' };
  return status === 'open' ? { look: 'warn', text: 'Open' } : { look: 'unused', text: 'Lapsed' };
}

/** A kind of identifier. */
export function kindOf(channel: string): string {
  return KINDS[channel] ?? channel;
}

/** Why something failed, as the second half of a sentence. */
export function reasonOf(word: string | null): string {
  return REASONS[word ?? ''] ?? (word ?? 'no reason is known').replaceAll('_', ' ');
}

const KINDS: Readonly<Record<string, string>> = { email: 'Email', sms: 'Phone', handle: 'Handle' };

const REASONS: Readonly<Record<string, string>> = {
  reverted: 'the transaction reverted',
  other_did: 'the transaction registered another DID',
  unseen: 'the chain never showed the transaction',
  proof_invalid: "the passkey's proof was wrong",
  did_not_yours: 'the DID belongs to another account',
  undone: 'the operator undid it',
  displaced: 'a proven registration took its place',
  alias_elsewhere: 'its alias leads to another DID',
  did_taken: 'the DID is registered already',
  controller_taken: 'the account controls another DID',
  not_registrar: 'the vault is not the registrar of the contract',
  consent_expired: "the account's consent had ended",
  consent_invalid: "the account's consent was wrong",
  not_key_of: 'the key does not belong to the account',
  no_event: 'the transaction did nothing',
  no_registry: 'there is no registry at its address',
  withdrawn: 'nothing was signed in time',
};

/** The delivery states of a message. */
export const DELIVERIES: Readonly<Record<string, string>> = {
  pending: 'being sent',
  accepted: 'delivered to the provider',
  refused: 'refused by the provider',
  lost: 'lost with its process',
};

/** The states of the vault's own call. */
export const RELAYS: Readonly<Record<string, string>> = {
  queued: 'Queued',
  signed: 'Signed and sent',
  mined: 'In a block',
  confirmed: 'Final',
  failed: 'Failed',
};
