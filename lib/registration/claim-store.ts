import { type AdmissionTerms, admissionArgs, MAY_REGISTER, spendInvite } from '../admission/admission.ts';
import { ALIAS_LEADS_ELSEWHERE, ALIAS_LEADS_HERE } from '../aliases/aliases.ts';
import { DAY_MS } from '../base/clock.ts';
import { argsIn, fewerThan, type Statement, type Value } from '../db/database.ts';
import { admit, admitted, type Fence, IS_ADMITTED } from '../db/row-lock.ts';
import { emitEvents } from '../events/emit.ts';
import {
  type AccountKeys,
  CREDENTIAL_ANSWER,
  IS_KEPT_OUT,
  KEPT_OUT_TO,
  openCredential,
  rememberKeys,
} from '../holders/holders.ts';
import { type SessionShare, SITE_HAS_ROOM, SITE_ROOM } from '../limits/session-share.ts';
import { queueRelay } from '../relay/requests.ts';
import { EARLIEST_LAPSE, ipWindow, openClaimedSession, SESSION_COUNTS, SESSION_IS_LIVE } from '../sessions/sessions.ts';
import { spendAttestation } from '../verification/attestation.ts';
import { IS_NEW, NEWS, PROVEN_NEWS } from './claim-news-store.ts';
import { RELAY_FULL, RELAY_SINCE } from './relay-budget-store.ts';
import type { RegistrationClaim } from './store.ts';

/** A claim to write, with everything that the write checks; times are milliseconds. */
export interface NewClaim extends RegistrationClaim {
  /** The key with which the proof is verified already; null until the controller is known. */
  readonly proofKey: string | null;
  /** Where the handle's alias leads, as `AliasAnswer` says; empty for an address or a number. */
  readonly ledTo: string;
  /** The keys of the claimed account, where they are known already and may change. */
  readonly accountKeys?: AccountKeys | null;
  /** The attestation that authorizes the claim; null for a handle. */
  readonly attestation: { readonly signature: string; readonly expiresAt: number } | null;
  /** The digest under which an erasure of the address or the number would be noted. */
  readonly erasure?: string;
  readonly app: string;
  readonly ip: string;
  readonly perIp: number;
  readonly windowSeconds: number;
  readonly share: SessionShare;
  readonly sessionExpiresAt: number;
  /** The relay to queue, and the most in a day; null when the client sent the transaction itself. */
  readonly relay: {
    readonly chainId: number;
    readonly registry: string;
    readonly controller: string;
    /** The whole call; null where it follows from controller and DID hash. */
    readonly callData?: string | null;
    readonly network: string;
    readonly dailyMax: number;
    readonly shareMax: number;
  } | null;
  /** The terms of admission if the identifier is not registered; null where anybody may register it. */
  readonly admission?: AdmissionTerms | null;
  readonly now: number;
}

/**
 * One batch that writes the claim or changes nothing. The first statement admits it under the holder's fence, and its
 * `rowsAffected` is the verdict. The others act only on that admission: they write the claim, spend its attestation,
 * queue its relay, and if nobody holds the identifier, open, take over and link its session; so must `also`. The last
 * selects the reasons of a refusal. A claim never changes what another one holds: that waits for its final block.
 */
