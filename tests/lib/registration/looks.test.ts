import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS, MINUTE_MS } from '../../../lib/base/clock.ts';
import { GET_KEYS, OWNER_KEYS_MAX } from '../../../lib/chain/owner-keys.ts';
import { aliasHash, didHash } from '../../../lib/identity/did.ts';
import { KNOWN_KEYS_MAX } from '../../../lib/registration/look-at-keys.ts';
import { KEYS_STALE_MS } from '../../../lib/registration/look-notes.ts';
import { testClock } from '../../support/clock.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { startTestChain } from '../../support/onchain.ts';
import { createPeople, type Person } from '../../support/people.ts';
import { nextBlockAfter } from '../../support/registries.ts';
import { answerWith } from '../../support/relay-world.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

// What was proven once is asked again, on a real registry: what look-ups say after its owner has given it away.

const chain = await startTestChain({ startsAt: testClock().now() });
afterAll(chain.stop);

/** Seconds after which an alias is its controller's for good, and another's may be taken. */
const ALIAS_SETTLES = 600n;
const ALIAS_COOLDOWN = BigInt((31 * DAY_MS) / 1000);
/** Selector of `resolve`. */
const RESOLVE = '0x5c23bdf5';

let node: Forwarder;
let t: TestVault;
const start = async (vars: Record<string, string> = {}, options: Parameters<typeof startVault>[1] = {}) =>
  startVault(
    {
      ...chain.vars,
      RPC_URL: node.url,
      FINALITY_BLOCKS: '0',
      RATE_LIMIT_PROXY_PER_IP: '100000',
      MAX_VERIFY_SENDS_PER_IP: '1000',
      MAX_REGISTRATIONS_PER_IP: '1000',
      ...vars,
    },
    options,
  );
beforeEach(async () => {
  node = startForwarder(chain.url);
  t = await start();
});
afterEach(async () => {
  await t.stop();
  await node.stop();
});
const restart = async (vars: Record<string, string>) => {
  await t.stop();
  t = await start(vars);
};

const people = createPeople(chain, () => t);

async function look(ms: number): Promise<void> {
  await t.clock.advance(ms);
  await t.work();
}

/** Somebody whose DID and identifier are registered, with a proof, and watched no more; the watch has just ended. */
async function settled(channel: Person['channel']): Promise<Person> {
  const who = await people.own(channel);
  const { txHash } = await people.publish(who);
  expect((await people.claim(who, txHash, { proof: true })).status).toBe(200);
  await look(0);
  await nextBlockAfter(chain.rpc, ALIAS_SETTLES);
  await chain.mine(70);
  await look(31_000);
  const rows = await t.rows('SELECT final, next_check_at FROM registrations WHERE did = :did', { did: who.did });
  expect(rows).toEqual([{ final: 1, next_check_at: null }]);
  return who;
}

/** Whatever is due by what changed on the chain: looks, and after them the registrations that they found changed. */
async function lookAgain(ms: number): Promise<void> {
  await look(ms);
  for (let turn = 0; turn < 3; turn++) await look(5_000);
}

/** The look-ups of a person without the key and with it. */
async function told(who: Person) {
  const { x, y } = who.passkey.key;
  const [pubKeyX, pubKeyY] = [x, y].map((one) => `0x${Buffer.from(one).toString('hex')}`);
  return [await people.lookup(who), await people.lookup(who, { pubKeyX, pubKeyY })];
}

const secondsAgo = (ms: number) => new Date(t.clock.now() - ms).toISOString();

