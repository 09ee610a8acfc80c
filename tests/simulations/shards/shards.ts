import type { Ledger, Rows } from './ledger.ts';
import type { Plant, Sizes } from './options.ts';

/** What a shard says of a write. `mine`: the claim was written before; `withdrawn`: it never will be. */
export type Said = 'ok' | 'mine' | 'taken' | 'withdrawn' | 'full' | 'portion';

/** The statements of the shards. Each is one transaction of one shard, in which the write is the check. */
export interface Shards extends Rows {
  /** Changed by the clock of the run. */
  day: number;
  readonly counts: Record<'portion asked for' | 'portion’s answer lost' | 'claim withdrawn', number>;
  /** Of the identifier's shard: whether the identifier is free for a claim. */
  look(claim: number, identifier: number): Said;
  /** Of the identifier's shard: writes the claim and spends one of the shard's portion, or says why not. */
  write(claim: number, identifier: number, shard: number, usedOn: number): Said;
  /** The same on a shard that gave the identifier away and does not know it. */
  writeAside(claim: number, identifier: number, usedOn: number): Said;
  /** Of the identifier's shard: whether the claim was written; else it is withdrawn, and never will be. */
  decide(claim: number, identifier: number): boolean;
  /** Of the credential's shard. */
  reserve(claim: number, credential: number, now: number): Said;
  settleCredential(claim: number, credential: number): void;
  releaseCredential(claim: number, credential: number): void;
  /** Of the network's shard: takes one use of the network's budget, once for each claim. */
  take(claim: number, network: number, now: number): Said;
  /** The day of the use that is held for a claim, -1 without one. */
  usedOn(claim: number): number;
  settleUse(claim: number): void;
  releaseUse(claim: number, network: number): void;
  /** The vault's budget: its home gives a shard another portion; the shard adds it. The first answer may be lost. */
  takePortion(shard: number, isAnswerLost: boolean): Said;
  /** The claim for which something has been held longest, and since when. */
  oldest(kind: 'credential' | 'use'): { claim: number; since: number } | undefined;
}

const HELD = 0x8000_0000;
/** Of a day and a step in one number. */
const STEPS = 2 ** 32;

