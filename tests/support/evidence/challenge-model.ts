// The rules of decision 0043 about one address as a pure model: who holds it, who waits for it, and until when.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** How long an address waits, in hours. */
export const MOVE_HOURS = 72;

/** A claim of the address. `may`: it need not wait any more. */
export interface Claim {
  readonly did: string;
  readonly key: string;
  readonly controller: string;
  readonly hasProof: boolean;
  isFinal: boolean;
  isActive: boolean;
  isFailed: boolean;
  isLost: boolean;
  waits: boolean;
  may: boolean;
}

/** A challenge of a DID. */
export interface Challenge {
  readonly did: string;
  readonly openedAt: number;
  isJudged: boolean;
  isTold: boolean;
  movesAt: number | null;
  endedAt: number | null;
  endedBy: string | null;
}

/** One address, with what the world around it does. */
export interface Address {
  readonly claims: Claim[];
  readonly challenges: Challenge[];
  holder: Claim | undefined;
  now: number;
  /** When the newest final block was made. */
  chainNow: number;
  isNodeAway: boolean;
  isMailAway: boolean;
}

/** An address that nobody has claimed. */
export function newAddress(now: number): Address {
  return { claims: [], challenges: [], holder: undefined, now, chainNow: now, isNodeAway: false, isMailAway: false };
}

const isLive = ({ isFailed, isLost }: Claim) => !isFailed && !isLost;
const isProven = ({ isFinal, hasProof }: Claim) => isFinal && hasProof;
const isSlow = (one: Claim) => isProven(one) && one.isActive;

function rightful({ claims }: Address): Claim | undefined {
  const live = claims.filter(isLive);
  return live.findLast((one) => isProven(one) && !one.waits) ?? live[0];
}

/** The claims that wait for the address, or will once they are final. */
function challengersOf({ claims, holder }: Address): readonly Claim[] {
  if (!holder || !isLive(holder) || !isSlow(holder)) return [];
  return claims
    .slice(claims.indexOf(holder) + 1)
    .filter((one) => isLive(one) && one.hasProof && one.did !== holder.did);
}

/** The challenge that stands. */
export const standingOf = ({ challenges }: Address) => challenges.find(({ endedAt }) => endedAt === null);

/** Who holds the address, after a change of a claim. */
export function settle(address: Address): void {
  const { claims, holder } = address;
  const later = holder ? claims.slice(claims.indexOf(holder) + 1) : [];
  for (const one of later) if (isLive(one) && isProven(one) && !one.may && one.did !== holder?.did) one.waits = true;
  const next = rightful(address);
  const isFree = ({ did, isFailed }: Claim) => isFailed || !next || !isSlow(next) || next.did === did;
  for (const one of claims) if (isFree(one)) one.waits = false;
  address.holder = rightful(address);
}

function end(address: Address, did: string | null, by: string): void {
  const one = standingOf(address);
  if (one && (did === null || one.did === did)) Object.assign(one, { endedAt: address.now, endedBy: by });
}

function lose(claims: readonly Claim[]): void {
  for (const one of claims) Object.assign(one, { isLost: true, waits: false, may: false });
}

const endedAs = (address: Address, by: string, withinMs: number, did?: string) =>
  address.challenges
    .filter((one) => one.endedBy === by && (did === undefined || one.did === did))
    .flatMap(({ endedAt }) => (endedAt !== null && endedAt > address.now - withinMs ? [endedAt] : []))
    .sort((one, other) => other - one);

/** When another DID may take the place of the one that waits; 0 if it may. */
function replacedUntil(address: Address, did: string): number {
  const standing = standingOf(address);
  if (!standing || standing.did === did) return 0;
  const [last = -DAY] = endedAs(address, 'replaced', DAY);
  const third = endedAs(address, 'replaced', 30 * DAY)[2] ?? -30 * DAY;
  return Math.max(last + DAY, third + 30 * DAY);
}

/** Until when a DID may not claim the address; null if it may. */
export function keptOutTo(address: Address, did: string): number | null {
  const refused = endedAs(address, 'holder', 90 * DAY, did);
  const [barred = -30 * DAY] = endedAs(address, 'undone', 30 * DAY, did);
  const backOff = refused.length === 0 ? 0 : Math.max(...refused) + Math.min(DAY * 2 ** (refused.length - 1), 30 * DAY);
  const until = Math.max(backOff, barred + 30 * DAY, replacedUntil(address, did));
  return until > address.now && address.holder?.did !== did ? until : null;
}

