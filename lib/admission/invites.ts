import { DAY_MS, isoTime } from '../base/clock.ts';
import { badRequest, VaultError } from '../base/error.ts';
import { type Random, randomId } from '../base/random.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { ANY_DOMAIN, inferChannel, maskIdentifier, parseIdentifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { inviteDigest, isRefusedDomain } from './admission.ts';
import type { RefusedDomains } from './refused-domains.ts';
import {
  type Invite,
  insertInvite,
  revokeInvite,
  selectInvite,
  selectInviteBy,
  selectInvites,
  toInvite,
} from './store.ts';

/** The most uses of one invite, its longest lifetime, and its default lifetime. */
export const INVITE_USES_MAX = 10_000;
export const INVITE_DAYS_MAX = 365;
export const INVITE_DAYS = 7;
/** Invites in one list. */
export const INVITE_LIST_MAX = 100;

/** The statuses of an invite. */
export const INVITE_STATUSES = ['live', 'used', 'expired', 'revoked'] as const;

/** An invite as the operator sees it: without its token, its identifier masked. */
export interface InviteView {
  readonly id: number;
  readonly status: (typeof INVITE_STATUSES)[number];
  readonly uses: number;
  readonly used: number;
  /** Null is anybody's, and any app's. */
  readonly identifier: string | null;
  readonly app: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}

/** The options of a new invite. */
export interface InviteRequest {
  readonly uses?: number | undefined;
  readonly expiresInSeconds?: number | undefined;
  /** An identifier of any channel. */
  readonly identifier?: string | undefined;
  readonly app?: string | undefined;
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'db'>;

/**
 * Makes an invite. Its token is in this answer alone: the vault keeps a digest. Throws 400 for an unknown app, and
 * for an address whose domain the settings refuse.
 */
export async function createInvite(
  { config, clock, db, random, refusedDomains }: Ctx & { random: Random; refusedDomains: RefusedDomains },
  { uses = 1, expiresInSeconds = (INVITE_DAYS * DAY_MS) / 1000, identifier: text, app }: InviteRequest,
): Promise<{ readonly token: string; readonly invite: InviteView }> {
  if (app !== undefined && app !== DEFAULT_APP && !config.apps.includes(app))
    throw badRequest('Invalid app', 'Expected one of APPS.');
  const identifier = text === undefined ? undefined : parseIdentifier(inferChannel(text), text, ANY_DOMAIN);
  if (identifier && isRefusedDomain(config, refusedDomains, identifier))
    throw badRequest('Invalid identifier', 'The settings refuse its mail domain, and an invite does not change that.');
  const now = clock.now();
  const token = `inv_${randomId(random)}`;
  const digest = inviteDigest(token);
  const expiresAt = now + expiresInSeconds * 1000;
  const key = identifier?.key ?? null;
  const about = { uses, identifier: identifier ? maskIdentifier(identifier) : null, expires_at: isoTime(expiresAt) };
  const [, , made] = await db.write(
    insertInvite({ digest, app: app ?? null, identifier: key, uses, createdAt: now, expiresAt }),
    emitEvent(eventOf('invite.created', { app: app ?? DEFAULT_APP, at: now }, about), { ifChanged: true }),
    selectInviteBy(digest),
  );
  const [row] = made?.rows ?? [];
  if (!row) throw new Error('an invite that was just stored is missing');
  return { token, invite: viewOf(toInvite(row), now) };
}

/** Up to `INVITE_LIST_MAX` invites, the newest first, with ids below `before`. */
export async function listInvites(
  { db, clock }: Ctx,
  before = Number.MAX_SAFE_INTEGER,
): Promise<readonly InviteView[]> {
  const rows = await db.read(selectInvites(before, INVITE_LIST_MAX));
  return rows.map((row) => viewOf(toInvite(row), clock.now()));
}

/**
 * Ends an invite. People who registered by it stay. Throws 404 `not_found` where the id is unknown or the invite has
 * ended.
 */
export async function endInvite({ db, clock }: Ctx, id: number): Promise<InviteView> {
  const now = clock.now();
  const event = eventOf('invite.revoked', { app: DEFAULT_APP, at: now }, { invite: id });
  const [revoked, , after] = await db.write(
    revokeInvite(id, now),
    emitEvent(event, { ifChanged: true }),
    selectInvite(id),
  );
  const [row] = after?.rows ?? [];
  if (revoked?.rowsAffected !== 1 || !row) throw new VaultError('not_found');
  return viewOf(toInvite(row), now);
}

function viewOf(invite: Invite, now: number): InviteView {
  const { id, uses, used, identifier, app, createdAt, expiresAt } = invite;
  const shown = { id, status: statusOf(invite, now), uses, used, identifier: identifier && masked(identifier), app };
  return { ...shown, created_at: isoTime(createdAt), expires_at: isoTime(expiresAt) };
}

function statusOf({ revokedAt, expiresAt, used, uses }: Invite, now: number): InviteView['status'] {
  if (revokedAt !== null) return 'revoked';
  if (used >= uses) return 'used';
  return expiresAt <= now ? 'expired' : 'live';
}

function masked(key: string): string {
  const at = key.indexOf(':');
  return maskIdentifier({ channel: key.slice(0, at) as 'email' | 'sms' | 'handle', value: key.slice(at + 1) });
}
