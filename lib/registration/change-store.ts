import type { Condition, Statement } from '../db/database.ts';
import { emitEvents, emitRegistrationsFailed, registrationRows } from '../events/emit.ts';
import { barUndone, beginLooks, notePasskeyUse, rememberKeys, settleHolders } from '../holders/holders.ts';
import { type RelayRow, withdrawRelay } from '../relay/requests.ts';
import { freeAttestationIfChanged } from '../verification/attestation.ts';
import type { Registration } from './store.ts';

/** The chain's state of a registration whose event it has; `nextCheckAt` null ends the watch. */
export interface SeenRegistration {
  readonly chainId: number;
  readonly controller: string;
  /** The only key that it shows; null without one, and where it may have several. */
  readonly controllerKey: string | null;
  /** The keys that it shows now if it may have several. */
  readonly accountKeys: readonly string[] | null;
  /** The key with which the proof was verified; null without one. */
  readonly proofKey: string | null;
  readonly isLate: boolean;
  readonly isFinal: boolean;
  /** Whether the DID was not deactivated. */
  readonly isActive: boolean;
  /** Whether the handle's alias leads to its DID. */
  readonly isAliased: boolean;
  /** A DID hash other than its own to which the handle's alias leads for good, or its own; null while it may change. */
  readonly aliasFinal: 'own' | 'elsewhere' | null;
  /** When the chain was first asked for this. */
  readonly askedAt: number;
  readonly minedBlock: number;
  readonly minedHash: string;
  readonly nextCheckAt: number | null;
}

type Leased = Pick<Registration, 'id' | 'nextCheckAt' | 'status'>;

/** True while the lease of `leaseDueRegistrations` is held. A holder whose lease lapsed changes nothing. */
const IS_LEASED = `id = :id AND next_check_at = :leased_until`;

function leaseArgs({ id, nextCheckAt }: Pick<Leased, 'id' | 'nextCheckAt'>) {
  return { id, leased_until: nextCheckAt };
}

/** Confirms a leased registration; `rowsAffected` of the second is the verdict. */
export function confirmRegistration(
  leased: Leased & Pick<Registration, 'did' | 'credentialId' | 'app'>,
  seen: SeenRegistration,
  now: number,
): readonly Statement[] {
  const confirmed = {
    sql: `UPDATE registrations SET status = 'confirmed', controller = :controller, controller_key = :controller_key,
        proof_key = :proof_key, late = :late, final = :final, active = :active, aliased = :aliased,
        block_number = :block, mined_block = :block, mined_hash = :hash, next_check_at = :next,
        looked_at = CASE :final WHEN 1 THEN :asked_at END
      WHERE ${IS_LEASED}`,
    args: {
      ...leaseArgs(leased),
      controller: seen.controller,
      controller_key: seen.controllerKey,
      proof_key: seen.proofKey,
      late: Number(seen.isLate),
      final: Number(seen.isFinal),
      active: Number(seen.isActive),
      aliased: Number(seen.isAliased),
      block: seen.minedBlock,
      hash: seen.minedHash,
      next: seen.nextCheckAt,
      asked_at: seen.askedAt,
    },
  };
  const news = emitEvents(seen.proofKey === null ? CONFIRMED : PROVEN, { ...leaseArgs(leased), now });
  const { controller, accountKeys, aliasFinal } = seen;
  const shown = accountKeys && { account: controller, keys: accountKeys, signer: seen.proofKey };
  const known = shown ? rememberKeys(shown, now, isOf(leased, controller)) : [];
  const { id, did, credentialId, app } = leased;
  const key = seen.isFinal ? seen.proofKey : null;
  const use = { did, account: controller, credentialId, app, by: 'registration', registration: id } as const;
  return [
    news,
    confirmed,
    ...known,
    ...loseHandles(leased, aliasFinal, now),
    ...settleHolders(siblings(leased), now),
    ...(key === null ? [] : notePasskeyUse({ ...use, key }, { chainId: seen.chainId, now }, isOf(leased, controller))),
    ...(seen.nextCheckAt === null ? [beginLooks({ sql: `id = :id`, args: { id } }, now)] : []),
  ];
}

