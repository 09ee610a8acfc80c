import { DAY_MS } from '../base/clock.ts';
import { fewerThan, type Row, type Statement, type Value } from '../db/database.ts';
import { admit, type Fence, IS_ADMITTED } from '../db/row-lock.ts';
import { type EventRows, emitEvents, maskedIdentifier, registrationRows, sessionRows } from '../events/emit.ts';
import { clearedAt } from '../limits/limits.ts';
import { queueRelay } from '../relay/requests.ts';
import {
  EARLIEST_LAPSE,
  ipWindow,
  lapseSessions,
  openClaimedSession,
  SESSION_COUNTS,
  SESSION_IS_LIVE,
  SESSION_IS_ON_CHAIN,
} from '../sessions/sessions.ts';
import { spendAttestation } from '../verification/attestation.ts';
import { CONTENDS, type ProofLevel, type RegistrationClaim } from './store.ts';

/** A claim to write, with everything that the write checks; times are milliseconds. */
export interface NewClaim extends RegistrationClaim {
  readonly proofLevel: ProofLevel;
  /** The attestation that authorizes the claim; null for a handle. */
  readonly attestation: { readonly signature: string; readonly expiresAt: number } | null;
  readonly app: string;
  readonly ip: string;
  readonly perIp: number;
  readonly windowSeconds: number;
  readonly sessionExpiresAt: number;
  /** The relay to queue and the most relays in a day; null when the client sent the transaction itself. */
  readonly relay: {
    readonly chainId: number;
    readonly registry: string;
    readonly controller: string;
    readonly dailyMax: number;
  } | null;
  readonly now: number;
}

/**
 * One batch that writes the claim or changes nothing. The first statement admits it under the holder's fence, and its
 * `rowsAffected` is the verdict. The others act only on that admission: they fail weaker claims and lapse their
 * sessions, write the claim, spend its attestation, open or take over its session, link it, and queue its relay. The
 * last selects what refused.
 */
export function insertClaim(claim: NewClaim, fence: Fence): readonly Statement[] {
  const args = { ...claimArgs(claim), lock_key: fence.key, lock_fence: fence.fence };
  const weaker = `${CONTENDS} AND strength < :strength AND ${IS_ADMITTED}`;
  const emit = (parts: readonly EventRows[]) => {
    const { sql } = emitEvents(parts, {});
    return emitEvents(parts, pick(args, sql));
  };
  const change = (sql: string) => ({ sql, args: pick(args, sql) });
  const admitted = change(IS_ADMITTED);
  const { attestation, relay, now } = claim;
  // A relay costs ether, and a handle has no attestation.
  const counts = attestation && !relay ? 0 : 1;
  const session = { ...claim, expiresAt: claim.sessionExpiresAt, counts } as const;
  const displaced = `identifier <> :identifier AND identifier IN (SELECT identifier FROM registrations
    WHERE ${weaker})`;
  return [
    admit(fence, now, change(relay ? `${ADMISSION} AND ${RELAY_ADMISSION}` : ADMISSION)),
    lapseSessions(change(displaced), now),
    emit([registrationRows('registration.failed', `FROM registrations WHERE ${weaker}`, { reason: `'displaced'` })]),
    change(`UPDATE registrations SET status = 'failed', failure = 'displaced', next_check_at = NULL WHERE ${weaker}`),
    change(`INSERT INTO registrations (identifier, app, channel, did, did_hash, alias_hash, credential_id, tx_hash,
        block_number, smart_account, proof, status, strength, registered_at, unseen_since, next_check_at)
      SELECT :identifier, :app, :channel, :did, :did_hash, :alias_hash, :credential_id, :tx_hash, :block_number,
        :smart_account, :proof, 'submitted', :strength, :now, :now, :next_check_at WHERE ${IS_ADMITTED}`),
    ...(attestation ? [spendAttestation(attestation, admitted)] : []),
    emit([...NEW_REGISTRATION, ...NEW_SESSION]),
    openClaimedSession(session, admitted),
    ...(relay ? [queueRelay({ ...relay, didHash: claim.didHash }, change(IS_NEW), now)] : []),
    selectClaimRefusal(claim),
  ];
}

