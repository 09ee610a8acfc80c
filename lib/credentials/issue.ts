import { isoTime } from '../base/clock.ts';
import type { VaultError } from '../base/error.ts';
import type { Condition, Result, Statement } from '../db/database.ts';
import { eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { type Identifier, maskIdentifier, type ProvableChannel } from '../identity/identifier.ts';
import { useForCredential } from '../limits/budgets.ts';
import { lastLimitReached } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import { type OpenKey, type SigningContext, signingKey } from '../signing/signing-keys.ts';
import type { HolderKey } from './key-proof.ts';
import { signSdJwt } from './sd-jwt.ts';
import { type CredentialKind, credentialTypeOf, KIND_OF } from './types.ts';

/** The services that credentials need. */
export type CredentialContext = SigningContext & Pick<Platform, 'db'>;

/** A credential, as the holder gets it. */
export interface Credential {
  readonly credential: string;
  readonly expires_at: string;
}

/** A proven address to make a credential of. */
export interface Proven {
  readonly identifier: Identifier<ProvableChannel>;
  readonly holder: HolderKey;
  /** When it was proven, in milliseconds. */
  readonly verifiedAt: number;
  /** The account that the address is registered for; shown by its passkey alone. */
  readonly did: string | null;
}

/** A request for a credential: the address, its DID, and the app that asked. */
export interface Request extends Pick<Proven, 'identifier' | 'did'> {
  readonly app: string;
}

/**
 * The statements that count a credential and record it, unless the limit is full or the condition fails; `changes()`
 * decides too with `ifChanged`. The first of them is the verdict, the last reads the limit where it refused.
 */
export function countCredential(
  { config }: Pick<Platform, 'config'>,
  { identifier, did, app }: Request,
  now: number,
  { ifChanged, when }: { readonly ifChanged: boolean; readonly when?: Condition },
): readonly Statement[] {
  const by = did === null ? 'code' : 'passkey';
  const use = useForCredential(config, identifier.key, by, now);
  const { channel } = identifier;
  const event = eventOf(
    'credential.issued',
    { app, at: now },
    { identifier: maskIdentifier(identifier), channel, did, by },
  );
  const room = when ? { sql: `${use.room.sql} AND ${when.sql}`, args: { ...use.room.args, ...when.args } } : use.room;
  return [emitEvent(event, { ifChanged, when: room }), ...use.spend];
}

/** Whether a credential was counted: the results of `countCredential`. */
export function isCounted([verdict]: readonly Result[]): boolean {
  return verdict?.rowsAffected === 1;
}

/** The 429 of a credential that was not counted; undefined where its limit has room. */
export async function limitOfCredential(
  ctx: Pick<Platform, 'config' | 'db' | 'metrics'>,
  { identifier, did }: Request,
  now: number,
): Promise<VaultError | undefined> {
  const use = useForCredential(ctx.config, identifier.key, did === null ? 'code' : 'passkey', now);
  const [state] = await ctx.db.read(use.state);
  const full = use.full(state);
  return full.length > 0 ? lastLimitReached(ctx, full) : undefined;
}

/** The key that credentials are signed by now: taken before anything is spent. */
export function credentialKey(ctx: SigningContext): Promise<OpenKey> {
  return signingKey(ctx, 'ES256');
}

/** Signs a credential of an address that was proven. */
export async function signCredential(
  { config, random }: Pick<Platform, 'config' | 'random'>,
  key: OpenKey,
  { identifier, holder, verifiedAt, did }: Proven,
  now: number,
): Promise<Credential> {
  const kind = KIND_OF[identifier.channel];
  const issuedAt = Math.floor(now / 1000);
  const endsAt = issuedAt + config.credentialTtlSeconds;
  const claims = {
    iss: config.baseUrl,
    vct: credentialTypeOf(config, kind),
    iat: issuedAt,
    exp: endsAt,
    verified_at: Math.floor(verifiedAt / 1000),
    cnf: { jwk: holder },
  };
  const credential = await signSdJwt(random, key, claims, hiddenOf(kind, identifier.value, did));
  return { credential, expires_at: isoTime(endsAt * 1000) };
}

function hiddenOf(kind: CredentialKind, value: string, did: string | null): readonly (readonly [string, string])[] {
  const sub = did === null ? [] : [['sub', did] as const];
  if (kind === 'phone') return [['phone_number', value], ...sub];
  return [['email', value], ['email_domain', value.slice(value.lastIndexOf('@') + 1)], ...sub];
}
