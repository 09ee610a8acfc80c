// The keys that sign for others: published before they sign, and until the last of what they signed has ended.
import { DAY_MS, isoTime } from '../base/clock.ts';
import { CREDENTIAL_TTL_SECONDS_MAX, offersCredentials } from '../config/credential-settings.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { endKeysBefore, insertKey, type StoredKey, selectKeys, sweepKeys, toStoredKey } from './key-store.ts';
import { makeKey, openKey, type PublicJwk, type PublicJwks, type SigningAlg } from './sealed-key.ts';

/** How long the next key is published before it signs: longer than anybody may cache the list. */
export const KEY_LEAD_MS = DAY_MS;
/** How long keys that were read are used. */
const KEYS_FRESH_MS = 1_000;
/** The loser of a race for a new key reads the winner's. */
const TRIES = 3;

/** The services that keys need. */
export type SigningContext = Pick<Platform, 'config' | 'clock' | 'db' | 'keys' | 'random' | 'log' | 'metrics'> & {
  readonly keyFacts: KeyFacts;
};

/** A published key; one whose private half this vault cannot open does not sign. */
export interface SigningKey extends StoredKey {
  readonly jwk: PublicJwk;
  readonly privateKey: CryptoKey | undefined;
}

/** A process's memory of the keys. */
export interface KeyFacts {
  /** By the monotonic clock. */
  readAt: number;
  keys: readonly SigningKey[];
}

/** Nothing known yet. */
export function createKeyFacts(): KeyFacts {
  return { readAt: Number.NEGATIVE_INFINITY, keys: [] };
}

/** The public halves of an algorithm that are published. Makes the first key. */
export async function publishedKeys<Alg extends SigningAlg>(
  ctx: SigningContext,
  alg: Alg,
): Promise<readonly PublicJwks[Alg][]> {
  await signingKey(ctx, alg);
  return keysOf(ctx.keyFacts.keys, alg).map(({ jwk }) => jwk as PublicJwks[Alg]);
}

/** The public halves of the keys of credentials; none where this vault issues none. */
export async function credentialKeys(ctx: SigningContext): Promise<readonly PublicJwks['ES256'][]> {
  return offersCredentials(ctx.config) ? publishedKeys(ctx, 'ES256') : [];
}

/** A published key of an algorithm by its `kid`; undefined if there is none. */
export async function findKey(ctx: SigningContext, alg: SigningAlg, kid: string): Promise<PublicJwk | undefined> {
  const keys = await readKeys(ctx, alg);
  return keys.find((key) => key.kid === kid)?.jwk;
}

/** A published key as operators see it; times are ISO 8601. */
export interface KeyView {
  readonly kid: string;
  readonly state: 'signing' | 'next' | 'former' | 'sealed';
  readonly signs_from: string;
  readonly ends_at: string | null;
}

/** The published keys of an algorithm, the newest first. Makes none. */
export async function describeKeys(ctx: SigningContext, alg: SigningAlg): Promise<readonly KeyView[]> {
  const keys = await readKeys(ctx, alg);
  const now = ctx.clock.now();
  const current = currentKey(keys, now);
  const stateOf = (key: SigningKey) => {
    if (!isOpen(key)) return 'sealed';
    if (key === current) return 'signing';
    return key.signsFrom > now ? 'next' : 'former';
  };
  return keys
    .toSorted((a, b) => b.signsFrom - a.signsFrom)
    .map((key) => ({
      kid: key.kid,
      state: stateOf(key),
      signs_from: isoTime(key.signsFrom),
      ends_at: key.endsAt === null ? null : isoTime(key.endsAt),
    }));
}

/** The newest of the keys that may sign by now and can be opened. */
function currentKey(keys: readonly SigningKey[], now: number) {
  const ready = keys.filter(isOpen).filter(({ signsFrom }) => signsFrom <= now);
  return ready.toSorted((a, b) => b.signsFrom - a.signsFrom)[0];
}

/** A key that can sign. */
export type OpenKey = SigningKey & { readonly privateKey: CryptoKey };

/** The key that signs now. Makes one if there is none that can be opened: nothing depends on the one before. */
export async function signingKey(ctx: SigningContext, alg: SigningAlg): Promise<OpenKey> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const now = ctx.clock.now();
    const keys = await readKeys(ctx, alg);
    const current = currentKey(keys, now);
    if (current) {
      ctx.metrics.gauge('vault_signing_key_age_seconds').set(Math.max(0, now - current.signsFrom) / 1000, { alg });
      return current;
    }
    if (keys.some((key) => !isOpen(key))) ctx.log({ level: 'warn', event: 'signing_key_sealed', alg, message: SEALED });
    await addKey(ctx, alg, keys, { signsFrom: now });
  }
  throw new Error('no key to sign with: other processes replace each key by one that this one cannot open');
}