describe.each(['false', 'true'])('§3.2 what its owner gave away, FOLLOWER=%s', (FOLLOWER) => {
  beforeEach(() => restart({ FOLLOWER }));

  test('a handle that was freed is proven no more, and is lost once another has it for good', async () => {
    const alice = await settled('handle');
    expect(await told(alice)).toMatchObject([{ proofs: { identifier: 'alias' } }, { proofs: { identifier: 'alias' } }]);
    await people.act(alice, 'freeAlias', aliasHash(alice.identifier));
    await lookAgain(10 * MINUTE_MS);
    expect(await told(alice)).toMatchObject([{ proven: true, proofs: { identifier: null } }, { proven: true }]);
    await nextBlockAfter(chain.rpc, ALIAS_COOLDOWN);
    const bob = { ...(await people.own('handle')), identifier: alice.identifier };
    await people.publish(bob);
    await nextBlockAfter(chain.rpc, ALIAS_SETTLES);
    await chain.mine(70);
    await lookAgain(20 * MINUTE_MS);
    const [row] = await t.rows('SELECT lost, holds FROM registrations WHERE did = :did', { did: alice.did });
    expect(row).toEqual({ lost: 'alias_elsewhere', holds: 0 });
  });

  test('a DID that another account has accepted is proven by nobody’s former key', async () => {
    const alice = await settled('email');
    const bob = await people.own('email');
    expect(await told(alice)).toMatchObject([{ proven: true }, { proven: true, proofs: { did: 'address' } }]);
    await people.act(alice, 'offerDid', didHash(alice.did), bob.account);
    await people.act(bob, 'acceptDid', didHash(alice.did));
    await lookAgain(10 * MINUTE_MS);
    const [keyless, byKey] = await told(alice);
    const account = bob.account.toLowerCase();
    expect(keyless).toMatchObject({ proven: false, smartAccount: account, proofs: { controller: null, did: 'moved' } });
    expect(byKey).toEqual({ error: 'not_found' });
  });

  test('a DID that was deactivated keeps its status, and is proven no more', async () => {
    const alice = await settled('email');
    await people.act(alice, 'deactivate', didHash(alice.did));
    await lookAgain(10 * MINUTE_MS);
    for (const body of await told(alice))
      expect(body).toMatchObject({ status: 'confirmed', final: true, proven: false, proofs: { did: null } });
  });
});

test('a deactivation that a re-org takes back is none, by the follower', async () => {
  await restart({ FOLLOWER: 'true' });
  const alice = await settled('email');
  await people.act(alice, 'deactivate', didHash(alice.did));
  await lookAgain(MINUTE_MS);
  expect(await people.lookup(alice)).toMatchObject({ proven: false });
  await chain.reorg(1);
  await lookAgain(MINUTE_MS);
  expect(await people.lookup(alice)).toMatchObject({ proven: true, proofs: { did: 'address' } });
});

describe('§3.3 checkedAt', () => {
  test('is null before the block is final, then the time of the last look', async () => {
    await restart({ FINALITY_BLOCKS: '5' });
    const alice = await people.own('email');
    const { txHash } = await people.publish(alice);
    await people.claim(alice, txHash, { proof: true });
    await look(0);
    expect(await people.lookup(alice)).toMatchObject({ status: 'confirmed', final: false, checkedAt: null });
    await chain.mine(5);
    await look(31_000);
    expect(await people.lookup(alice)).toMatchObject({ final: true, checkedAt: secondsAgo(0) });
    await chain.mine(70);
    await look(31_000);
    expect(await people.lookup(alice)).toMatchObject({ checkedAt: secondsAgo(0) });
    await look(5 * MINUTE_MS);
    expect(await people.lookup(alice)).toMatchObject({ checkedAt: secondsAgo(5 * MINUTE_MS) });
    await look(5 * MINUTE_MS);
    expect(await people.lookup(alice)).toMatchObject({ proven: true, checkedAt: secondsAgo(0) });
  });

  test('stays while the node is silent, or does not say what the registry has', async () => {
    const alice = await settled('email');
    const { checkedAt } = await people.lookup(alice);
    node.trouble = () => new Response('down', { status: 503 });
    await lookAgain(10 * MINUTE_MS);
    const mute = (_: string, params: readonly unknown[], result: unknown) =>
      JSON.stringify(params).includes(RESOLVE) ? '0x' : result;
    node.trouble = (forward, _, body) => answerWith(mute, forward, body);
    await lookAgain(MINUTE_MS);
    expect(await people.lookup(alice)).toMatchObject({ proven: true, checkedAt });
  });
});

