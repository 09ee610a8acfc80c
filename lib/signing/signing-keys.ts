// The keys that sign ID tokens: published before they sign, and until the last token that they signed has ended.
import { DAY_MS, isoTime } from '../base/clock.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { endKeysBefore, insertKey, type StoredKey, selectKeys, sweepKeys, toStoredKey } from './key-store.ts';
import { makeKey, openKey, type PublicJwk } from './sealed-key.ts';

/** How long the next key is published before it signs: longer than anybody may cache `/jwks`. */
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

/** The public halves that are published. Makes the first key. */
export async function publishedKeys(ctx: SigningContext): Promise<readonly PublicJwk[]> {
  await signingKey(ctx);
  return ctx.keyFacts.keys.map(({ jwk }) => jwk);
}

/** A published key by its `kid`; undefined if there is none. */
export async function findKey(ctx: SigningContext, kid: string): Promise<PublicJwk | undefined> {
  const keys = await readKeys(ctx);
  return keys.find((key) => key.kid === kid)?.jwk;
}

/** A published key as operators see it; times are ISO 8601. */
export interface KeyView {
  readonly kid: string;
  readonly state: 'signing' | 'next' | 'former' | 'sealed';
  readonly signs_from: string;
  readonly ends_at: string | null;
}

/** The published keys, the newest first. Makes none. */
export async function describeKeys(ctx: SigningContext): Promise<readonly KeyView[]> {
  const keys = await readKeys(ctx);
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

/** The key that signs now. Makes one if there is none that can be opened: nothing depends on the one before. */
export async function signingKey(ctx: SigningContext): Promise<SigningKey & { readonly privateKey: CryptoKey }> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const now = ctx.clock.now();
    const keys = await readKeys(ctx);
    const current = currentKey(keys, now);
    if (current) {
      ctx.metrics.gauge('vault_signing_key_age_seconds').set(Math.max(0, now - current.signsFrom) / 1000);
      return current;
    }
    if (keys.some((key) => !isOpen(key))) ctx.log({ level: 'warn', event: 'signing_key_sealed', message: SEALED });
    await addKey(ctx, keys, { signsFrom: now });
  }
  throw new Error('no key to sign with: other processes replace each key by one that this one cannot open');
}

const SEALED =
  'The key of ID tokens was sealed under another VAULT_SECRET: a new one is made. Apps read it from /jwks, and people keep their sub.';

/**
 * Makes the key after those that are known, which signs from `signsFrom` on, and ends the known ones; false if another
 * process was faster. The need for it must have been judged by the same keys.
 */
export async function addKey(
  ctx: SigningContext,
  known: readonly SigningKey[],
  { signsFrom, endsNow = false }: { readonly signsFrom: number; readonly endsNow?: boolean },
): Promise<boolean> {
  const { config, clock, db, keys, random, keyFacts } = ctx;
  const newest = Math.max(-1, ...known.map(({ madeAt }) => madeAt));
  const { jwk, sealed } = await makeKey(keys.sealing, random);
  const madeAt = clock.now();
  const lastToken = signsFrom + config.idTokenSeconds * 1000;
  const isFirst = known.length === 0;
  const event = eventOf('key.rotated', { app: DEFAULT_APP, at: madeAt }, { key: 'signing' });
  const [made] = await db.write(
    insertKey({ kid: jwk.kid, public: JSON.stringify(jwk), sealed, madeAt, signsFrom, endsAt: null }, newest),
    ...(isFirst ? [] : [emitEvent(event, { ifChanged: true })]),
    sweepKeys(madeAt),
    endKeysBefore(jwk.kid, endsNow ? madeAt : lastToken + DAY_MS),
  );
  keyFacts.readAt = Number.NEGATIVE_INFINITY;
  return made?.rowsAffected === 1;
}

/** Makes the next key when the newest is `SIGNING_KEY_DAYS` old; by the process that has the lease. */
export async function rotateKeys(ctx: SigningContext & Pick<Platform, 'leases'>): Promise<boolean> {
  const { config, clock, leases } = ctx;
  const now = clock.now();
  await signingKey(ctx);
  const { keys } = ctx.keyFacts;
  const newest = Math.max(...keys.map(({ signsFrom }) => signsFrom));
  if (now < newest + config.signingKeyDays * DAY_MS) return false;
  if (await leases.take('signing-keys', LEASE_MS)) await addKey(ctx, keys, { signsFrom: now + KEY_LEAD_MS });
  return false;
}

const LEASE_MS = 30_000;

/**
 * The published keys, read once a second: so often that no vault signs by a key that was replaced at once, and none
 * shows a list without the newest.
 */
export async function readKeys(
  { keyFacts, clock, db, keys }: SigningContext,
  freshMs = KEYS_FRESH_MS,
): Promise<readonly SigningKey[]> {
  const startedAt = clock.monotonic();
  if (startedAt - keyFacts.readAt < freshMs) return keyFacts.keys;
  const rows = await db.read(selectKeys(clock.now()));
  const known = new Map(keyFacts.keys.map((key) => [key.kid, key.privateKey]));
  keyFacts.keys = await Promise.all(
    rows.map(toStoredKey).map(async (key) => ({
      ...key,
      jwk: JSON.parse(key.public) as PublicJwk,
      privateKey: known.get(key.kid) ?? (await openKey(keys.sealing, key.kid, key.sealed)),
    })),
  );
  keyFacts.readAt = startedAt;
  return keyFacts.keys;
}

function isOpen(key: SigningKey): key is SigningKey & { readonly privateKey: CryptoKey } {
  return key.privateKey !== undefined;
}