/** True once the registration is confirmed with this controller. */
function isOf({ id }: Pick<Registration, 'id'>, controller: string): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM registrations WHERE id = :id AND controller = :controller)`,
    args: { id, controller },
  };
}

const CONFIRMED = [
  registrationRows('registration.confirmed', `FROM registrations WHERE ${IS_LEASED} AND status <> 'confirmed'`),
];
const PROVEN = [
  ...CONFIRMED,
  registrationRows('registration.proven', `FROM registrations WHERE ${IS_LEASED} AND proof_key IS NULL`),
];

/** The registration, also when it has just failed, and the live ones of its identifier. */
function siblings({ id }: Pick<Registration, 'id'>): Condition {
  return { sql: SIBLINGS, args: { id } };
}

// The status is in its own part: the indexes of identifiers hold live or failed rows only.
const SIBLINGS = `(id = :id
  OR identifier = (SELECT identifier FROM registrations WHERE id = :id) AND status <> 'failed')`;

/**
 * Takes the handle from the registrations whose alias leads to another DID for good: they keep DID and credential. The
 * change before must be the registration's own.
 */
function loseHandles(leased: Leased, aliasFinal: 'own' | 'elsewhere' | null, now: number): readonly Statement[] {
  if (aliasFinal === null) return [];
  const losers =
    aliasFinal === 'elsewhere'
      ? `id = :id AND lost IS NULL`
      : `identifier = (SELECT identifier FROM registrations WHERE id = :id) AND status <> 'failed' AND lost IS NULL
        AND did_hash <> (SELECT did_hash FROM registrations WHERE id = :id)`;
  const args = { id: leased.id };
  return [
    emitRegistrationsFailed(`FROM registrations WHERE ${losers}`, `'alias_elsewhere'`, { ...args, now }),
    { sql: `UPDATE registrations SET lost = 'alias_elsewhere', aliased = 0 WHERE ${losers}`, args },
  ];
}

/**
 * Postpones a leased registration's next check; `rowsAffected` of the second is the verdict. A confirmed one whose
 * receipt is gone becomes submitted again, without the fields that came from the event. `unseenSince` is null where the
 * transaction was seen.
 */
export function postponeRegistration(
  leased: Leased,
  {
    isAliased,
    aliasFinal,
    unseenSince,
  }: Pick<SeenRegistration, 'isAliased' | 'aliasFinal'> & { readonly unseenSince: number | null },
  now: number,
  nextCheckAt: number,
): readonly Statement[] {
  const from = `FROM registrations WHERE ${IS_LEASED} AND status = 'confirmed'`;
  const events = emitEvents([registrationRows('registration.submitted', from)], { ...leaseArgs(leased), now });
  const postponed = {
    sql: `UPDATE registrations SET next_check_at = :next, mined_block = NULL, mined_hash = NULL,
        controller = NULL, controller_key = NULL, proof_key = NULL, late = 0, final = 0, active = 1, aliased = :aliased,
        looked_at = NULL,
        block_number = CASE WHEN status = 'confirmed' THEN NULL ELSE block_number END,
        unseen_since = coalesce(:unseen_since, :now), unseen_at = CASE WHEN :unseen_since IS NOT NULL THEN :now END,
        checks = CASE WHEN status = 'confirmed' THEN 0 ELSE checks END, status = 'submitted'
      WHERE ${IS_LEASED}`,
    args: { ...leaseArgs(leased), now, next: nextCheckAt, aliased: Number(isAliased), unseen_since: unseenSince },
  };
  const isSame = leased.status === 'submitted' && aliasFinal === null;
  return [
    events,
    postponed,
    ...loseHandles(leased, aliasFinal, now),
    ...(isSame ? [] : settleHolders(siblings(leased), now)),
  ];
}

/**
 * Ends or continues the watch of a leased registration. `seenAt` is when the chain was asked and its answer matched the
 * row; null if it said less. For a final registration that is a look.
 */
export function watchRegistration(
  leased: Leased,
  { nextCheckAt, seenAt }: { readonly nextCheckAt: number | null; readonly seenAt: number | null },
  now: number,
): readonly Statement[] {
  const watched = {
    sql: `UPDATE registrations SET next_check_at = :next,
        looked_at = CASE WHEN final = 1 THEN coalesce(:seen_at, looked_at) ELSE looked_at END
      WHERE ${IS_LEASED}`,
    args: { ...leaseArgs(leased), next: nextCheckAt, seen_at: seenAt },
  };
  return [watched, ...(nextCheckAt === null ? [beginLooks({ sql: `id = :id`, args: { id: leased.id } }, now)] : [])];
}

/**
 * Fails a leased registration; `rowsAffected` of the second is the verdict. Its identifier goes to the rightful holder
 * then, or is free.
 */
export function failRegistration(leased: Leased, reason: string, now: number): readonly Statement[] {
  return [
    emitRegistrationsFailed(`FROM registrations WHERE ${IS_LEASED}`, ':reason', { ...leaseArgs(leased), reason, now }),
    {
      sql: `UPDATE registrations SET status = 'failed', failure = :reason, next_check_at = NULL WHERE ${IS_LEASED}`,
      args: { ...leaseArgs(leased), reason },
    },
    ...settleHolders(siblings(leased), now),
  ];
}

/**
 * Fails a live registration for the operator, with all that it displaced given back; `rowsAffected` of the second is
 * the verdict.
 */
export function undoRegistration(id: number, now: number): readonly Statement[] {
  const live = `id = :id AND status <> 'failed'`;
  return [
    emitRegistrationsFailed(`FROM registrations WHERE ${live}`, `'undone'`, { id, now }),
    {
      sql: `UPDATE registrations SET status = 'failed', failure = 'undone', next_check_at = NULL WHERE ${live}`,
      args: { id },
    },
    ...barUndone(id, now),
    ...settleHolders(siblings({ id }), now),
  ];
}

/**
 * Withdraws a relay that nothing was signed for and frees the attestation, as if it had not been requested; not one
 * that another request for the same relay brought, which may be spent elsewhere. `rowsAffected` of the first is the
 * verdict; it is 0 once the relay has a nonce.
 */
export function withdrawRegistration(
  relay: RelayRow,
  attestation: { readonly signature: string; readonly identifierHash: string },
  now: number,
): readonly Statement[] {
  const args = { id: relay.id, registration_id: relay.registrationId };
  const isLive = `id = :registration_id AND status <> 'failed'`;
  const isWithdrawn = `EXISTS (SELECT 1 FROM relays WHERE id = :id AND failure = 'withdrawn')`;
  const withdrawn = `FROM registrations WHERE ${isLive} AND ${isWithdrawn}`;
  return [
    withdrawRelay(relay),
    freeAttestationIfChanged(attestation.signature, {
      sql: `EXISTS (SELECT 1 FROM registrations
        WHERE id = :registration_id AND json_extract(proof, '$.identifierHash') = :identifier_hash)`,
      args: { registration_id: relay.registrationId, identifier_hash: attestation.identifierHash },
    }),
    emitRegistrationsFailed(withdrawn, `'withdrawn'`, { ...args, now }),
    {
      sql: `UPDATE registrations SET status = 'failed', failure = 'withdrawn' WHERE ${isLive} AND ${isWithdrawn}`,
      args,
    },
    ...settleHolders({ sql: SIBLINGS, args: { id: relay.registrationId } }, now),
  ];
}