const SEALED =
  'A key that signs was sealed under another VAULT_SECRET: a new one is made and published. People keep their sub at apps.';

/**
 * Makes the key of an algorithm after those that are known, which signs from `signsFrom` on, and ends the known ones;
 * false if another process was faster. The need for it must have been judged by the same keys.
 */
export async function addKey(
  ctx: SigningContext,
  alg: SigningAlg,
  known: readonly SigningKey[],
  { signsFrom, endsNow = false }: { readonly signsFrom: number; readonly endsNow?: boolean },
): Promise<boolean> {
  const { config, clock, db, keys, random, keyFacts } = ctx;
  const newest = Math.max(-1, ...known.map(({ madeAt }) => madeAt));
  const { jwk, sealed } = await makeKey(alg, keys.sealing, random);
  const madeAt = clock.now();
  const lastSigned = signsFrom + LIFE_SECONDS[alg](config) * 1000;
  const isFirst = known.length === 0;
  const event = eventOf('key.rotated', { app: DEFAULT_APP, at: madeAt }, { key: KEY_NAMES[alg] });
  const [made] = await db.write(
    insertKey({ kid: jwk.kid, alg, public: JSON.stringify(jwk), sealed, madeAt, signsFrom, endsAt: null }, newest),
    ...(isFirst ? [] : [emitEvent(event, { ifChanged: true })]),
    sweepKeys(madeAt),
    endKeysBefore(jwk, endsNow ? madeAt : lastSigned + DAY_MS),
  );
  keyFacts.readAt = Number.NEGATIVE_INFINITY;
  return made?.rowsAffected === 1;
}

/** The names of the keys in events. */
const KEY_NAMES = { RS256: 'signing', ES256: 'credentials' } as const;

/** How long what a key signed last is good. Of credentials the longest: the setting may have been another one. */
const LIFE_SECONDS = {
  RS256: ({ idTokenSeconds }: SigningContext['config']) => idTokenSeconds,
  ES256: () => CREDENTIAL_TTL_SECONDS_MAX,
};

/** Rotates the keys that are in use: of ID tokens with apps to sign in to, and of credentials where they are issued. */
export async function rotateUsedKeys(
  ctx: RotationContext & { readonly clients: object | undefined },
): Promise<boolean> {
  if (ctx.clients) await rotateKeys(ctx, 'RS256');
  if (offersCredentials(ctx.config)) await rotateKeys(ctx, 'ES256');
  return false;
}

type RotationContext = SigningContext & Pick<Platform, 'leases'>;

/**
 * Makes the next key of an algorithm when the newest is `SIGNING_KEY_DAYS` old; by the process that has the lease.
 */
async function rotateKeys(ctx: RotationContext, alg: SigningAlg): Promise<void> {
  const { config, clock, leases } = ctx;
  const now = clock.now();
  // A key of RSA takes a while to make: the first sign-in does not wait for it. Others are made when they sign first.
  if (alg !== 'RS256' && (await readKeys(ctx, alg)).length === 0) return;
  await signingKey(ctx, alg);
  const keys = keysOf(ctx.keyFacts.keys, alg);
  const newest = Math.max(...keys.map(({ signsFrom }) => signsFrom));
  if (now < newest + config.signingKeyDays * DAY_MS) return;
  if (await leases.take('signing-keys', LEASE_MS)) await addKey(ctx, alg, keys, { signsFrom: now + KEY_LEAD_MS });
}

const LEASE_MS = 30_000;

/**
 * The published keys of an algorithm, read once a second: so often that no vault signs by a key that was replaced at
 * once, and none shows a list without the newest.
 */
export async function readKeys(ctx: SigningContext, alg: SigningAlg): Promise<readonly SigningKey[]> {
  return keysOf(await readAllKeys(ctx), alg);
}

function keysOf(keys: readonly SigningKey[], alg: SigningAlg): readonly SigningKey[] {
  return keys.filter((key) => key.alg === alg);
}

async function readAllKeys({ keyFacts, clock, db, keys }: SigningContext): Promise<readonly SigningKey[]> {
  const startedAt = clock.monotonic();
  if (startedAt - keyFacts.readAt < KEYS_FRESH_MS) return keyFacts.keys;
  const rows = await db.read(selectKeys(clock.now()));
  const known = new Map(keyFacts.keys.map((key) => [key.kid, key.privateKey]));
  keyFacts.keys = await Promise.all(
    rows.map(toStoredKey).map(async (key) => ({
      ...key,
      jwk: JSON.parse(key.public) as PublicJwk,
      privateKey: known.get(key.kid) ?? (await openKey(keys.sealing, key, key.sealed)),
    })),
  );
  keyFacts.readAt = startedAt;
  return keyFacts.keys;
}

function isOpen(key: SigningKey): key is OpenKey {
  return key.privateKey !== undefined;
}
