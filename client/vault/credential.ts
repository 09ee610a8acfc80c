// Credentials of proven addresses, and their showings: a file of its own, loaded when somebody asks for one.
import { utf8 } from '../bytes.ts';
import { shown } from '../order-members.ts';
import { fromBase64url, toBase64url } from '../wallet/bytes.ts';
import type { Call } from './call.ts';
import { prove } from './code.ts';
import { fault, parseJson, VaultClientError } from './error.ts';
import { keyProof, newHolderKey, signJwt } from './holder-key.ts';
import type { Progress } from './progress.ts';
import type { Proving } from './registration-run.ts';

/** The address, and how the person is asked for the code. */
export type CredentialOptions = Proving &
  ({ readonly email: string } | { readonly phone: string }) & {
    readonly signal?: AbortSignal | undefined;
  };

/** A credential that the page has kept, with its key: IndexedDB takes both. */
export interface KeptCredential {
  /** An SD-JWT VC with all its disclosures. */
  readonly credential: string;
  /** The holder's ES256 key, of this credential alone; no script can read its private half. */
  readonly key: CryptoKeyPair;
}

/** How a credential is shown. */
export interface PresentOptions {
  /** The origin of the service that it is shown to, by your own knowledge: never by the word of who asks. */
  readonly audience: string;
  /** The nonce of that service, for this showing alone. */
  readonly nonce: string;
  /** The claims that are shown, such as `email_domain`; none, if absent. */
  readonly disclose?: readonly string[];
}

/** A credential, and how to show it. */
export interface HeldCredential extends KeptCredential {
  /** When it ends, by ISO 8601. */
  readonly expiresAt: string;
  /** The names of the claims that can be shown. */
  readonly claims: readonly string[];
  /** The credential with these claims, and the key's signature for that service. Rejects with a `TypeError`. */
  readonly present: (options: PresentOptions) => Promise<string>;
}

/**
 * A credential of an address, by a code that is sent for it, for a key that is made for it; or the one that was kept.
 * Throws `not_offered` before a code is sent, `cancelled`, and a `TypeError` for arguments of the wrong kind.
 */
export async function credential(
  call: Call,
  url: string,
  given: CredentialOptions | KeptCredential,
): Promise<HeldCredential> {
  if (given && 'credential' in given) return hold(given);
  const { identifier, channel } = addressOf(given);
  const { askCode, pass, language, signal } = given;
  const audience = await issuerOf(call, url, signal);
  const key = await newHolderKey();
  let progress: Progress = { identifier, channel };
  const run = {
    ...{ call: callFor(call, (nonce) => keyProof(key, audience, nonce)), pass, language, signal },
    progress: () => progress,
    keep: (change: Partial<Progress>) => {
      progress = { ...progress, ...change };
    },
  };
  const proven = await prove(run, askCode);
  // A vault of an earlier release knows no purpose.
  if (!proven || !('credential' in proven)) throw fault('vault_too_old');
  return hold({ credential: proven.credential, key });
}

/** Calls whose codes are for a credential, and whose checks bring the proof of the key. */
function callFor(call: Call, proofFor: (nonce: string) => Promise<string>): Call {
  return async (name, input, options) => {
    const { challenge } = (input ?? {}) as { readonly challenge?: string };
    const holder = challenge === undefined ? {} : { holder: await proofFor(challenge) };
    return call(name, { ...input, purpose: 'credential', ...holder } as typeof input, options);
  };
}

function addressOf(given: unknown): { readonly identifier: string; readonly channel: 'email' | 'sms' } {
  const { email, phone, askCode } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if ((email === undefined) === (phone === undefined))
    throw new TypeError('credential: expected one of email and phone, or credential and key');
  if (typeof askCode !== 'function')
    throw new TypeError(`credential: askCode is ${shown(askCode)}; expected a function`);
  const text = email ?? phone ?? '';
  if (typeof text !== 'string')
    throw new TypeError(`credential: ${email === undefined ? 'phone' : 'email'} is ${shown(text)}; expected a text`);
  const identifier = text.trim();
  if (!identifier) throw fault('cancelled');
  return { identifier, channel: email === undefined ? 'sms' : 'email' };
}

/** The name that the vault has as issuer, which must be that of the client's `url`. */
async function issuerOf(call: Call, url: string, signal: AbortSignal | undefined): Promise<string> {
  const { issuer } = await call('GET /.well-known/jwt-vc-issuer', {}, { signal }).catch((error: unknown) => {
    throw error instanceof VaultClientError && error.error === 'not_found' ? fault('not_offered') : error;
  });
  // Else a vault could have the key proven for another one.
  if (new URL(issuer).origin === new URL(url).origin) return issuer;
  throw fault('not_offered', { hint: `This vault issues as ${issuer}: make the client with that url.` });
}

/** Reads a credential, and shows it. Throws a `TypeError` for one that cannot be read. */
function hold({ credential, key }: KeptCredential): HeldCredential {
  const [token = '', ...rest] = String(credential).split('~');
  const texts = rest.slice(0, -1);
  const { exp } = (read(token.split('.')[1]) ?? {}) as { readonly exp?: unknown };
  const names = texts.map((text) => (read(text) as readonly unknown[] | undefined)?.[1]);
  if (rest.at(-1) !== '' || typeof exp !== 'number' || !names.every((name) => typeof name === 'string'))
    throw new TypeError('credential: credential is no SD-JWT that the vault gave');
  if (key?.privateKey?.algorithm?.name !== 'ECDSA')
    throw new TypeError('credential: key is not the key pair of that credential');
  return {
    ...{ credential, key, claims: names, expiresAt: new Date(exp * 1000).toISOString() },
    async present(options) {
      const { audience, nonce, disclose = [] } = options ?? {};
      for (const [name, value] of Object.entries({ audience, nonce }))
        if (typeof value !== 'string' || value === '')
          throw new TypeError(`present: ${name} is ${shown(value)}; expected a text`);
      if (!Array.isArray(disclose)) throw new TypeError(`present: disclose is ${shown(disclose)}; expected an array`);
      const unknown = disclose.find((name) => !names.includes(name));
      if (unknown !== undefined)
        throw new TypeError(`present: disclose has ${shown(unknown)}; expected some of ${names.join(', ')}`);
      const open = texts.filter((_, index) => disclose.includes(names[index]));
      const shownPart = [token, ...open, ''].join('~');
      const hash = await crypto.subtle.digest('SHA-256', utf8(shownPart));
      const claims = { aud: audience, nonce, sd_hash: toBase64url(new Uint8Array(hash)) };
      return shownPart + (await signJwt(key, { typ: 'kb+jwt' }, claims));
    },
  };
}

function read(part = ''): unknown {
  try {
    return parseJson(new TextDecoder().decode(fromBase64url(part)));
  } catch {
    return undefined;
  }
}
