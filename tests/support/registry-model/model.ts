import { type Hints, OPENS, type Step, type World } from './world.ts';

// What the second registry is to do, told once more in the plainest way. Written from its description, not its code.

/** What a step comes to: the error, or the events as one text each. */
export type Outcome = { readonly error: string } | { readonly events: readonly string[] };

/** A registry as it should be, or with one fault planted. */
export interface Model extends Hints {
  step(step: Step): Outcome;
  /** The state that the views show: aliases, DIDs, places. */
  alias(name: string): string;
  did(hash: string): string;
  place(address: string): string;
}

/** Faults that a registry might have; the check must see each. */
export const FAULTS = [
  'a squatter’s alias outlives the taking',
  'an offer outlives the taking',
  'an offer outlives the end',
  'a change of hands opens the time for claims again',
  'pointing opens the time for claims again',
  'a freed alias is anybody’s at once',
  'a freed alias that is taken again is open to claims',
  'repeating a commitment makes it younger',
  'a commitment is good for ever',
  'a commitment as old is old enough',
  'a rightful DID is taken from whom it was moved to',
  'a place stays full after the move',
  'a consent is good for ever',
  'a consent may end at any time',
  'an alias of an ended DID is never free',
  'an alias of an ended DID is free at once',
  'an address accepts its own DID from a squatter',
  'an alias is freed in the time for claims',
  'two active DIDs in one hand',
  'any factory’s account moves',
  'names are given out before the first registry’s time is over',
  'the first registry counts for nothing',
  'what the first registry gives out late counts',
  'an older claim takes what came from the first registry',
  'a freed alias of an ended DID has a new clock',
  'an ended DID’s alias is its former holder’s for good',
  'a freed alias is its former holder’s for good',
  'anybody ends the DID of an address',
  'an address ends what it has moved on',
  'a DID is burnt by its first caller',
  'a claim of a DID that is as old is old enough',
  'a DID is open to claims for ever',
  'a squatter’s alias outlives an older claim of its DID',
  'who has ended a DID claims it again',
] as const;
export type Fault = (typeof FAULTS)[number];

const SETTLES = 600;
const COOLDOWN = 30 * 86_400;
const COMMITMENT = 3_600;
const DAY = 86_400;
const RIGHTFUL = 255;
const ZERO = `0x${'0'.repeat(64)}`;

interface Did {
  controller: string;
  active: boolean;
  /** `RIGHTFUL`, or how often an older claim has taken it. */
  holding: number;
  changed: number;
  since: number;
  claimed: number;
}

/** A DID in the first registry. */
interface FirstDid {
  readonly controller: string;
  readonly active: boolean;
  readonly created: number;
}

interface Alias {
  did: string | undefined;
  /** How the DID was held when it was set. */
  holding: number;
  since: number;
  claimed: number;
  reservedFor: string | undefined;
}

class Refused extends Error {}

function refuse(error: string): never {
  throw new Refused(error);
}

