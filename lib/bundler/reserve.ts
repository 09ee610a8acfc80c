// The money of sponsored operations, reserved by the statement that also counts the room of the day.
import { DAY_MS } from '../base/clock.ts';
import type { LimitState, VaultError } from '../base/error.ts';
import type { Row } from '../db/database.ts';
import { selectIsRegistered } from '../holders/holders.ts';
import { useForSponsorship } from '../limits/budgets.ts';
import { boundsOf } from '../limits/catalogue.ts';
import { inGwei } from '../limits/gwei.ts';
import { SPONSORED_PER_ACCOUNT_MAX } from '../limits/limit.ts';
import { lastLimitReached, limitState } from '../limits/limits.ts';
import { sharingNetwork } from '../limits/networks.ts';
import type { Platform } from '../platform.ts';
import { type Charge, RAISES_MAX, worstCaseOf } from './charge.ts';
import {
  type GweiBounds,
  type GweiLimit,
  insertSponsorship,
  type Reservation,
  type Reserved,
  raiseSponsorship,
  type SponsoredNonce,
  selectAccountFull,
  selectGweiFull,
  selectIsCovered,
  selectReserved,
  toReserved,
} from './store.ts';

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics'>;

/** The operation to sponsor, its owner, and the reservation that its nonce has already. */
export interface Standing extends Omit<SponsoredNonce, 'now'> {
  /** The network whose share it uses; null for an account with a final registration, which is counted by itself. */
  readonly network: string | null;
  readonly reserved: Reserved | undefined;
}

/** Reads the reservation of a nonce (shortest 0x-hex) of a sender (lower case), and the network whose share it uses. */
export async function readStanding(
  { config, db, clock }: Ctx,
  { sender, nonce }: Omit<SponsoredNonce, 'now'>,
  client: string,
): Promise<Standing> {
  const [[row], registered] = await Promise.all([
    db.read(selectReserved({ sender, nonce, now: clock.now() })),
    db.read(selectIsRegistered(sender)),
  ]);
  const reserved = row && toReserved(row);
  const network = registered.length > 0 ? null : (sharingNetwork(config, client) ?? null);
  // A row has one network: a later operation's amount counts for the network of the first.
  return { sender, nonce, network: reserved ? reserved.network : network, reserved };
}

/** Spares upstreams a call whose answer nobody would get. Throws 429 `sponsor_limit_reached`. */
export async function checkDayHasRoom(ctx: Ctx, standing: Standing, charge: Charge): Promise<void> {
  const { config, db } = ctx;
  const reservation = reservationOf(ctx, standing, charge);
  const use = useForSponsorship(config, standing.network, reservation.now);
  const isNew = standing.reserved === undefined;
  const [[state], ofAccount, ofWei] = await Promise.all([
    isNew ? db.read(use.state) : [],
    isNew ? db.read(selectAccountFull(reservation, SPONSORED_PER_ACCOUNT_MAX)) : [],
    db.read(selectGweiFull(reservation, gweiBounds(config))),
  ]);
  const full = [
    ...use.full(state),
    ...accountFull(config, reservation, ofAccount),
    ...gweiFull(config, reservation, ofWei),
  ];
  if (full.length > 0) throw lastLimitReached(ctx, full);
}

/**
 * Reserves an operation's worst case, in the write that counts it; `isRaise` says that its price takes one of the
 * raises. Undefined once it is reserved, else the 429; null where another request has raised the nonce's price
 * meanwhile.
 */
export async function reserve(
  ctx: Ctx,
  standing: Standing,
  charge: Charge,
  isRaise: boolean,
): Promise<VaultError | null | undefined> {
  const { config, db } = ctx;
  const reservation = reservationOf(ctx, standing, charge);
  const use = useForSponsorship(config, standing.network, reservation.now);
  const bounds = gweiBounds(config);
  const raised = isRaise && standing.reserved ? { ...standing.reserved, max: RAISES_MAX } : undefined;
  const results = await db.write(
    insertSponsorship(reservation, bounds, use.room, SPONSORED_PER_ACCOUNT_MAX),
    ...use.spend,
    use.resets,
    selectAccountFull(reservation, SPONSORED_PER_ACCOUNT_MAX),
    raiseSponsorship(reservation, bounds, raised),
    selectIsCovered(reservation),
    selectGweiFull(reservation, bounds),
    selectReserved(reservation),
  );
  const [resets, ofAccount, , covered, ofWei, rows] = results.slice(-6).map((result) => result.rows);
  if (covered?.length) return undefined;
  const ofCount = rows?.length ? [] : [...use.full(resets?.[0]), ...accountFull(config, reservation, ofAccount)];
  const full = [...ofCount, ...gweiFull(config, reservation, ofWei)];
  return full.length > 0 ? lastLimitReached(ctx, full) : null;
}

function reservationOf({ clock }: Ctx, { sender, nonce, network }: Standing, charge: Charge): Reservation {
  const { maxFeePerGas: maxFee = 0n, maxPriorityFeePerGas: tip = 0n } = charge;
  return { sender, nonce, network, maxFee, tip, gwei: inGwei(worstCaseOf(charge)), now: clock.now() };
}

function gweiBounds(config: Ctx['config']): GweiBounds {
  const max = (name: GweiLimit) => boundsOf(config, name).max;
  return { all: max('sponsor-wei'), network: max('sponsor-wei-per-network'), account: max('sponsor-wei-per-account') };
}

function gweiFull(config: Ctx['config'], reservation: Reservation, rows: readonly Row[] = []): LimitState[] {
  const { now, sender, network } = reservation;
  return rows.map(({ kind, since = null }) => {
    const name = String(kind) as GweiLimit;
    const buckets = { 'sponsor-wei': '', 'sponsor-wei-per-network': network ?? '', 'sponsor-wei-per-account': sender };
    return limitState(config, name, { bucket: buckets[name], freesAt: freesAt(since), now });
  });
}

/** The state of the account's own limit, if it is full. */
function accountFull(config: Ctx['config'], { sender, now }: SponsoredNonce, rows: readonly Row[] = []): LimitState[] {
  return rows.map(({ since = null }) =>
    limitState(config, 'sponsorships-per-account', { bucket: sender, freesAt: freesAt(since), now }),
  );
}

function freesAt(since: unknown): number | null {
  return since === null ? null : Number(since) + DAY_MS;
}
