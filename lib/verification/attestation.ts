import { equalBytes, fromHex, toHex, utf8 } from '../base/bytes.ts';
import { isoTime } from '../base/clock.ts';
import { hmacDigest } from '../base/hmac.ts';
import type { AttestedPurpose } from '../base/purpose.ts';
import type { Identifier } from '../identity/identifier.ts';

// For other subjects' batches that spend attestations.
export {
  freeAttestationIfChanged,
  type SpentAttestation,
  selectAttestationUse,
  spendAttestation,
  unusedAttestation,
} from './store.ts';

/**
 * A signed statement that an identifier is verified; times are ISO 8601, the signature is 0x-hex (specification
 * section 2).
 */
export interface Attestation {
  readonly identifier: string;
  readonly channel: string;
  readonly verified_at: string;
  readonly expires_at: string;
  readonly registrar: string;
  readonly signature: string;
}

type Claims = Omit<Attestation, 'signature'>;

/** Signs with the first key, for one purpose. `verifiedAt` is milliseconds, the lifetime seconds. */
export function signAttestation(
  keys: readonly Uint8Array[],
  {
    identifier,
    verifiedAt,
    ttlSeconds,
    registrar,
    purpose = 'registration',
  }: { identifier: Identifier; verifiedAt: number; ttlSeconds: number; registrar: string; purpose?: AttestedPurpose },
): Attestation {
  const claims: Claims = {
    identifier: identifier.value,
    channel: identifier.channel,
    verified_at: isoTime(verifiedAt),
    expires_at: isoTime(verifiedAt + ttlSeconds * 1000),
    registrar,
  };
  return { ...claims, signature: `0x${toHex(mac(keys[0] as Uint8Array, LABELS[purpose], claims))}` };
}

/**
 * The attestation in `value` if its shape is right and its MAC for the purpose matches one of the keys. Every key is
 * tried, so the time reveals nothing. The caller checks expiry, registrar and owner.
 */
export function openAttestation(
  keys: readonly Uint8Array[],
  value: unknown,
  purpose: AttestedPurpose = 'registration',
): Attestation | undefined {
  const attestation = shapeOf(value);
  const signature = attestation && fromHex(attestation.signature.slice(2));
  if (!attestation || !signature) return undefined;
  const matches = keys.map((key) => equalBytes(mac(key, LABELS[purpose], attestation), signature));
  return matches.includes(true) ? attestation : undefined;
}

/**
 * The label at the beginning of each purpose's MAC, so that an attestation opens what its code was for, and nothing
 * else.
 */
const LABELS: Readonly<Record<AttestedPurpose, string>> = {
  registration: 'vault/attestation/v1',
  recovery: 'vault/attestation/recovery/v1',
};

const MEMBERS = ['channel', 'expires_at', 'identifier', 'registrar', 'verified_at'] as const;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function shapeOf(value: unknown): Attestation | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const record = value as Record<string, unknown>;
  const strings = [...MEMBERS, 'signature'].every((name) => {
    const member = record[name];
    return typeof member === 'string' && member.isWellFormed();
  });
  const attestation = record as unknown as Attestation;
  const wellFormed =
    strings &&
    /^0x[0-9a-f]{64}$/.test(attestation.signature) &&
    ISO_TIME.test(attestation.verified_at) &&
    ISO_TIME.test(attestation.expires_at);
  return wellFormed ? attestation : undefined;
}

/**
 * HMAC-SHA256 over a domain label and the RFC 8785 (JCS) form, which for five string members is their sorted JSON. The
 * next call overwrites it.
 */
function mac(key: Uint8Array, label: string, claims: Claims): Uint8Array {
  const members = MEMBERS.map((name) => `${JSON.stringify(name)}:${JSON.stringify(claims[name])}`);
  return hmacDigest(key)(utf8(`${label}\0{${members.join(',')}}`));
}