/** A registry without registrations. */
export function createModel(world: World, fault?: Fault): Model {
  let dids = new Map<string, Did>();
  let aliases = new Map<string, Alias>();
  let offers = new Map<string, string>();
  let places = new Map<string, string>();
  let commitments = new Map<string, number>();
  let firstDids = new Map<string, FirstDid>();
  let firstAliases = new Map<string, string>();
  let events: string[] = [];
  const has = (one: Fault) => fault === one;

  const activeOf = (address: string): string | undefined => {
    const did = places.get(address);
    const found = did === undefined ? undefined : dids.get(did);
    if (!found?.active) return undefined;
    return found.controller === address || has('a place stays full after the move') ? did : undefined;
  };
  const leads = (name: string): string | undefined => {
    const held = aliases.get(name);
    if (held?.did === undefined) return undefined;
    const holding = dids.get(held.did)?.holding;
    const outlives =
      holding === RIGHTFUL
        ? has('a squatter’s alias outlives the taking')
        : has('a squatter’s alias outlives an older claim of its DID');
    return holding === held.holding || outlives ? held.did : undefined;
  };
  /** Who alone may have a DID here, or an alias by its DID, since the first registry gave it out. */
  const holderBefore = (did: string | undefined): string | undefined => {
    const found = did === undefined ? undefined : firstDids.get(did);
    if (!found?.active || has('the first registry counts for nothing')) return undefined;
    return found.created < OPENS || has('what the first registry gives out late counts') ? found.controller : undefined;
  };
  const isFree = (did: string | undefined, by: string) => (holderBefore(did) ?? by) === by;
  const checkOpen = (now: number) => {
    if (now < OPENS && !has('names are given out before the first registry’s time is over')) refuse('NotOpenYet');
  };
  const spend = (hash: string, by: string, now: number): number => {
    const made = commitments.get(`${hash} ${by}`);
    commitments.delete(`${hash} ${by}`);
    const isLive = made !== undefined && (now <= made + COMMITMENT || has('a commitment is good for ever'));
    return isLive ? made : now;
  };
  const occupy = (address: string, did: string) => {
    if (activeOf(address) !== undefined && !has('two active DIDs in one hand')) refuse('ControllerTaken');
    places.set(address, did);
  };
  const controlled = (did: string, by: string): Did => {
    const found = dids.get(did);
    if (found?.controller !== by) refuse('NotController');
    return found.active ? found : refuse('NotActive');
  };
  const lead = (name: string, did: string, held: Omit<Alias, 'did' | 'holding'>) => {
    aliases.set(name, { ...held, did, holding: dids.get(did)?.holding ?? 0 });
    events.push(`AliasRegistered ${name} ${did}`);
  };

  function take(name: string, did: string, by: string, claimed: number, now: number) {
    checkOpen(now);
    const held = aliases.get(name);
    const led = leads(name);
    const checkFirst = () => {
      if (!isFree(firstAliases.get(name), by)) refuse('AliasTaken');
    };
    if (held && led !== undefined) {
      const holder = dids.get(led) as Did;
      const rest = has('an alias of an ended DID is free at once') ? 0 : COOLDOWN;
      const isEnded = !holder.active && now >= holder.changed + rest && !has('an alias of an ended DID is never free');
      const isOwn = holder.controller === by && led !== did;
      if (isOwn && (!isEnded || has('an ended DID’s alias is its former holder’s for good')))
        return lead(name, did, held);
      if (isEnded) {
        checkFirst();
        return lead(name, did, { since: now, claimed, reservedFor: undefined });
      }
      const isOlder = has('a commitment as old is old enough') ? claimed <= held.claimed : claimed < held.claimed;
      if (now >= held.since + SETTLES || !isOlder) refuse('AliasTaken');
      if (!has('an older claim takes what came from the first registry')) checkFirst();
      const since = has('a change of hands opens the time for claims again') ? now : held.since;
      return lead(name, did, { since, claimed, reservedFor: undefined });
    }
    const isReserved = held?.reservedFor !== undefined && now < held.since + COOLDOWN;
    const isOwn = held?.reservedFor === by && (isReserved || has('a freed alias is its former holder’s for good'));
    if (isReserved && !isOwn && !has('a freed alias is anybody’s at once')) refuse('AliasTaken');
    checkFirst();
    if (isOwn && !has('a freed alias that is taken again is open to claims'))
      return lead(name, did, { since: now - SETTLES, claimed: 0, reservedFor: undefined });
    lead(name, did, { since: now, claimed, reservedFor: undefined });
  }

  function overtake(found: Did, by: string, claimed: number, now: number) {
    const isOver = now >= found.since + SETTLES && !has('a DID is open to claims for ever');
    const isOlder = has('a claim of a DID that is as old is old enough')
      ? claimed <= found.claimed
      : claimed < found.claimed;
    const isOwn = found.controller === by && !has('who has ended a DID claims it again');
    if (isOver || !isOlder || isOwn || has('a DID is burnt by its first caller')) refuse('DidTaken');
  }

  function register(by: string, did: string, alias: string, now: number, claimed = now) {
    const rightful = world.ownerOf.get(did) === by;
    if (!rightful) checkOpen(now);
    const found = dids.get(did);
    if (found) {
      const isTaken = has('a rightful DID is taken from whom it was moved to') && rightful && found.controller !== by;
      if (found.holding === RIGHTFUL && !isTaken) refuse('DidTaken');
      if (!rightful) overtake(found, by, claimed, now);
      if (!has('an offer outlives the taking')) offers.delete(did);
    }
    if (!rightful && !isFree(did, by)) refuse('DidTaken');
    occupy(by, did);
    const holding = rightful ? RIGHTFUL : found ? found.holding + 1 : 0;
    const since = found && !rightful ? found.since : now;
    dids.set(did, { controller: by, active: true, holding, changed: now, since, claimed });
    events.push(`DIDRegistered ${did} ${by}`);
    if (alias !== ZERO) take(alias, did, by, now, now);
  }

  function move(did: string, to: string, now: number) {
    const found = dids.get(did) as Did;
    const isOwn = found.holding !== RIGHTFUL && world.ownerOf.get(did) === to;
    if (isOwn && !has('an address accepts its own DID from a squatter')) refuse('OwnDid');
    const from = found.controller;
    offers.delete(did);
    occupy(to, did);
    dids.set(did, { ...found, controller: to, changed: now });
    events.push(`DIDMoved ${did} ${from} ${to}`);
  }

  function act({ name, by, did, alias, to, salt, time, end }: Step) {
    switch (name) {
      case 'register':
        return register(by, did, alias, time);
      case 'registerSelf':
        return register(by, [...world.ownerOf].find(([, owner]) => owner === by)?.[0] ?? ZERO, alias, time);
      case 'registerFor': {
        if (end > DAY && !has('a consent may end at any time')) refuse('ConsentEndsTooLate');
        if (end < -DAY && !has('a consent is good for ever')) refuse('ConsentExpired');
        if (!world.pairs.some(({ old, next }) => old.address === to || next.address === to)) refuse('NotKeyOf');
        register(to, did, alias, time, world.ownerOf.get(did) === to ? time : spend(did, to, time));
        events.push(`RegisteredBy ${did} ${REGISTRAR}`);
        return;
      }
      case 'update': {
        const found = controlled(did, by);
        dids.set(did, { ...found, changed: time });
        events.push(`DIDUpdated ${did}`);
        return;
      }
      case 'deactivate': {
        const found = controlled(did, by);
        dids.set(did, { ...found, active: false, changed: time });
        if (!has('an offer outlives the end')) offers.delete(did);
        events.push(`DIDDeactivated ${did}`);
        return;
      }
      case 'voidOwn': {
        const found = dids.get(did);
        if (world.ownerOf.get(did) !== by && !has('anybody ends the DID of an address')) refuse('NotController');
        if (found?.holding === RIGHTFUL && !has('an address ends what it has moved on')) refuse('DidTaken');
        if (!found?.active) return refuse('NotActive');
        dids.set(did, { ...found, active: false, changed: time });
        offers.delete(did);
        events.push(`DIDDeactivated ${did}`);
        return;
      }
      case 'offerDid':
        controlled(did, by);
        offers.set(did, to);
        events.push(`DIDOffered ${did} ${by} ${to}`);
        return;
      case 'acceptDid':
        if (offers.get(did) !== by) refuse('NotOffered');
        return move(did, by, time);
      case 'moveDid': {
        controlled(did, by);
        const pair = world.pairs[Number(salt === ZERO ? 0 : 1)];
        const isLegacy = pair?.old.address === by || has('any factory’s account moves');
        if (!pair || !isLegacy) return refuse('NotLegacyAccount');
        return move(did, pair.next.address, time);
      }
      case 'commitDid':
      case 'commitAlias': {
        const key = `${name === 'commitDid' ? did : alias} ${to}`;
        const made = commitments.get(key);
        const isLive = made !== undefined && time <= made + COMMITMENT;
        if (isLive && !has('repeating a commitment makes it younger')) return;
        commitments.set(key, time);
        events.push('AliasCommitted');
        return;
      }
      case 'claimAlias': {
        const own = activeOf(by) ?? refuse('NotActive');
        return take(alias, own, by, spend(alias, by, time), time);
      }
      case 'claimDid':
        return register(by, did, alias, time, spend(did, by, time));
      case 'firstRegister': {
        if (firstDids.has(did)) refuse('DidTaken');
        if ([...firstDids.values()].some((one) => one.active && one.controller === by)) refuse('ControllerTaken');
        if (alias !== ZERO && firstAliases.has(alias)) refuse('AliasTaken');
        firstDids.set(did, { controller: by, active: true, created: time });
        if (alias !== ZERO) firstAliases.set(alias, did);
        return;
      }
      case 'firstDeactivate': {
        const found = firstDids.get(did);
        if (found?.controller !== by) return refuse('NotController');
        if (!found.active) refuse('NotActive');
        firstDids.set(did, { ...found, active: false });
        return;
      }
      case 'pointAlias':
      case 'freeAlias': {
        const led = leads(alias);
        if (led === undefined || dids.get(led)?.controller !== by) refuse('NotAliasController');
        const held = aliases.get(alias) as Alias;
        const { active, changed } = dids.get(led) as Did;
        if (name === 'pointAlias') {
          const own = activeOf(by) ?? refuse('NotActive');
          const isEnded =
            !active && time >= changed + COOLDOWN && !has('an ended DID’s alias is its former holder’s for good');
          if (isEnded) return take(alias, own, by, time, time);
          const since = has('pointing opens the time for claims again') ? time : held.since;
          return lead(alias, own, { ...held, since });
        }
        const isOpen = time < held.since + SETTLES && !has('an alias is freed in the time for claims');
        if (isOpen) refuse('AliasNotSettled');
        const since = active || has('a freed alias of an ended DID has a new clock') ? time : changed;
        aliases.set(alias, { did: undefined, holding: 0, since, claimed: 0, reservedFor: by });
        events.push(`AliasFreed ${alias}`);
        return;
      }
      default:
        throw new Error(`no such step: ${name}`);
    }
  }

  return {
    step(step) {
      const before = [dids, aliases, offers, places, commitments, firstDids, firstAliases] as const;
      [dids, aliases, offers, places, commitments, firstDids, firstAliases] = [
        new Map(dids),
        new Map(aliases),
        new Map(offers),
        new Map(places),
        new Map(commitments),
        new Map(firstDids),
        new Map(firstAliases),
      ];
      events = [];
      try {
        act(step);
        return { events };
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        [dids, aliases, offers, places, commitments, firstDids, firstAliases] = before;
        return { error: error.message };
      }
    },
    alias: (name) => leads(name) ?? ZERO,
    did(hash) {
      const found = dids.get(hash);
      return found ? `${found.controller} ${found.active} ${found.holding === RIGHTFUL}` : 'none';
    },
    place(address) {
      const did = places.get(address);
      return did !== undefined && dids.get(did)?.controller === address ? did : ZERO;
    },
    controllerOf: (did) => dids.get(did)?.controller,
    didOfAlias: leads,
    offerOf: (did) => offers.get(did),
  };
}

/** Who calls `registerFor`. */
export const REGISTRAR = `0x${'ee'.repeat(20)}`;