const ended = (did: string, at: number, by: string): Challenge => ({
  ...{ did, openedAt: at, isJudged: false, isTold: false, movesAt: null, endedAt: at, endedBy: by },
});

/** The holder claims its address anew; false where nobody else has claimed it. */
export function renew(address: Address): boolean {
  const refused = challengersOf(address);
  if (refused.length === 0) return false;
  const standing = standingOf(address);
  for (const did of new Set(refused.map((one) => one.did)))
    if (did !== standing?.did) address.challenges.push(ended(did, address.now, 'holder'));
  lose(refused);
  end(address, null, 'holder');
  settle(address);
  return true;
}

/** The DID that the holder may let have the address: the one that waits, else the newest. */
export function challengedBy(address: Address): string | undefined {
  const asking = challengersOf(address).filter(({ may }) => !may);
  return (asking.findLast(({ waits }) => waits) ?? asking.at(-1))?.did;
}

/** The holder lets go of its address. */
export function release(address: Address, did: string): void {
  for (const one of challengersOf(address)) if (one.did === did) Object.assign(one, { may: true, waits: false });
  end(address, did, 'released');
  settle(address);
}

/** The operator undoes a claim, and keeps its DID away if there is another. */
export function undo(address: Address, claim: Claim): void {
  if (claim.isFailed) return;
  claim.isFailed = true;
  const others = address.claims.filter((one) => isLive(one) && one.did !== claim.did);
  if (others.length > 0) {
    end(address, claim.did, 'undone');
    address.challenges.push(ended(claim.did, address.now, 'undone'));
    const first = (claims: readonly Claim[]) => Math.min(...claims.map((one) => address.claims.indexOf(one)));
    const own = address.claims.filter((one) => one.did === claim.did && isLive(one));
    // Who came after another has nothing more of the address, by whatever passkey.
    const cameLater = first(others) < first([claim, ...own]);
    lose(own.filter(({ waits }) => waits || cameLater));
  }
  settle(address);
}

/** A turn of the task that opens challenges, tells of them and moves addresses. */
export function work(address: Address): void {
  open(address);
  turn(address);
  const standing = standingOf(address);
  if (standing?.isJudged && !address.isMailAway) standing.isTold = true;
  turn(address);
}

/** Of two that become final at once, the later one waits. */
function open(address: Address): void {
  for (const one of [...address.claims].reverse()) {
    const standing = standingOf(address);
    if (!one.waits || one.did === standing?.did) continue;
    const all = address.claims.filter(({ waits }) => waits);
    const own = all.filter(({ did }) => did === one.did);
    const others = all.filter(({ did }) => did !== one.did);
    const isLate =
      standing !== undefined && others.some((o) => address.claims.indexOf(o) > address.claims.indexOf(one));
    if (isLate || replacedUntil(address, one.did) > address.now) {
      lose(own);
      continue;
    }
    lose(others);
    end(address, null, 'replaced');
    address.challenges.push({ ...ended(one.did, address.now, ''), endedAt: null, endedBy: null });
  }
}

function turn(address: Address): void {
  const { claims, holder, now, chainNow, isNodeAway } = address;
  const one = standingOf(address);
  if (!one) return;
  const claim = claims.findLast(({ did, waits }) => waits && did === one.did);
  if (!claim) {
    end(address, null, holder?.did === one.did ? 'moved' : 'failed');
    return;
  }
  if (holder && claims.indexOf(holder) > claims.indexOf(claim)) {
    lose(claims.filter(({ did, waits }) => waits && did === one.did));
    // Only who claims an address anew refuses somebody.
    end(address, null, holder.may ? 'replaced' : 'holder');
    return;
  }
  if (isNodeAway || (one.movesAt !== null && (now < one.movesAt || chainNow < one.movesAt))) return;
  if (one.movesAt === null && one.isJudged && !one.isTold && now < one.openedAt + 7 * DAY) return;
  const isOwn = claim.key === holder?.key || claim.controller === holder?.controller;
  if (isOwn || one.movesAt !== null) {
    for (const own of claims) if (own.did === one.did && own.waits) Object.assign(own, { may: true, waits: false });
    settle(address);
    end(address, null, 'moved');
  } else if (one.isJudged) one.movesAt = now + MOVE_HOURS * HOUR;
  else one.isJudged = true;
}