/** Selects what would refuse the claim now. */
export function selectClaimRefusal(claim: NewClaim): Statement {
  const sql = claim.relay ? `${SELECT_REFUSAL}, ${RELAY_REFUSAL}` : SELECT_REFUSAL;
  return { sql, args: pick(claimArgs(claim), sql) };
}

/** The reasons that refuse a claim, from `selectClaimRefusal`. */
export interface ClaimRefusal {
  readonly attestationUsed: boolean;
  readonly credentialTaken: boolean;
  readonly identifierTaken: boolean;
  readonly didTaken: boolean;
  readonly ipFull: boolean;
  readonly earliestLapse: number | null;
  readonly relayFull: boolean;
  /** When the relay that has to leave the day's window was created, in milliseconds; null when the window has room. */
  readonly relaySlotSince: number | null;
}

/** Reads the row of `selectClaimRefusal`. */
export function toRefusal(row: Row): ClaimRefusal {
  return {
    attestationUsed: row['attestation_used'] === 1,
    credentialTaken: row['credential_taken'] === 1 || row['controller_busy'] === 1,
    identifierTaken: row['identifier_taken'] === 1,
    didTaken: row['did_taken'] === 1,
    ipFull: row['ip_full'] === 1 || row['relay_ip_full'] === 1,
    earliestLapse: row['earliest_lapse'] === null ? null : Number(row['earliest_lapse']),
    relayFull: row['relay_full'] === 1,
    relaySlotSince: row['relay_slot_since'] == null ? null : Number(row['relay_slot_since']),
  };
}

/**
 * A live session of this handle under another DID. A session that only a weaker claim links does not count, as this
 * claim displaces it.
 */
const HELD_BY_ANOTHER = `EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND did <> :did
  AND ${SESSION_IS_LIVE}
  AND (${SESSION_IS_ON_CHAIN}
    OR NOT EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND status <> 'failed'
    AND strength < :strength)))`;

const HAS_SESSION = `EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND did = :did
  AND ${SESSION_IS_LIVE})`;

/** The identifier's own session does not count: a claim takes it over, whatever its DID. */
const IP_HAS_ROOM = fewerThan(
  ':per_ip',
  `FROM sessions WHERE ip = :ip AND identifier <> :identifier AND ${SESSION_COUNTS}`,
);

const ATTESTATION_USED = `EXISTS (SELECT 1 FROM attestation_uses WHERE signature = :signature)`;

/** A handle has no attestation, so its session and the IP limit decide. */
const ADMISSION = `NOT EXISTS (SELECT 1 FROM registrations WHERE ${CONTENDS} AND strength >= :strength)
  AND NOT ${ATTESTATION_USED}
  AND (:channel <> 'handle' OR (NOT ${HELD_BY_ANOTHER} AND (${HAS_SESSION} OR ${IP_HAS_ROOM})))`;

const IS_NEW = `identifier = :identifier AND status <> 'failed' AND ${IS_ADMITTED}`;

/** Read from the row just written. */
const NEW_REGISTRATION: readonly EventRows[] = [
  registrationRows('registration.submitted', `FROM registrations WHERE ${IS_NEW}`),
  registrationRows('registration.proven', `FROM registrations WHERE ${IS_NEW} AND :strength > 0`),
];

const HELD = `FROM sessions WHERE identifier = :identifier AND ${IS_ADMITTED}`;

/** Emitted before the session's row is overwritten. */
const NEW_SESSION: readonly EventRows[] = [
  sessionRows('session.lapsed', `${HELD} AND NOT ${SESSION_IS_LIVE}`),
  {
    type: 'session.taken_over',
    app: ':app',
    data: {
      identifier: maskedIdentifier('identifier'),
      channel: ':channel',
      did: ':did',
      previous_did: 'did',
    },
    from: `${HELD} AND did <> :did AND ${SESSION_IS_LIVE}`,
  },
  claimedSession('session.created', `NOT EXISTS (SELECT 1 ${HELD} AND ${SESSION_IS_LIVE})`),
  claimedSession('session.linked', `NOT EXISTS (SELECT 1 ${HELD} AND did = :did AND linked = 1)`),
];

