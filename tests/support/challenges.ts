import { expect } from 'bun:test';
import { HOUR_MS } from '../../lib/base/clock.ts';
import { noteTime } from '../../lib/db/clocks.ts';
import type { TestChain } from './onchain.ts';
import { createPeople, type Person } from './people.ts';
import type { TestVault } from './vault.ts';

/** Blocks until a registration is final there. */
export const FINAL = 3;

/** The settings of a vault on a chain whose limits are in nobody's way. */
export const CHALLENGE_VARS = {
  FINALITY_BLOCKS: String(FINAL),
  MAX_VERIFY_SENDS_PER_IP: '1000',
  RATE_LIMIT_CODES_PER_IDENTIFIER: '1000',
  MAX_REGISTRATIONS_PER_IP: '1000',
};

/** The time of a chain's head in milliseconds: both clocks have to be past a wait, so a vault's begins there. */
export async function timeOfHead(chain: TestChain): Promise<number> {
  const head = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  return Number(head.timestamp) * 1000;
}

/** Addresses of people with passkeys, and who claims them; `vault` says where. */
export function createChallenges(chain: TestChain, vault: () => TestVault) {
  const people = createPeople(chain, vault);
  const claim: typeof people.claim = (...given) => people.claim(...given);
  const look = async () => {
    const t = vault();
    await t.clock.advance(30_000);
    await t.work();
  };
  /** An address held by a final registration with a passkey, and a stranger who has talked its owner out of a code. */
  const held = async (channel: 'email' | 'sms' = 'email') => {
    const [owner, stranger] = [await people.create(channel), await people.create(channel)];
    const { txHash } = await people.publish(owner);
    expect((await claim(owner, txHash, { proof: true })).status).toBe(200);
    await chain.mine(FINAL);
    await look();
    expect(await people.lookup(owner)).toMatchObject({ proven: true, final: true });
    const thief: Person = { ...stranger, identifier: owner.identifier };
    return { owner, thief, mined: await people.publish(thief), txHash };
  };
  return {
    ...people,
    look,
    held,
    /** Lets the thief's claim be final, and a challenge begin. */
    async challenge({ thief, mined }: Pick<Awaited<ReturnType<typeof held>>, 'thief' | 'mined'>) {
      const reply = await claim(thief, mined.txHash, { proof: true });
      expect(reply.status).toBe(200);
      await chain.mine(FINAL);
      await look();
      await look();
      return reply;
    },
    /** Moves the vault's clock and the chain's by so many hours, or the first alone; a vault is there unless it is `away`. */
    async hours(count: number, { isChainToo = true, away = false } = {}) {
      const t = vault();
      await t.clock.advance(count * HOUR_MS);
      if (!away) await t.database.execute(noteTime(t.clock.now()));
      if (isChainToo) await chain.rpc('evm_setNextBlockTimestamp', [Math.floor(t.clock.now() / 1000)]);
      await chain.mine(FINAL + 1);
      await look();
      await look();
    },
    async holderOf({ identifier, channel }: Person) {
      const key = `${channel}:${identifier}`;
      const [row] = await vault().rows('SELECT did FROM registrations WHERE identifier = :key AND holds = 1', { key });
      return row?.['did'];
    },
  };
}
