import { isoTime } from '../base/clock.ts';
import { badRequest, VaultError } from '../base/error.ts';
import { LIMITS_SHOWN_MAX } from '../constants.ts';
import type { Row } from '../db/database.ts';
import { isErased } from '../identity/erasure.ts';
import { type Channel, maskIdentifier, parseNamedIdentifier } from '../identity/identifier.ts';
import { parseCredentialId } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { findRelayOfRegistration } from '../relay/requests.ts';
import { findSession } from '../sessions/browse.ts';
import { readHistory } from '../verification/history.ts';
import { undoRegistration } from './change-store.ts';
import {
  type Registration,
  type RegistrationStatus,
  selectHolder,
  selectRegistration,
  selectRegistrationsBy,
  selectRegistrationsOfDid,
  toRegistration,
} from './store.ts';

// For the operator's export, which reads the database without a running vault.
export { selectRegistrationsAfter, toRegistration } from './store.ts';

/** A query for registrations: exactly one of the three. */
export interface RegistrationQuery {
  readonly identifier?: string | undefined;
  readonly credentialId?: string | undefined;
  readonly did?: string | undefined;
}

/**
 * The registrations of an identifier, a credential or a DID, failed ones included, newest first. Identifiers are
 * masked unless the query is an identifier. Throws 400 for a query with none or several, or in the wrong form.
 */
export async function findRegistrations({ db }: Pick<Platform, 'db'>, query: RegistrationQuery) {
  const { identifier, credentialId, did } = query;
  if ([identifier, credentialId, did].filter((one) => one !== undefined).length !== 1) {
    throw badRequest('Expected one query parameter of: identifier, credentialId, did');
  }
  const statement =
    identifier !== undefined
      ? selectRegistrationsBy('identifier', parseNamedIdentifier(identifier).key, LIMITS_SHOWN_MAX)
      : credentialId !== undefined
        ? selectRegistrationsBy('credential_id', parseCredentialId(credentialId), LIMITS_SHOWN_MAX)
        : selectRegistrationsOfDid(did ?? '', LIMITS_SHOWN_MAX);
  return shownRows(await db.read(statement), identifier !== undefined);
}

/** The statuses of a registration. */
export const REGISTRATION_STATUSES = ['submitted', 'confirmed', 'failed'] as const satisfies RegistrationStatus[];

/** A registration as the operator sees it. */
export type ShownRegistration = ReturnType<typeof shownOf>;

/** Rows of `registrations` as the operator sees them, without those of the erased: a count may be higher. */
export function shownRows(rows: readonly Row[], isWhole: boolean): ShownRegistration[] {
  return rows.filter((row) => !isErased(String(row['identifier']))).map((row) => shownOf(row, isWhole));
}

/** A row of `registrations` as the operator sees it; its identifier is masked unless `isWhole`. */
function shownOf(row: Row, isWhole: boolean) {
  const one: Registration = toRegistration(row);
  const value = one.identifier.slice(one.identifier.indexOf(':') + 1);
  const channel = one.channel as Channel;
  return {
    id: one.id,
    app: String(row['app']),
    identifier: isWhole ? value : maskIdentifier({ channel, value }),
    channel,
    did: one.did,
    credentialId: one.credentialId,
    status: one.status,
    failure: one.failure,
    lost: one.lost,
    final: one.isFinal,
    holder: one.isHolder,
    proven: one.status === 'confirmed' && (one.proofKey !== null || one.isProvenByV1),
    txHash: one.txHash || null,
    blockNumber: one.blockNumber,
    smartAccount: one.controller,
    registeredAt: isoTime(one.registeredAt),
  };
}

/** Other registrations of its identifier that are shown. */
const OTHERS_SHOWN_MAX = 20;

/**
 * One registration with its details: its last state on the chain, the call of the relay, the session and the codes of
 * its identifier, and its other registrations. Identifiers are masked. Throws 404 `not_found`.
 */
export async function readRegistration(ctx: Pick<Platform, 'db' | 'clock' | 'config'>, id: number) {
  const { db, config } = ctx;
  const [row] = await db.read(selectRegistration(id));
  if (!row || isErased(String(row['identifier']))) throw new VaultError('not_found');
  const { identifier, nextCheckAt, checks, proofKey } = toRegistration(row);
  const lookedAt = row['looked_at'];
  const [relay, session, history, same] = await Promise.all([
    findRelayOfRegistration(db, id),
    findSession(ctx, identifier),
    readHistory(db, identifier),
    db.read(selectRegistrationsBy('identifier', identifier, OTHERS_SHOWN_MAX + 1)),
  ]);
  const others = same.map((other) => shownOf(other, false)).filter((other) => other.id !== id);
  return {
    registration: shownOf(row, false),
    watch: { checks, nextCheckAt: nextCheckAt === null ? null : isoTime(nextCheckAt) },
    evidence: { key: proofKey, lookedAt: lookedAt === null ? null : isoTime(Number(lookedAt)) },
    relay: relay
      ? {
          status: relay.status,
          failure: relay.failure,
          signer: relay.signer,
          nonce: relay.nonce,
          queuedAt: isoTime(relay.createdAt),
        }
      : null,
    session,
    ...history,
    others: others.slice(0, OTHERS_SHOWN_MAX),
    chain: {
      chainId: config.chainId,
      name: config.chainName,
      registry: config.didRegistryAddress,
      explorer: config.explorerUrl,
    },
  };
}

/** The identifier of a registration with its channel, such as `email:alice@example.com`. Throws 404 `not_found`. */
export async function identifierOf({ db }: Pick<Platform, 'db'>, id: number): Promise<string> {
  const [row] = await db.read(selectRegistration(id));
  if (!row || isErased(String(row['identifier']))) throw new VaultError('not_found');
  return String(row['identifier']);
}

/** The registration that was undone, and the one that holds the identifier now; null if none does. */
export interface UndoneClaim {
  readonly id: number;
  readonly did: string;
  readonly holder: { readonly id: number; readonly did: string } | null;
}

/**
 * Fails a live registration for the operator: it loses identifier and credential, and the registration that it had
 * displaced gets them back. The chain keeps the DID. Throws 404 `not_found` if no registration with this id is live.
 */
export async function undoClaim({ db, clock }: Pick<Platform, 'db' | 'clock'>, id: number): Promise<UndoneClaim> {
  const [row] = await db.read(selectRegistration(id));
  if (!row) throw new VaultError('not_found');
  const { did, identifier } = toRegistration(row);
  const results = await db.write(...undoRegistration(id, clock.now()), selectHolder(identifier));
  if (results[1]?.rowsAffected !== 1) throw new VaultError('not_found');
  const [holder] = results.at(-1)?.rows ?? [];
  return { id, did, holder: holder ? { id: Number(holder['id']), did: String(holder['did']) } : null };
}