export function insertClaim(claim: NewClaim, fence: Fence, also: readonly Statement[] = []): readonly Statement[] {
  const args = { ...claimArgs(claim), ...admitted(fence).args };
  const change = (sql: string) => ({ sql, args: argsIn(args, sql) });
  const { attestation, relay, admission, share, now } = claim;
  const counts = countsOf(claim);
  const session = { ...claim, expiresAt: claim.sessionExpiresAt, counts } as const;
  const news = claim.proofKey === null ? NEWS : PROVEN_NEWS;
  return [
    admit(fence, now, change(admissionText(claim))),
    ...(counts === 1 ? share.spend(change(`NOT ${HAS_SESSION}`)) : []),
    ...(admission ? [spendInvite(admission, claim, change(IS_ADMITTED))] : []),
    change(INSERT_REGISTRATION),
    ...(claim.accountKeys ? rememberKeys(claim.accountKeys, now, change(IS_ADMITTED)) : []),
    openCredential(change(IS_NEW)),
    ...(attestation ? [spendAttestation(attestation, change(IS_ADMITTED))] : []),
    emitEvents(news, argsIn(args, emitEvents(news, {}).sql)),
    openClaimedSession(session, change(`EXISTS (SELECT 1 FROM registrations WHERE ${IS_NEW} AND holds = 1)`)),
    ...(relay ? [queueRelay({ ...relay, didHash: claim.didHash }, change(IS_NEW), now)] : []),
    ...also,
    selectClaimRefusal(claim),
  ];
}

/** Selects the reasons to refuse the claim now, one a column, and when the full limits have room again. */
export function selectClaimRefusal(claim: NewClaim): Statement {
  const columns = Object.entries(reasonsOf(claim)).map(([reason, sql]) => `(${sql}) AS ${reason}`);
  const sql = `SELECT ${[...columns, RESETS, KEPT_OUT_TO, ...(claim.relay ? [RELAY_SINCE] : [])].join(', ')}`;
  return { sql, args: argsIn(claimArgs(claim), sql) };
}

const IS_CLAIMED = `EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND status <> 'failed'
  AND lost IS NULL)`;

const INSERT_REGISTRATION = `INSERT INTO registrations (identifier, app, channel, did, did_hash, alias_hash,
    credential_id, tx_hash, block_number, smart_account, proof, proof_key, aliased, holds, ip, status, registered_at,
    unseen_since, next_check_at)
  SELECT :identifier, :app, :channel, :did, :did_hash, :alias_hash, :credential_id, :tx_hash, :block_number,
    :smart_account, :proof, :proof_key, ${ALIAS_LEADS_HERE}, NOT ${IS_CLAIMED},
    CASE WHEN :channel = 'handle' AND ${IS_CLAIMED} THEN :ip END, 'submitted', :now, :now, :next_check_at
  WHERE ${IS_ADMITTED}`;

/** A live session, or a live claim, of this handle under another DID. */
const HELD_BY_ANOTHER = `(EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND did <> :did
    AND ${SESSION_IS_LIVE})
  OR EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND did <> :did AND status <> 'failed'
    AND lost IS NULL))`;

/**
 * The chain decides over a handle. An address or a number goes to a later claim of another DID only with a proof, also
 * where the registration that it had was erased: then nothing leads from the address to the DID.
 */
const IDENTIFIER_TAKEN = `CASE WHEN :channel <> 'handle'
  THEN :has_proof = 0 AND (EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND holds = 1
      AND did <> :did)
    OR EXISTS (SELECT 1 FROM erasures WHERE digest = :erasure AND was_registered = 1)) OR ${IS_KEPT_OUT}
  ELSE ${ALIAS_LEADS_ELSEWHERE} OR (NOT ${ALIAS_LEADS_HERE} AND ${HELD_BY_ANOTHER}) END`;

/** Without a proof a claim follows where the credential leads already. */
const CREDENTIAL_TAKEN = `(:has_proof = 0 AND coalesce(${CREDENTIAL_ANSWER} <> :did, 0))`;

const HAS_SESSION = `EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND did = :did
  AND ${SESSION_IS_LIVE})`;

/** SQL: the identifier's own session does not count, as a claim takes it over, whatever its DID. */
export const IP_HAS_ROOM = fewerThan(
  ':per_ip',
  `FROM sessions WHERE ip = :ip AND identifier <> :identifier AND ${SESSION_COUNTS}`,
);

/** Claims beside another of the same handle open no session, so they are counted by themselves. */
const COPIES = `FROM registrations WHERE ip = :ip AND registered_at > :day_ago`;

