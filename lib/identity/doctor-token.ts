import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { equalText, toHex, utf8 } from '../base/bytes.ts';
import { doctorKey } from './keys.ts';

/** How long a token of the doctor is valid. */
export const DOCTOR_TOKEN_TTL_MS = 60_000;

/**
 * A token by which `vault doctor` asks a running vault how it saw a request: `<valid until>.<HMAC-SHA256>` under a key
 * of `VAULT_SECRET`. The server at `BASE_URL` gets it, even if it is somebody else's, so it opens nothing else.
 */
export function makeDoctorToken(vaultSecret: Uint8Array, now: number): string {
  const until = now + DOCTOR_TOKEN_TTL_MS;
  return `${until}.${sign(vaultSecret, until)}`;
}

/** Whether the token is this vault's and still valid. */
export function isDoctorToken(vaultSecret: Uint8Array, token: string, now: number): boolean {
  const [, digits, signature = ''] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(token) ?? [];
  const until = Number(digits);
  // A clock that is ahead makes no token that lives much longer.
  const isTimely = until > now && until <= now + 2 * DOCTOR_TOKEN_TTL_MS;
  return isTimely && equalText(signature, sign(vaultSecret, until));
}

function sign(vaultSecret: Uint8Array, until: number): string {
  return toHex(hmac(sha256, doctorKey(vaultSecret), utf8(String(until))));
}

/** The origin of a request as the vault saw it, for the operator who sets up a proxy. */
export interface Sighting {
  /** The key that limits count. */
  readonly client: string;
  /** The socket's other end; null where the host does not know it. */
  readonly peer: string | null;
  /** Whether `TRUSTED_PROXIES` lists the peer. */
  readonly trusted: boolean;
  /** The value of `CLIENT_IP_HEADER`; null without it. */
  readonly named: string | null;
  /** Whether a proxy forwarded the request with `X-Forwarded-For`. */
  readonly forwarded: boolean;
}
