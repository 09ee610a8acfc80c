import { isoTime } from '../base/clock.ts';
import { ALL_APPS } from '../events/catalogue.ts';
import type { Keys } from '../identity/keys.ts';
import type { Platform } from '../platform.ts';
import { UCAN_SKEW_SECONDS } from '../ucan/chain.ts';
import type { UcanFault } from '../ucan/fault.ts';
import type { IpldMap } from '../ucan/ipld.ts';
import { mintInvocation, UCAN_NONCE_BYTES } from '../ucan/mint.ts';
import { createVerify, ed25519Signer, type UcanSigner, type Verify } from '../ucan/signature.ts';
import { verifyInvocation } from '../ucan/verify.ts';

/** The UCAN command above all commands of the console; operators delegate it to a dashboard. */
export const CONSOLE_COMMAND = '/vault/console';

/** The UCAN command of a token that opens the event stream. */
export const CONSOLE_READ_COMMAND = `${CONSOLE_COMMAND}/events/read`;

/** The scope of a stream: events of an app or of `ALL_APPS`, of all channels or those of a comma-separated list. */
export interface ConsoleScope {
  readonly app: string;
  readonly channel?: string | undefined;
}

/** The operator's own token by which one of the stream was asked for: it ends with it. `expiresAt` in milliseconds. */
export interface AskedBy {
  readonly cid: string;
  readonly expiresAt: number;
}

/** An issued token; `expires_at` is ISO 8601. */
export interface ConsoleToken {
  readonly token: string;
  readonly expires_at: string;
}

/**
 * The result of a check. `cids` are all CIDs by which the token may be revoked: its own, those of its delegations and
 * of the operator's token by which it was asked for; `expiresAt` in milliseconds.
 */
export type ConsoleVerdict =
  | { readonly ok: true; readonly cid: string; readonly cids: readonly string[]; readonly expiresAt: number }
  | { readonly ok: false; readonly error: 'token_missing' | 'token_invalid' | 'token_expired' | 'token_scope' };

/**
 * Issues a token signed by the vault's operator key, valid for `STREAM_TOKEN_TTL_SECONDS` from `now` (milliseconds),
 * and no longer than the token by which it was asked for.
 */
export async function mintConsoleToken(
  { keys, random, config }: Pick<Platform, 'keys' | 'random' | 'config'>,
  { app, channel }: ConsoleScope,
  now: number,
  by?: AskedBy,
): Promise<ConsoleToken> {
  const { signer: key } = await consoleIdentity(keys);
  const { token, expiresAt } = await mintInvocation({
    key,
    subject: key.did,
    command: CONSOLE_READ_COMMAND,
    args: { app, ...(channel === undefined ? {} : { channel }), ...(by && { operator: by.cid }) },
    expiresAt: Math.min(now + config.streamTokenTtlSeconds * 1000, by?.expiresAt ?? Number.POSITIVE_INFINITY),
    nonce: random(UCAN_NONCE_BYTES),
  });
  return { token, expires_at: isoTime(expiresAt ?? 0) };
}

/**
 * Checks a token for `app` and `channels` at `now` (milliseconds). Expiry is exact, since it ends the stream too; the
 * issuer's clock may be a minute ahead. Revocation is the caller's check.
 */
export async function checkConsoleToken(
  { keys, config }: Pick<Platform, 'keys' | 'config'>,
  token: string | undefined,
  asked: { readonly app: string; readonly channels: readonly string[]; readonly now: number },
): Promise<ConsoleVerdict> {
  if (!token) return refuse('token_missing');
  const { did, verify } = await consoleIdentity(keys);
  const verdict = await verifyInvocation(token, { service: did, now: asked.now, verify });
  if (!verdict.ok) return refuse(ERRORS[verdict.why] ?? 'token_invalid');
  const { subject, command, args, ownExpiresAt, expiresAt, cid, cids } = verdict;
  const endsBy = asked.now + config.streamTokenTtlSeconds * 1000 + UCAN_SKEW_SECONDS * 1000;
  const isShort = ownExpiresAt !== null && ownExpiresAt <= endsBy;
  if (subject !== did || !isShort || expiresAt === null) return refuse('token_invalid');
  if (expiresAt <= asked.now) return refuse('token_expired');
  if (command !== CONSOLE_READ_COMMAND || !allows(args, asked)) return refuse('token_scope');
  const { operator } = args;
  return { ok: true, cid, cids: typeof operator === 'string' ? [...cids, operator] : cids, expiresAt };
}

/** All other faults are `token_invalid`. */
const ERRORS: Partial<Record<UcanFault, 'token_expired' | 'token_scope'>> = {
  expired: 'token_expired',
  command: 'token_scope',
  policy: 'token_scope',
};

function refuse(error: Exclude<ConsoleVerdict, { ok: true }>['error']): ConsoleVerdict {
  return { ok: false, error };
}

/**
 * A token of all apps allows each of them, one without a channel all channels. An unknown argument may be a
 * restriction, so it allows nothing.
 */
function allows(args: IpldMap, { app, channels }: { app: string; channels: readonly string[] }): boolean {
  const { app: ownApp, channel, operator: _, ...others } = args;
  if ((ownApp !== app && ownApp !== ALL_APPS) || Object.keys(others).length > 0) return false;
  if (channel === undefined) return true;
  const held = typeof channel === 'string' ? channel.split(',') : [];
  return channels.length > 0 && channels.every((one) => held.includes(one));
}

/** The vault as the issuer and verifier of its own tokens. */
export interface ConsoleIdentity {
  readonly did: string;
  readonly signer: UcanSigner;
  readonly verify: Verify;
}

/** The vault's DID and signer, and a verifier that caches public keys; created once per `Keys`. */
export async function consoleIdentity(keys: Keys): Promise<ConsoleIdentity> {
  const known = identities.get(keys);
  if (known) return known;
  // Never cache a promise: on Workers a request must not wait for work that another one has started.
  const signer = await ed25519Signer(keys.operatorSeed);
  const identity = { did: signer.did, signer, verify: createVerify() };
  identities.set(keys, identity);
  return identity;
}

const identities = new WeakMap<Keys, ConsoleIdentity>();