/** Empty shards, with their home of the vault's budget. */
export function createShards(sizes: Sizes, ledger: Ledger, plant: Plant | undefined): Shards {
  const holders = new Uint32Array(sizes.claims);
  const credentials = new Uint32Array(sizes.claims);
  const aside = new Map<number, number>();
  const withdrawn = new Uint8Array((sizes.claims >>> 3) + 1);
  const isWithdrawn = (claim: number) => ((withdrawn[claim >>> 3] ?? 0) >>> (claim & 7)) & 1;
  const reserved = new Map<number, number>();
  const uses = new Uint32Array(sizes.networks);
  const usesOn = new Int32Array(sizes.networks).fill(-1);
  const held = new Map<number, number>();
  const portions = openPortions(sizes, plant);
  const counts = { 'portion asked for': 0, 'portion’s answer lost': 0, 'claim withdrawn': 0 };
  const shards: Shards = {
    day: 0,
    counts,
    holders,
    credentials,
    get open() {
      return reserved.size + held.size;
    },
    look: (claim, identifier) => saidOf(holders[identifier] ?? 0, claim),
    write(claim, identifier, shard, usedOn) {
      if (isWithdrawn(claim)) return 'withdrawn';
      const said = saidOf(holders[identifier] ?? 0, claim);
      if (said === 'mine' || (said === 'taken' && plant !== 'check-then-write')) return said;
      // A use of a day that is long over is no use any more.
      if (usedOn < shards.day - 1) return shards.decide(claim, identifier) ? 'mine' : 'withdrawn';
      if (!portions.spend(shard, shards.day)) return 'portion';
      holders[identifier] = claim + 1;
      ledger.written(claim, shards.day, usedOn);
      return 'ok';
    },
    writeAside(claim, identifier, usedOn) {
      const said = saidOf(aside.get(identifier) ?? holders[identifier] ?? 0, claim);
      if (said !== 'ok') return said;
      aside.set(identifier, claim + 1);
      ledger.written(claim, shards.day, usedOn);
      return 'ok';
    },
    decide(claim, identifier) {
      if (holders[identifier] === claim + 1) return true;
      if (plant !== 'no-withdrawal' && !isWithdrawn(claim)) {
        withdrawn[claim >>> 3] = (withdrawn[claim >>> 3] ?? 0) | (1 << (claim & 7));
        counts['claim withdrawn']++;
      }
      return false;
    },
    reserve(claim, credential, now) {
      const said = saidOf((credentials[credential] ?? 0) & ~HELD, claim);
      if (said !== 'ok') return said === 'mine' ? 'ok' : said;
      credentials[credential] = (claim + 1) | HELD;
      reserved.set(claim, now);
      return 'ok';
    },
    settleCredential(claim, credential) {
      if (((credentials[credential] ?? 0) & ~HELD) === claim + 1 || plant === 'no-reservation')
        credentials[credential] = claim + 1;
      reserved.delete(claim);
    },
    releaseCredential(claim, credential) {
      if (credentials[credential] === ((claim + 1) | HELD) >>> 0) credentials[credential] = 0;
      reserved.delete(claim);
    },
    take(claim, network, now) {
      if (held.has(claim)) return 'ok';
      const used = usesOn[network] === shards.day ? (uses[network] ?? 0) : 0;
      if (used >= sizes.networkBudget) return 'full';
      uses[network] = used + 1;
      usesOn[network] = shards.day;
      held.set(claim, shards.day * STEPS + now);
      return 'ok';
    },
    usedOn: (claim) => Math.floor((held.get(claim) ?? -1) / STEPS),
    settleUse: (claim) => void held.delete(claim),
    releaseUse(claim, network) {
      const day = held.has(claim) ? shards.usedOn(claim) : plant === 'release-by-count' ? shards.day : -1;
      held.delete(claim);
      if (usesOn[network] === day && (uses[network] ?? 0) > 0) uses[network] = (uses[network] ?? 0) - 1;
    },
    takePortion(shard, isAnswerLost) {
      counts['portion asked for']++;
      const portion = portions.ask(shard, shards.day);
      if (isAnswerLost) {
        counts['portion’s answer lost']++;
        // The shard asks again, and later hears the first answer too.
        const again = portions.ask(shard, shards.day);
        portions.add(shard, again);
      }
      return portions.add(shard, portion) ? 'ok' : 'full';
    },
    oldest(kind) {
      const first = (kind === 'use' ? held : reserved).entries().next();
      if (first.done) return undefined;
      const [claim, since] = first.value;
      return { claim, since: since % STEPS };
    },
  };
  return shards;
}

function saidOf(row: number, claim: number): Said {
  if (row === 0) return 'ok';
  return row === claim + 1 ? 'mine' : 'taken';
}

/** A portion of the budget: the answer of its home to the shard's request of that number. */
interface Portion {
  readonly request: number;
  readonly day: number;
  readonly size: number;
}

/** The budget of the vault: its home writes down what it gives before it answers, once for each request of a shard. */
function openPortions({ budget, portion, shards }: Sizes, plant: Plant | undefined) {
  const left = new Float64Array(shards);
  const leftOf = new Int32Array(shards).fill(-1);
  const added = new Uint32Array(shards);
  const given: (Portion | undefined)[] = Array.from({ length: shards });
  let [givenToday, today] = [0, 0];
  return {
    spend(shard: number, day: number): boolean {
      const isOver = leftOf[shard] !== day && plant !== 'portion-kept';
      if (isOver || (left[shard] ?? 0) <= 0) return false;
      left[shard] = (left[shard] ?? 0) - 1;
      return true;
    },
    ask(shard: number, day: number): Portion {
      const request = (added[shard] ?? 0) + 1;
      const known = given[shard];
      if (known?.request === request && known.day === day) return known;
      if (today !== day) [today, givenToday] = [day, 0];
      const size = Math.min(portion, budget - givenToday);
      givenToday += size;
      const answer = { request, day, size };
      given[shard] = answer;
      return answer;
    },
    /** False if nothing was left to give. */
    add(shard: number, { request, day, size }: Portion): boolean {
      if (size === 0) return false;
      if (request !== (added[shard] ?? 0) + 1 && plant !== 'portion-twice') return true;
      added[shard] = request;
      left[shard] = (leftOf[shard] === day || plant === 'portion-kept' ? (left[shard] ?? 0) : 0) + size;
      leftOf[shard] = day;
      return true;
    },
  };
}