/** The event of the session that the claim opens or links. */
function claimedSession(type: 'session.created' | 'session.linked', when: string): EventRows {
  return sessionRows(type, `FROM registrations WHERE ${IS_NEW} AND ${when}`);
}

const SELECT_REFUSAL = `SELECT
  ${ATTESTATION_USED} AS attestation_used,
  EXISTS (SELECT 1 FROM registrations WHERE credential_id = :credential_id AND status <> 'failed'
  AND strength >= :strength) AS credential_taken,
  EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND did <> :did AND status <> 'failed'
  AND strength >= :strength)
    OR (:channel = 'handle' AND ${HELD_BY_ANOTHER}) AS identifier_taken,
  EXISTS (SELECT 1 FROM registrations WHERE did = :did AND status <> 'failed' AND strength >= :strength) AS did_taken,
  :channel = 'handle' AND NOT ${HAS_SESSION} AND NOT ${IP_HAS_ROOM} AS ip_full,
  ${EARLIEST_LAPSE} AS earliest_lapse`;

/** A relay that failed before it had a nonce has cost nothing. */
const COUNTED_RELAYS = `FROM relays WHERE created_at > max(:day_ago, ${clearedAt('relays-per-day')})
  AND NOT (status = 'failed' AND nonce IS NULL)`;

const RELAY_DAY_IS_FULL = `NOT ${fewerThan(':relay_daily_max', COUNTED_RELAYS)}`;

/** Only the first of two registrations for one account would succeed, which no simulation shows before it is mined. */
const CONTROLLER_BUSY = `EXISTS (SELECT 1 FROM relays
  WHERE controller = :relay_controller AND chain_id = :relay_chain_id AND status IN ('queued', 'signed'))`;

/** A relay costs the operator ether, so it uses the IP's slot however the identifier is proven. */
const RELAY_ADMISSION = `(${HAS_SESSION} OR ${IP_HAS_ROOM}) AND NOT ${CONTROLLER_BUSY}
  AND NOT (${RELAY_DAY_IS_FULL})`;

const RELAY_REFUSAL = `${CONTROLLER_BUSY} AS controller_busy,
  NOT ${HAS_SESSION} AND NOT ${IP_HAS_ROOM} AS relay_ip_full,
  ${RELAY_DAY_IS_FULL} AS relay_full,
  (SELECT created_at ${COUNTED_RELAYS} ORDER BY created_at DESC
  LIMIT 1 OFFSET max(:relay_daily_max - 1, 0)) AS relay_slot_since`;

function claimArgs(claim: NewClaim): Record<string, Value> {
  return {
    identifier: claim.identifier,
    app: claim.app,
    channel: claim.channel,
    did: claim.did,
    did_hash: claim.didHash,
    alias_hash: claim.aliasHash,
    credential_id: claim.credentialId,
    tx_hash: claim.txHash,
    block_number: claim.blockNumber,
    smart_account: claim.smartAccount,
    proof: claim.proof,
    strength: claim.proofLevel,
    signature: claim.attestation?.signature ?? null,
    ip: claim.ip,
    per_ip: claim.perIp,
    ...ipWindow(claim.windowSeconds, claim.now),
    // The relay watches its own registrations.
    next_check_at: claim.relay ? null : claim.now,
    relay_chain_id: claim.relay?.chainId ?? null,
    relay_controller: claim.relay?.controller ?? null,
    relay_daily_max: claim.relay?.dailyMax ?? null,
    day_ago: claim.now - DAY_MS,
    now: claim.now,
  };
}

/** Only the arguments a statement names: engines refuse a parameter that is not in the text. */
function pick(args: Readonly<Record<string, Value>>, sql: string): Record<string, Value> {
  const names = new Set(Array.from(sql.matchAll(/:([a-z_]+)/g), ([, name]) => name));
  return Object.fromEntries(Object.entries(args).filter(([name]) => names.has(name)));
}
