import type { Hints, Step, World } from './world.ts';

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
] as const;
export type Fault = (typeof FAULTS)[number];

const SETTLES = 600;
const COOLDOWN = 30 * 86_400;
const COMMITMENT = 3_600;
const DAY = 86_400;
const ZERO = `0x${'0'.repeat(64)}`;

interface Did {
  controller: string;
  active: boolean;
  rightful: boolean;
  changed: number;
}

interface Alias {
  did: string | undefined;
  /** The number of the DID's taking when it was set. */
  rightful: boolean;
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
    const isSame = dids.get(held.did)?.rightful === held.rightful;
    return isSame || has('a squatter’s alias outlives the taking') ? held.did : undefined;
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
  const lead = (name: string, did: string, held: Omit<Alias, 'did' | 'rightful'>) => {
    aliases.set(name, { ...held, did, rightful: dids.get(did)?.rightful ?? false });
    events.push(`AliasRegistered ${name} ${did}`);
  };

  function take(name: string, did: string, by: string, claimed: number, now: number) {
    const held = aliases.get(name);
    const led = leads(name);
    if (held && led !== undefined) {
      const holder = dids.get(led) as Did;
      if (holder.controller === by && led !== did) return lead(name, did, held);
      const rest = has('an alias of an ended DID is free at once') ? 0 : COOLDOWN;
      const isEnded = !holder.active && now >= holder.changed + rest && !has('an alias of an ended DID is never free');
      if (isEnded) return lead(name, did, { since: now, claimed, reservedFor: undefined });
      const isOlder = has('a commitment as old is old enough') ? claimed <= held.claimed : claimed < held.claimed;
      if (now >= held.since + SETTLES || !isOlder) refuse('AliasTaken');
      const since = has('a change of hands opens the time for claims again') ? now : held.since;
      return lead(name, did, { since, claimed, reservedFor: undefined });
    }
    if (held?.reservedFor === by && !has('a freed alias that is taken again is open to claims'))
      return lead(name, did, { since: now - SETTLES, claimed: 0, reservedFor: undefined });
    const isReserved = held?.reservedFor !== undefined && held.reservedFor !== by && now < held.since + COOLDOWN;
    if (isReserved && !has('a freed alias is anybody’s at once')) refuse('AliasTaken');
    lead(name, did, { since: now, claimed, reservedFor: undefined });
  }

  function register(by: string, did: string, alias: string, now: number) {
    const rightful = world.ownerOf.get(did) === by;
    const found = dids.get(did);
    if (found) {
      const isFast =
        found.rightful && !(has('a rightful DID is taken from whom it was moved to') && found.controller !== by);
      if (isFast || !rightful) refuse('DidTaken');
      if (!has('an offer outlives the taking')) offers.delete(did);
    }
    occupy(by, did);
    dids.set(did, { controller: by, active: true, rightful, changed: now });
    events.push(`DIDRegistered ${did} ${by}`);
    if (alias !== ZERO) take(alias, did, by, now, now);
  }

  function move(did: string, to: string, now: number) {
    const found = dids.get(did) as Did;
    const isOwn = !found.rightful && world.ownerOf.get(did) === to;
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
        register(to, did, alias, time);
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
      case 'commitAlias': {
        const key = `${alias} ${to}`;
        const made = commitments.get(key);
        const isLive = made !== undefined && time <= made + COMMITMENT;
        if (isLive && !has('repeating a commitment makes it younger')) return;
        commitments.set(key, time);
        events.push('AliasCommitted');
        return;
      }
      case 'claimAlias': {
        const key = `${alias} ${by}`;
        const made = commitments.get(key);
        commitments.delete(key);
        const own = activeOf(by) ?? refuse('NotActive');
        const isLive = made !== undefined && (time <= made + COMMITMENT || has('a commitment is good for ever'));
        return take(alias, own, by, isLive ? made : time, time);
      }
      case 'pointAlias':
      case 'freeAlias': {
        const led = leads(alias);
        if (led === undefined || dids.get(led)?.controller !== by) refuse('NotAliasController');
        const held = aliases.get(alias) as Alias;
        if (name === 'pointAlias') {
          const own = activeOf(by) ?? refuse('NotActive');
          const since = has('pointing opens the time for claims again') ? time : held.since;
          return lead(alias, own, { ...held, since });
        }
        const isOpen = time < held.since + SETTLES && !has('an alias is freed in the time for claims');
        if (isOpen) refuse('AliasNotSettled');
        aliases.set(alias, { did: undefined, rightful: false, since: time, claimed: 0, reservedFor: by });
        events.push(`AliasFreed ${alias}`);
        return;
      }
      default:
        throw new Error(`no such step: ${name}`);
    }
  }

  return {
    step(step) {
      const before = [dids, aliases, offers, places, commitments] as const;
      [dids, aliases, offers, places, commitments] = [
        new Map(dids),
        new Map(aliases),
        new Map(offers),
        new Map(places),
        new Map(commitments),
      ];
      events = [];
      try {
        act(step);
        return { events };
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        [dids, aliases, offers, places, commitments] = before;
        return { error: error.message };
      }
    },
    alias: (name) => leads(name) ?? ZERO,
    did(hash) {
      const found = dids.get(hash);
      return found ? `${found.controller} ${found.active} ${found.rightful}` : 'none';
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
