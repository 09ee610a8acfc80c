import { isoTime } from '../base/clock.ts';
import { badRequest } from '../base/error.ts';
import { LIMITS_SHOWN_MAX } from '../constants.ts';
import type { Row } from '../db/database.ts';
import {
  ANY_DOMAIN,
  type Channel,
  inferChannel,
  maskIdentifier,
  parseQueryIdentifier,
} from '../identity/identifier.ts';
import { parseCredentialId } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { type Registration, selectRegistrationsBy, selectRegistrationsOfDid, toRegistration } from './store.ts';

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
      ? selectRegistrationsBy('identifier', keyOf(identifier), LIMITS_SHOWN_MAX)
      : credentialId !== undefined
        ? selectRegistrationsBy('credential_id', parseCredentialId(credentialId), LIMITS_SHOWN_MAX)
        : selectRegistrationsOfDid(did ?? '', LIMITS_SHOWN_MAX);
  const rows = await db.read(statement);
  return rows.map((row) => shownOf(row, identifier !== undefined));
}

/** An identifier may have its channel as a prefix, which separates a handle from a phone number. */
function keyOf(text: string): string {
  const [, channel, rest] = /^(email|sms|handle):(.+)$/.exec(text) ?? [];
  const value = rest ?? text;
  return parseQueryIdentifier((channel as Channel | undefined) ?? inferChannel(value), value, ANY_DOMAIN).key;
}

function shownOf(row: Row, isWhole: boolean) {
  const one: Registration = toRegistration(row);
  const value = one.identifier.slice(one.identifier.indexOf(':') + 1);
  const channel = one.channel as 'email' | 'sms' | 'handle';
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
