import { sha256 } from '@noble/hashes/sha2.js';
import { equalBytes, fromBase64, utf8 } from '../base/bytes.ts';
import { isObject } from '../base/json.ts';
import type { Assertion } from './passkey.ts';

/** Where passkeys may be used: by which origins, for which RP IDs. */
export interface Place {
  allowsOrigin(origin: string): boolean;
  readonly rpIds: readonly string[];
}

/** The part of an assertion that does not fit. */
export type CeremonyFault =
  | 'client_data'
  | 'type'
  | 'cross_origin'
  | 'origin'
  | 'authenticator_data'
  | 'rp_id'
  | 'user_presence'
  | 'user_verification'
  | 'backup_state';

/**
 * An assertion's ceremony: the challenge as it stands in the client data, the signature counter, 0 where the
 * authenticator has none, and whether the key is backed up; or the first fault.
 */
export type Ceremony =
  | { readonly challenge: string; readonly signCount: number; readonly isSynced: boolean }
  | { readonly fault: CeremonyFault };

/**
 * Judges where and how an assertion was made (Web Authentication Level 3 section 7.2, steps 11–19), all but its
 * challenge and its signature.
 */
export function judgeCeremony(assertion: Assertion, place: Place): Ceremony {
  const client = clientDataOf(assertion);
  if (!client) return { fault: 'client_data' };
  const { type, challenge, origin, crossOrigin, topOrigin } = client;
  if (typeof challenge !== 'string' || typeof origin !== 'string') return { fault: 'client_data' };
  if (type !== 'webauthn.get') return { fault: 'type' };
  if ((crossOrigin !== undefined && crossOrigin !== false) || topOrigin !== undefined) return { fault: 'cross_origin' };
  if (!place.allowsOrigin(origin)) return { fault: 'origin' };
  const data = fromBase64(assertion.authenticatorData);
  if (!data || data.length < AUTHENTICATOR_DATA_BYTES_MIN) return { fault: 'authenticator_data' };
  const fault = authenticatorFault(data, place);
  if (fault !== undefined) return { fault };
  const isSynced = ((data[RP_ID_HASH_BYTES] ?? 0) & BACKED_UP) !== 0;
  return { challenge, signCount: signCountIn(data), isSynced };
}

const RP_ID_HASH_BYTES = 32;
/** RP ID hash, flags and counter: there is no shorter authenticator data (section 6.1). */
const AUTHENTICATOR_DATA_BYTES_MIN = 37;
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;

function authenticatorFault(data: Uint8Array, { rpIds }: Place): CeremonyFault | undefined {
  const rpIdHash = data.subarray(0, RP_ID_HASH_BYTES);
  if (!rpIds.some((rpId) => equalBytes(sha256(utf8(rpId)), rpIdHash))) return 'rp_id';
  const flags = data[RP_ID_HASH_BYTES] ?? 0;
  if ((flags & USER_PRESENT) === 0) return 'user_presence';
  if ((flags & USER_VERIFIED) === 0) return 'user_verification';
  return (flags & (BACKUP_ELIGIBLE | BACKED_UP)) === BACKED_UP ? 'backup_state' : undefined;
}

function signCountIn({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset).getUint32(RP_ID_HASH_BYTES + 1);
}

function clientDataOf({ clientDataJSON }: Assertion): Record<string, unknown> | undefined {
  const bytes = fromBase64(clientDataJSON);
  try {
    const value: unknown = bytes && JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The vault's own pages: a request that another page makes could not be seen by the person. */
export function ownPlace({ baseUrl, rpIds }: Pick<RelyingParty, 'baseUrl' | 'rpIds'>): Place {
  return { rpIds, allowsOrigin: (origin) => origin === baseUrl };
}

/** The settings that decide which RP ID passkeys get. */
export interface RelyingParty {
  readonly baseUrl: string;
  readonly rpIds: readonly string[];
  readonly relatedOrigins: readonly string[];
}

/**
 * The first of `RP_IDS` that a browser accepts on the vault's own host. A vault that moved, whose origin is one of
 * `RELATED_ORIGINS`, keeps the first of them; any other uses its host.
 */
export function rpIdOf({ baseUrl, rpIds, relatedOrigins }: RelyingParty): string {
  const { hostname, origin } = new URL(baseUrl);
  const own = rpIds.find((rpId) => hostname === rpId || hostname.endsWith(`.${rpId}`));
  const former = relatedOrigins.includes(origin) ? rpIds[0] : undefined;
  return own ?? former ?? hostname;
}
