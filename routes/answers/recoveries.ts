import * as v from 'valibot';
import { Address, about, Count, Hash, Seconds, Time, words } from './common.ts';

/** The arguments of `setGuardian`, which the account's owner calls. */
export const Commitment = v.object({ guardian: Address, delaySecondsMin: Seconds, commitment: Hash });

/** The accounts that an address may recover, as far as the vault knows them. */
export const RecoverableAccounts = v.object({ accounts: v.array(Address) });

/** A recovery is open: `submitted` until the chain shows its proposal. */
export const RecoveryOpened = v.object({
  ok: v.literal(true),
  status: words('submitted', 'proposed', 'finished', 'vetoed', 'lapsed'),
  smartAccount: Address,
  txHash: v.nullable(Hash),
  readyAt: v.nullable(Time),
});

/** How the recovery of an account stands. */
export const RecoveryState = v.object({
  smartAccount: Address,
  state: about(
    words('guarded', 'unguarded', 'not_ours'),
    'Whether this vault is the guardian of the account; `not_ours` for anything but an unchanged account of its factory',
  ),
  barredUntil: v.nullable(Time),
  recovery: v.nullable(
    v.object({
      id: about(v.nullable(Count), "Its number in the account's contract"),
      status: words(
        'submitted',
        'proposed',
        'ready',
        'finishing',
        'finished',
        'vetoed',
        'cancelled',
        'lapsed',
        'failed',
      ),
      final: v.boolean(),
      pubKeyX: Hash,
      pubKeyY: Hash,
      label: Hash,
      txHash: v.nullable(Hash),
      readyAt: v.nullable(Time),
      lapsesAt: v.nullable(Time),
      endedAt: v.nullable(Time),
      reason: v.nullable(v.string()),
    }),
  ),
});

/** A veto is on its way, or was made. */
export const VetoSent = v.object({
  ok: v.literal(true),
  status: words('submitted', 'vetoed'),
  txHash: v.nullable(Hash),
});

/** The guardian withdraws what is open. */
export const RecoveryWithdrawn = v.object({ ok: v.literal(true), status: v.literal('submitted') });

/** The second address for mails about recoveries, masked. */
export const Contact = v.object({ ok: v.literal(true), contact: v.nullable(v.string()) });

/** The recoveries that the operator sees, the newest first. */
export const Recoveries = v.object({
  recoveries: v.array(
    v.object({
      id: Count,
      app: v.string(),
      account: Address,
      identifier: about(v.nullable(v.string()), 'Masked; null once it is forgotten'),
      foreign: about(v.boolean(), "Proposed by another copy of the guardian's key"),
      status: words('queued', 'proposed', 'finished', 'vetoed', 'cancelled', 'lapsed', 'failed'),
      final: v.boolean(),
      stopped: v.boolean(),
      number: v.nullable(Count),
      reason: v.nullable(v.string()),
      txHash: v.nullable(Hash),
      createdAt: Time,
      readyAt: v.nullable(Time),
      endedAt: v.nullable(Time),
    }),
  ),
});
