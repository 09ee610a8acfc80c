import { equalText, toBase64url, toHex, utf8 } from '../base/bytes.ts';
import { sha256Digest } from '../base/hmac.ts';
import type { Random } from '../base/random.ts';
import type { Client } from './client.ts';

/** The form of a secret's digest in `CLIENTS`. */
export const SECRET_DIGEST = /^sha256:[0-9a-f]{64}$/;

/** A new secret: base64url of 32 random bytes. */
export function createClientSecret(random: Random): string {
  return toBase64url(random(32));
}

/** The form in which `CLIENTS` holds a secret, which is too random to be guessed from it. */
export function secretDigest(secret: string): string {
  return `sha256:${toHex(sha256Digest(utf8(secret)))}`;
}

/** Whether a secret is one of the client's; takes the same time whichever it is. */
export function isSecretOf({ secrets }: Pick<Client, 'secrets'>, secret: string): boolean {
  const digest = secretDigest(secret);
  return secrets.map((known) => equalText(known, digest)).includes(true);
}
