// Credentials of proven addresses, and their showings: a file of its own, loaded when somebody asks for one.
import { shown } from '../order-members.ts';
import type { Call } from './call.ts';
import { prove } from './code.ts';
import { type Addressed, type PasskeyOf, touchedCredential } from './credential-touch.ts';
import { fault, VaultClientError } from './error.ts';
import { keyProof, nameIn, newHolderKey, readPart, showTo } from './holder-key.ts';
import type { Progress } from './progress.ts';
import type { Proving } from './registration-run.ts';
import type { VaultInfo } from './vault-info.ts';

/** The address, and how the person shows that it is theirs: by a code, or by the passkey that registered it. */
export type CredentialOptions = ({ readonly email: string } | { readonly phone: string }) & {
  readonly signal?: AbortSignal | undefined;
} & ((Proving & { readonly passkey?: undefined }) | ByPasskey);

/** On pages of the vault's own origin alone. */
interface ByPasskey {
  /** `true`: that of the last person who signed up or in with this client, or one that the person picks. */
  readonly passkey: true | PasskeyOf;
}

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

/** The client that asks. */
interface Asking {
  readonly call: Call;
  readonly info: VaultInfo;
  readonly url: string;
  /** The last person who signed up or in. */
  readonly person: PasskeyOf | undefined;
}

/**
 * A credential of an address for a key that is made for it, by a code that is sent for that or by a passkey; or the one
 * that was kept. Throws `not_offered` before a code is sent or a passkey asked, `cancelled`, and a `TypeError` for
 * arguments of the wrong kind.
 */
export async function credential(
  { call, info, url, person }: Asking,
  given: CredentialOptions | KeptCredential,
): Promise<HeldCredential> {
  if (given && 'credential' in given) return hold(given);
  const address = addressOf(given);
  const { passkey, signal } = given;
  const issuer = await issuerOf(call, url, signal);
  const key = await newHolderKey();
  const by = passkey === true ? person : passkey;
  const credential = passkey
    ? await touchedCredential({ call, info, issuer, signal }, key, address, by)
    : await codeCredential(call, issuer, key, address, given);
  return hold({ credential, key });
}

async function codeCredential(
  call: Call,
  issuer: string,
  key: CryptoKeyPair,
  address: Addressed,
  { askCode, pass, language, signal }: Proving & { readonly signal?: AbortSignal | undefined },
): Promise<string> {
  let progress: Progress = address;
  const run = {
    ...{ call: callFor(call, (nonce) => keyProof(key, { aud: issuer, nonce })), pass, language, signal },
    progress: () => progress,
    keep: (change: Partial<Progress>) => {
      progress = { ...progress, ...change };
    },
  };
  const proven = await prove(run, askCode);
  // A vault of an earlier release knows no purpose.
  if (!proven || !('credential' in proven)) throw fault('vault_too_old');
  return proven.credential;
}

/** Calls whose codes are for a credential, and whose checks bring the proof of the key. */
function callFor(call: Call, proofFor: (nonce: string) => Promise<string>): Call {
  return async (name, input, options) => {
    const { challenge } = (input ?? {}) as { readonly challenge?: string };
    const holder = challenge === undefined ? {} : { holder: await proofFor(challenge) };
    return call(name, { ...input, purpose: 'credential', ...holder } as typeof input, options);
  };
}

function addressOf(given: unknown): Addressed {
  const { email, phone, askCode, passkey } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if ((email === undefined) === (phone === undefined))
    throw new TypeError('credential: expected one of email and phone, or credential and key');
  if ((askCode === undefined) === (passkey === undefined))
    throw new TypeError('credential: expected one of askCode and passkey');
  if (passkey === undefined && typeof askCode !== 'function')
    throw new TypeError(`credential: askCode is ${shown(askCode)}; expected a function`);
  const isNamed = typeof (passkey as Partial<PasskeyOf> | null | undefined)?.credentialId === 'string';
  if (askCode === undefined && passkey !== true && !isNamed)
    throw new TypeError(`credential: passkey is ${shown(passkey)}; expected true or { credentialId, account }`);
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
  const { exp } = (readPart(token.split('.')[1]) ?? {}) as { readonly exp?: unknown };
  const names = rest.slice(0, -1).map(nameIn);
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
      return showTo(key, credential, disclose, { aud: audience, nonce });
    },
  };
}