/** Only the first of two registrations for one account would succeed, which no simulation shows before it is mined. */
const CONTROLLER_BUSY = `EXISTS (SELECT 1 FROM relays
  WHERE controller = :relay_controller AND chain_id = :relay_chain_id AND status IN ('queued', 'signed'))`;

/**
 * Why a claim is refused. The same text admits it, where none of its reasons is true, and says afterwards which of them
 * was.
 */
const REASONS = {
  attestation_used: `EXISTS (SELECT 1 FROM attestation_uses WHERE signature = :signature)`,
  credential_taken: CREDENTIAL_TAKEN,
  identifier_taken: IDENTIFIER_TAKEN,
  ip_full: `:counts = 1 AND NOT ${HAS_SESSION} AND NOT ${IP_HAS_ROOM}`,
  site_full: `:counts = 1 AND NOT ${HAS_SESSION} AND NOT ${SITE_HAS_ROOM}`,
  full_beside: `:channel = 'handle' AND ${IS_CLAIMED} AND NOT ${fewerThan(':per_ip', COPIES)}`,
} as const;

const RELAY_REASONS = { controller_busy: CONTROLLER_BUSY, ...RELAY_FULL } as const;
/** An invite is needed even beside a session: a session uses no invite, so it cannot replace one. */
const INVITE_REASONS = { not_admitted: `NOT ${MAY_REGISTER}` } as const;
/** Where nobody new may register, a session of the same DID dates from before that. */
const CLOSED_REASONS = { not_admitted: `NOT (${MAY_REGISTER} OR ${HAS_SESSION})` } as const;

/** A column of `selectClaimRefusal` that is 1 where it refuses. */
export type RefusalReason = keyof typeof REASONS | keyof typeof RELAY_REASONS | keyof typeof INVITE_REASONS;

function reasonsOf({ relay, admission }: NewClaim): Readonly<Record<string, string>> {
  return { ...REASONS, ...(relay ? RELAY_REASONS : {}), ...admissionReasons(admission) };
}

function admissionReasons(admission: NewClaim['admission']): Readonly<Record<string, string>> {
  if (!admission) return {};
  const isByInvite = admission.refusal === 'invite_required' || admission.refusal === 'invite_invalid';
  return isByInvite ? INVITE_REASONS : CLOSED_REASONS;
}

function admissionText(claim: NewClaim): string {
  const reasons = Object.values(reasonsOf(claim));
  return reasons.map((sql) => `NOT (${sql})`).join(' AND ');
}

/** Whether the claim uses a slot of its IP: a relay costs ether, and no attestation bounds the claims of handles. */
function countsOf({ attestation, relay }: NewClaim): 0 | 1 {
  return attestation && !relay ? 0 : 1;
}

/** From when the IP and the network have room again. */
const RESETS = `${EARLIEST_LAPSE} AS earliest_lapse, ${SITE_ROOM},
  (SELECT registered_at ${COPIES} ORDER BY registered_at DESC LIMIT 1 OFFSET max(:per_ip - 1, 0)) AS copy_slot_since`;

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
    proof_key: claim.proofKey,
    has_proof: Number(claim.proof !== null),
    erasure: claim.erasure ?? '',
    led_to: claim.ledTo,
    signature: claim.attestation?.signature ?? null,
    ...admissionArgs(claim.admission ?? null),
    ip: claim.ip,
    counts: countsOf(claim),
    per_ip: claim.perIp,
    ...ipWindow(claim.windowSeconds, claim.now),
    ...claim.share.args,
    // The relay watches its own registrations.
    next_check_at: claim.relay ? null : claim.now,
    relay_chain_id: claim.relay?.chainId ?? null,
    relay_controller: claim.relay?.controller ?? null,
    relay_network: claim.relay?.network ?? null,
    relay_daily_max: claim.relay?.dailyMax ?? null,
    relay_share_max: claim.relay?.shareMax ?? null,
    day_ago: claim.now - DAY_MS,
    now: claim.now,
  };
}