describe('§3.3 a look that waits for its node', () => {
  /** Holds the answers about the DID until they are let through. */
  function hold({ did }: Person) {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const named = `${RESOLVE}${didHash(did).slice(2)}`;
    node.trouble = async (forward, _, body) => {
      const answer = await forward();
      if (!body.includes(named)) return answer;
      reach();
      await opened;
      return answer;
    };
    return { open, reached };
  }

  test('says when it asked, not when it was answered', async () => {
    const alice = await settled('email');
    await t.clock.advance(10 * MINUTE_MS);
    const checkedAt = secondsAgo(0);
    const held = hold(alice);
    const looking = t.work();
    await held.reached;
    await people.act(alice, 'deactivate', didHash(alice.did));
    await t.clock.advance(5_000);
    held.open();
    await looking;
    expect(await people.lookup(alice)).toMatchObject({ proven: true, checkedAt });
  });

  test('says nothing of a registration that has changed meanwhile', async () => {
    const alice = await settled('email');
    const { checkedAt } = await people.lookup(alice);
    await t.clock.advance(10 * MINUTE_MS);
    const held = hold(alice);
    const looking = t.work();
    await held.reached;
    // Another process has found it moved, or taken back by a re-org.
    await t.database.execute({ sql: 'UPDATE registrations SET active = 0 WHERE did = :did', args: { did: alice.did } });
    held.open();
    await looking;
    expect(await people.lookup(alice)).toMatchObject({ proven: false, checkedAt });
  });
});

