import { badRequest } from '../base/error.ts';
import { LIMITS_SHOWN_MAX } from '../constants.ts';
import { parseNamedIdentifier } from '../identity/identifier.ts';
import { parseCredentialId } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { shownRows } from './shown.ts';
import { selectRegistrationsBy, selectRegistrationsOfDid } from './store.ts';

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
