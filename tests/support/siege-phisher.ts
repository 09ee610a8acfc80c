import { HOUR_MS } from '../../lib/base/clock.ts';
import { CHALLENGE_VARS, createChallenges, FINAL, timeOfHead } from './challenges.ts';
import { testClock } from './clock.ts';
import { openDraw } from './draw.ts';
import { startTestChain } from './onchain.ts';
import type { Person } from './people.ts';
import { startVault } from './vault.ts';

/** Longer than the wait of an address that moves slowly. */
const HOURS = 76;
/** The last full hour at which a holder can still renew, since each hour here is a minute longer. */
const LAST_HOUR = 70;

/** What a phisher got of one sort of people; hours are from the claim on. */
export interface Haul {
  people: number;
  /** Addresses that are the phisher's in the end, and when they were. */
  readonly takenAt: number[];
  /** When holders stopped it. */
  readonly stoppedAt: number[];
}

/** By whether a person had a passkey, and saw to the warnings. */
export type Phishing = Record<'no passkey' | 'renews' | 'ignores', Haul>;

interface Victim {
  readonly owner: Person;
  readonly thief: Person;
  readonly txHash: string;
  readonly sort: keyof Phishing;
  /** The hour at which the holder renews. */
  readonly at: number;
}

/**
 * A phisher talks each of so many people out of one code, and claims the address with it by a passkey of his own. A
 * third have no passkey, a third ignore all warnings, the others renew at an hour of their own.
 */
export async function phish(count: number, seed: number): Promise<Phishing> {
  const chain = await startTestChain();
  const t = await startVault({ ...chain.vars, ...CHALLENGE_VARS }, { clock: testClock(await timeOfHead(chain)) });
  const people = createChallenges(chain, () => t);
  const draw = openDraw(seed);
  const result: Phishing = { 'no passkey': haul(), renews: haul(), ignores: haul() };
  const sorts = Object.keys(result) as (keyof Phishing)[];
  const victims: Victim[] = [];
  const open = new Set<Victim>();
  try {
    for (let n = 0; n < count; n++) {
      const sort = sorts[n % sorts.length] as keyof Phishing;
      const owner = await people.create('email');
      const { txHash } = await people.publish(owner);
      await people.claim(owner, txHash, { proof: sort !== 'no passkey' });
      const thief = { ...(await people.create('email')), identifier: owner.identifier };
      victims.push({ owner, thief, txHash, sort, at: sort === 'renews' ? 1 + draw.below(LAST_HOUR) : Infinity });
      result[sort].people++;
    }
    await chain.mine(FINAL);
    await settle();
    for (const victim of victims) {
      await people.claim(victim.thief, (await people.publish(victim.thief)).txHash, { proof: true });
      open.add(victim);
    }
    await chain.mine(FINAL);
    await settle();
    const begun = t.clock.now();
    for (let hour = 0; hour <= HOURS; hour++) {
      const now = Math.round((t.clock.now() - begun) / HOUR_MS);
      for (const victim of open) {
        const { owner, thief, txHash, sort, at } = victim;
        const isTaken = (await people.holderOf(owner)) === thief.did;
        const isStopped =
          !isTaken && at === hour && (await people.claim(owner, txHash, { proof: true })).status === 200;
        if (isTaken) result[sort].takenAt.push(now);
        if (isStopped) result[sort].stoppedAt.push(now);
        // Whom the holder has stopped is looked at until the end.
        if (isTaken) open.delete(victim);
      }
      await people.hours(1);
    }
    return result;
  } finally {
    await t.stop();
    await chain.stop();
  }

  /** Until each claim is judged: a turn has some of them. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 4 + count / 5; turn++) await people.look();
  }
}

const haul = (): Haul => ({ people: 0, takenAt: [], stoppedAt: [] });