describe('§3.2 the pace of looks', () => {
  /** How often the node was asked for a DID. */
  function countAsked({ did }: Person): () => number {
    let asked = 0;
    node.trouble = (forward, _, body) => {
      asked += body.split(`${RESOLVE}${didHash(did).slice(2)}`).length - 1;
      return forward();
    };
    return () => asked;
  }

  test('after 10 minutes, then at twice the pause, up to 7 days', async () => {
    const alice = await settled('email');
    const asked = countAsked(alice);
    let pause = 10 * MINUTE_MS;
    for (let count = 0; count < 13; count++) {
      await look(pause - 5_000);
      expect([pause, asked()]).toEqual([pause, count]);
      await look(5_000);
      expect([pause, asked()]).toEqual([pause, count + 1]);
      pause = Math.min(7 * DAY_MS, 2 * pause);
    }
    expect(pause).toBe(7 * DAY_MS);
  });

  test('a change begins with the shortest pause again', async () => {
    const alice = await settled('handle');
    for (const minutes of [10, 20, 40]) await look(minutes * MINUTE_MS);
    await people.act(alice, 'freeAlias', aliasHash(alice.identifier));
    await look(80 * MINUTE_MS);
    await look(5_000);
    expect(await people.lookup(alice)).toMatchObject({ proofs: { identifier: null } });
    const asked = countAsked(alice);
    await look(10 * MINUTE_MS);
    expect(asked()).toBe(1);
  });

  test('a look-up asks for one look in ten minutes, and writes nothing itself', async () => {
    const alice = await settled('email');
    for (const minutes of [10, 20, 40]) await look(minutes * MINUTE_MS);
    const asked = countAsked(alice);
    await people.lookup(alice);
    await look(5_000);
    expect(asked()).toBe(0);
    await look(KEYS_STALE_MS);
    const written = async () => [
      await t.rows('SELECT * FROM key_accounts'),
      await t.rows('SELECT * FROM registrations'),
    ];
    const before = await written();
    for (let i = 0; i < 3; i++) await people.lookup(alice);
    expect(await written()).toEqual(before);
    await look(5_000);
    expect(asked()).toBe(1);
    for (let second = 0; second < 9; second++) {
      await look(MINUTE_MS);
      await people.lookup(alice);
    }
    expect(asked()).toBe(1);
  });

  test('of a follower that is up to date nothing is due by itself, and of one that stopped everything is', async () => {
    await restart({ FOLLOWER: 'true' });
    const alice = await settled('email');
    const asked = countAsked(alice);
    for (let turn = 0; turn < 90; turn++) await look(20_000);
    expect(asked()).toBe(0);
    const other = await start({}, { database: t.database, clock: t.clock });
    await t.clock.advance(2 * MINUTE_MS);
    await other.work();
    expect(asked()).toBe(1);
    await other.stop();
  });

  test('strangers’ accounts whose keys are never settled leave half of the looks to the others', async () => {
    await restart({ LOOKS_PER_MINUTE: '24' });
    const alice = await settled('email');
    const asked = countAsked(alice);
    for (let i = 0; i < 100; i++) {
      await t.database.execute({
        sql: `INSERT INTO key_accounts (account, checked_at, due_at) VALUES (:account, 0, 0)`,
        args: { account: `0xc0de${i.toString(16).padStart(36, '0')}` },
      });
    }
    await look(10 * MINUTE_MS);
    expect(asked()).toBe(1);
  });

  test('a contract that shows other keys at each look fills no table', async () => {
    const alice = await settled('email');
    const account = alice.account.toLowerCase();
    const word = (value: number) => value.toString(16).padStart(64, '0');
    let shown = 0;
    const others = (_: string, params: readonly unknown[], result: unknown) => {
      if (!JSON.stringify(params).includes(`"${GET_KEYS}"`)) return result;
      const keys = Array.from({ length: OWNER_KEYS_MAX }, (_, i) => [i, ++shown, 1, 0, 0].map(word).join(''));
      return `0x${word(32)}${word(OWNER_KEYS_MAX)}${keys.join('')}`;
    };
    await t.database.execute({
      sql: 'INSERT INTO account_keys (account, key) VALUES (:account, :key)',
      args: { account, key: `0x${word(0)}${word(1)}` },
    });
    node.trouble = (forward, _, body) => answerWith(others, forward, body);
    for (let looks = 0; looks < 40; looks++) await look(10 * MINUTE_MS);
    expect(shown).toBeGreaterThan(KNOWN_KEYS_MAX);
    const [row] = await t.rows('SELECT count(*) AS keys FROM account_keys WHERE account = :account', { account });
    expect(Number(row?.['keys'])).toBeLessThanOrEqual(KNOWN_KEYS_MAX);
  });

  test('LOOKS_PER_MINUTE for all processes together, the ones first that are due for longest', async () => {
    await restart({ LOOKS_PER_MINUTE: '3' });
    const five: Person[] = [];
    for (let i = 0; i < 5; i++) five.push(await settled('email'));
    const other = await start({ LOOKS_PER_MINUTE: '3' }, { database: t.database, clock: t.clock });
    const begun = async () => {
      const rows = await t.rows(`SELECT controller FROM key_accounts JOIN registrations ON controller = account
        WHERE begun_at IS NOT NULL ORDER BY registrations.id`);
      return rows.map((row) => five.findIndex(({ account }) => account.toLowerCase() === row['controller']));
    };
    await t.clock.advance(20 * MINUTE_MS);
    for (let second = 0; second < 55; second += 5) {
      await t.clock.advance(5_000);
      await Promise.all([t.work(), other.work()]);
    }
    expect(await begun()).toEqual([0, 1, 2]);
    for (let second = 0; second < 60; second += 5) {
      await t.clock.advance(5_000);
      await Promise.all([t.work(), other.work()]);
    }
    expect(await begun()).toEqual([0, 1, 2, 3, 4]);
    await other.stop();
  });
});
