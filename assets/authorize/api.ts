// This page's requests to the vault besides the client's: its settings, and the answer for the app.

import { utf8 } from '../../client/bytes.ts';
import { pause } from '../../client/vault/call.ts';
import { VaultClientError } from '../../client/vault/error.ts';
import { signWith } from '../../client/vault/passkeys.ts';
import type { Attestation } from '../../client/vault/wire.ts';
import { type Hex, toBase64url } from '../../client/wallet/bytes.ts';
import { type AskPasskeyOptions, accountNamedBy } from '../../client/wallet/passkey.ts';
import { type ProofParts, proofOf } from '../../client/wallet/proof.ts';
import { tellAccepted } from '../wallet/signals.ts';
import type { AppLink } from './link.ts';

/** The vault's configuration of this page. */
export interface PageConfig {
  /** The vault's origin. */
  readonly issuer: string;
  readonly rpId: string;
  readonly registrar: string;
  readonly channels: readonly ('email' | 'sms')[];
  /** In how many hours an address moves that another account holds. */
  readonly moveHours: number;
  /** Accounts can be recovered by mail. */
  readonly recovers: boolean;
  /** The nonce of the browser's email token; null where the vault takes none. */
  readonly tokenNonce: string | null;
  /**
   * The error that refuses new accounts for this person's network now, and for how many seconds; null while none does.
   */
  readonly full: { readonly error: string; readonly retry_after: number | null } | null;
}

/** Evidence of whose registration it is. */
export type Evidence = { readonly credentialId: string } & (
  | { readonly attestation: Attestation }
  | { readonly nonce: string; readonly proof: ProofParts; readonly smartAccount: Hex | undefined }
);

/** Where the browser goes: the vault has composed it. */
export interface Answer {
  readonly location: string;
}

/** The choice before a code: the person picks which address of each channel the app gets. */
export interface Choice {
  readonly channels: readonly ('email' | 'sms')[];
  /** The oldest first; `moves_at` while another account holds it. */
  readonly addresses: readonly {
    readonly identifier: string;
    readonly channel: 'email' | 'sms';
    readonly moves_at: string | null;
  }[];
  readonly did: string;
  readonly smartAccount: Hex;
  /** The passkey's key. */
  readonly pubKeyX: Hex;
  readonly pubKeyY: Hex;
}

/** Which address of each channel the app gets; null for none. */
export type Picked = Readonly<Partial<Record<'email' | 'sms', string | null>>>;

const ANSWER_MS = 25_000;

/** Reads the settings. */
export function readPageConfig(): Promise<PageConfig> {
  return ask('/authorize/config') as Promise<PageConfig>;
}

/** A passkey's signature for an app, and a call that tells its manager that the vault took it. */
export interface Signed {
  readonly evidence: Evidence;
  readonly accepted: () => void;
}

/** Has one of these passkeys, or one that the person picks, sign for the app's request. */
export async function signForApp(
  { rpId, registrar }: PageConfig,
  link: AppLink,
  ids: readonly string[] = [],
  options: AskPasskeyOptions = {},
): Promise<Signed> {
  const { nonce } = (await askForCode(link, { fresh: true })) as { nonce: string };
  const lines = ['vault/authorize/v2', registrar, toBase64url(await sha256(link.query)), nonce];
  const assertion = await signWith(rpId, await sha256(lines.join('\n')), ids, options);
  const { credentialId, userHandle } = assertion;
  return {
    // A passkey that was added later, or by a recovery, registered nothing: it names its account.
    evidence: { credentialId, nonce, proof: proofOf(assertion), smartAccount: accountNamedBy(assertion) },
    accepted: () => userHandle && tellAccepted(rpId, toBase64url(userHandle), [credentialId]),
  };
}

async function sha256(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)));
}

/**
 * Has the vault issue a code, or say what there is to choose. Where the chain does not answer, it is asked again for a
 * while, and while it has not confirmed the registration, for longer, which `onPending` may say.
 */
export async function requestCode(
  link: AppLink,
  evidence: Evidence,
  identifiers: Picked | undefined,
  onPending: () => void,
): Promise<Answer | Choice> {
  const until = performance.now() + PENDING_MS;
  for (let tries = 1; ; tries++) {
    try {
      return (await askForCode(link, { ...evidence, identifiers })) as Answer | Choice;
    } catch (error) {
      const { error: said, retryAfter = 0 } = error as VaultClientError;
      const isPending = said === 'registration_pending' && performance.now() < until;
      if (!isPending && (said !== 'rpc_error' || tries >= TRIES)) throw error;
      if (isPending) onPending();
      await pause(isPending ? retryAfter * 1000 : PAUSE_MS, undefined);
    }
  }
}

/** Where Cancel leads; undefined where the vault does not say. */
export function requestCancel(link: AppLink): Promise<Answer | undefined> {
  return askForCode(link, { cancelled: true }).catch(() => undefined) as Promise<Answer | undefined>;
}

function askForCode({ appId, query }: AppLink, fields: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'x-vault-app': appId };
  return ask('/authorize/code', { method: 'POST', headers, body: JSON.stringify({ request: query, ...fields }) });
}

/** A node may be a block behind the one that said it was confirmed. */
const [TRIES, PAUSE_MS] = [3, 1_500];
/** A registration that the chain does not confirm for so long needs a person's patience. */
const PENDING_MS = 120_000;

async function ask(path: string, init: RequestInit = {}): Promise<unknown> {
  const options = { ...init, credentials: 'omit', signal: AbortSignal.timeout(ANSWER_MS) } as const;
  const response = await fetch(path, options).catch((cause) => {
    throw new VaultClientError('unreachable', { cause });
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok && typeof answer === 'object' && answer !== null) return answer;
  const { error, reason, hint } = (answer ?? {}) as Readonly<Record<string, string | undefined>>;
  const retryAfter = Number(response.headers.get('retry-after')) || undefined;
  throw new VaultClientError(typeof error === 'string' ? error : 'unreachable', {
    status: response.status,
    reason,
    hint,
    retryAfter,
  });
}
