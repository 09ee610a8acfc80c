import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Database } from '../../../lib/db/database.ts';
import { JUDGINGS_MAX } from '../../../lib/registration/record.ts';
import { proveRegistration } from '../../../scripts/dev-stack/passkey-proof.ts';
import { OPERATOR } from '../../support/events.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { startTestChain } from '../../support/onchain.ts';
import { createPasskey } from '../../support/passkey.ts';
import { createPeople, type People, type Person } from '../../support/people.ts';
import { type Reply, startVault, type TestVault } from '../../support/vault.ts';

// §5.3: nothing outside is asked while a row is locked. Node calls wait at a gate in front of the real node.

const chain = await startTestChain({ edition: 1 });
const node: Forwarder = startForwarder(chain.url);
afterAll(async () => {
  await node.stop();
  await chain.stop();
});

let t: TestVault;
const vars = { ...chain.vars, RPC_URL: node.url, MAX_VERIFY_SENDS_PER_IP: '1000', MAX_REGISTRATIONS_PER_IP: '1000' };
beforeEach(async () => {
  t = await startVault(vars);
});
afterEach(async () => {
  node.trouble = undefined;
  await t.stop();
});

const people = createPeople(chain, () => t);

/** Holds the node's answers to requests that name one of the hashes, until opened. */
function gate(...hashes: readonly string[]) {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const seen = { held: 0, reached, open };
  node.trouble = async (forward, _, body) => {
    if (hashes.some((hash) => body.includes(hash))) {
      seen.held++;
      reach();
      await opened;
    }
    return forward();
  };
  return seen;
}

/** A handle that somebody else has claimed before its owner's alias is on the chain. */
async function squatted() {
  const [owner, thief] = [await people.create('handle'), await people.create('handle')];
  const { txHash: own } = await chain.register({ did: thief.did }, { holder: thief.account });
  const squatter: Person = { ...thief, identifier: owner.identifier };
  expect((await people.claim(squatter, own)).status).toBe(200);
  return { owner, squatter, own, txHash: (await people.publish(owner)).txHash };
}

type Named = Pick<Person, 'identifier' | 'channel'>;
const didsOf = async ({ identifier, channel }: Named, where: string) =>
  (
    await t.rows(`SELECT did FROM registrations WHERE identifier = :key AND ${where} ORDER BY id`, {
      key: `${channel}:${identifier}`,
    })
  ).map(({ did }) => did);
const holderOf = (who: Named) => didsOf(who, 'holds = 1');
const liveOf = (who: Named) => didsOf(who, `status <> 'failed'`);

/** What the chain shows is final, and has been looked at. */
async function settle(): Promise<void> {
  await chain.mine(64);
  for (let i = 0; i < 3; i++) {
    await t.clock.advance(31_000);
    await t.work();
  }
}

/** The database as another vault sees it, which does something before each row that it takes, and when it lets go. */
function withGap(
  database: Database,
  { before, after }: { before: () => Promise<unknown>; after?: () => Promise<unknown> },
) {
  const seen = { times: 0 };
  const around = async <T>(sql: readonly string[], run: () => Promise<T>): Promise<T> => {
    if (sql.some((one) => one.startsWith('INSERT INTO identifier_rows'))) {
      seen.times++;
      await before();
    }
    const result = await run();
    if (sql.some((one) => one.startsWith('UPDATE identifier_rows SET leased_until = 0'))) await after?.();
    return result;
  };
  const gapped: Database = {
    execute: (statement) => around([statement.sql], () => database.execute(statement)),
    batch: (statements, mode) =>
      around(
        statements.map(({ sql }) => sql),
        () => database.batch(statements, mode),
      ),
  };
  return { gapped, seen };
}

describe('a handle that four addresses claim with false signatures', () => {
  test('its owner does not wait for their judging, and nobody is refused as busy (S5)', async () => {
    const { owner, squatter, own, txHash } = await squatted();
    const forged: Person = { ...squatter, passkey: createPasskey() };
    const judging = gate(own);
    const flood: Promise<Reply>[] = [];
    for (let n = 0; n < 20; n++) flood.push(claimFrom(`203.0.113.${1 + (n % 4)}`, forged, own));
    await judging.reached;
    const answer = people.claim(owner, txHash, { proof: true });
    // Where they would wait for a row, the wait is over.
    for (let i = 0; i < 30; i++) await t.clock.advance(100);
    expect([(await answer).status, (await answer).body.error]).toEqual([200, undefined]);
    judging.open();
    const replies = await Promise.all(flood);
    expect([...new Set(replies.map(({ status, body }) => `${status} ${body.error}`))]).toEqual(['403 proof_invalid']);
    await settle();
    expect(await holderOf(owner)).toEqual([owner.did]);
  });
});

describe('what changes between judging and writing', () => {
  let other: TestVault | undefined;
  afterEach(() => other?.stop());
  const elsewhere = createPeople(chain, () => other as TestVault);

  test('is judged again: a false proof that had no rival yet is refused', async () => {
    const [owner, thief] = [await people.create('handle'), await people.create('handle')];
    const { txHash } = await people.publish(owner);
    const forged = { ...owner, passkey: thief.passkey };
    let isFirst = true;
    const { gapped, seen } = withGap(t.database, {
      before: async () => {
        if (isFirst) expect((await people.claim(owner, txHash, { proof: true })).status).toBe(200);
        isFirst = false;
      },
    });
    other = await startVault(vars, { database: gapped, clock: t.clock });
    const reply = await elsewhere.claim(forged, txHash, { proof: true, credentialId: thief.credentialId });
    expect([reply.status, reply.body.error, reply.body.reason]).toEqual([403, 'proof_invalid', 'signature']);
    expect(seen.times).toBe(1);
    expect(await liveOf(owner)).toEqual([owner.did]);
  });

  test(`a row that changes ${JUDGINGS_MAX} times is 503 identifier_busy, and nothing is written`, async () => {
    const { owner, squatter, txHash } = await squatted();
    const setStatus = (status: string) =>
      t.database.execute({
        sql: `UPDATE registrations SET status = :status WHERE did = :did`,
        args: { status, did: squatter.did },
      });
    await setStatus('failed');
    const { gapped, seen } = withGap(t.database, {
      before: () => setStatus('submitted'),
      after: () => (seen.times < JUDGINGS_MAX ? setStatus('failed') : Promise.resolve()),
    });
    other = await startVault(vars, { database: gapped, clock: t.clock });
    const reply = await elsewhere.claim(owner, txHash, { proof: true });
    expect([reply.status, reply.body.error, reply.headers.get('retry-after')]).toEqual([503, 'identifier_busy', '2']);
    expect([seen.times, await liveOf(owner)]).toEqual([JUDGINGS_MAX, [squatter.did]]);
    // It stays as it is now: the next claim is judged, and written.
    expect((await elsewhere.claim(owner, txHash, { proof: true })).status).toBe(200);
    expect(await liveOf(owner)).toEqual([squatter.did, owner.did]);
  });
});

describe('races', () => {
  test('two rightful claims of one handle at once are one registration', async () => {
    const { owner, squatter, txHash } = await squatted();
    const judging = gate(txHash);
    const both = [people.claim(owner, txHash, { proof: true }), claimFrom('203.0.113.9', owner, txHash)];
    await judging.reached;
    judging.open();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    await settle();
    expect([await holderOf(owner), (await didsOf(owner, `did <> '${squatter.did}'`)).slice(0, 1)]).toEqual([
      [owner.did],
      [owner.did],
    ]);
  });

  test('two attested claims of one address at once: both are written, and one holds it', async () => {
    const [one, another] = [await people.create('email'), await people.create('email')];
    const rival: Person = { ...another, identifier: one.identifier };
    const [first, second] = [await people.publish(one), await people.publish(another)];
    const attested: People[] = [];
    for (const who of [one, rival]) {
      // Two of the same moment would be one.
      await t.clock.advance(1_000);
      const attestation = await people.attest(who);
      attested.push({ ...people, attest: async () => attestation });
    }
    const replies = await Promise.all([
      attested[0]?.claim(one, first.txHash, { proof: true }),
      attested[1]?.claim(rival, second.txHash, { proof: true }),
    ]);
    expect(replies.map((reply) => reply?.status)).toEqual([200, 200]);
    expect((await liveOf(one)).toSorted()).toEqual([one.did, rival.did].toSorted());
    expect(await holderOf(one)).toHaveLength(1);
    await settle();
    expect(await holderOf(one)).toHaveLength(1);
  });

  test('a claim that is judged while its rival is confirmed: both changes stay', async () => {
    const { owner, squatter, txHash } = await squatted();
    const judging = gate(txHash);
    const answer = people.claim(owner, txHash, { proof: true });
    await judging.reached;
    await t.work();
    expect(await didsOf(owner, `status = 'confirmed'`)).toEqual([squatter.did]);
    judging.open();
    expect((await answer).status).toBe(200);
    expect(await liveOf(owner)).toEqual([squatter.did, owner.did]);
    await settle();
    expect(await holderOf(owner)).toEqual([owner.did]);
  });

  test('an attestation that expires and is forgotten while its claim is judged is not used again', async () => {
    const [owner, rival] = [await people.create('email'), await people.create('email')];
    const txHashes = [(await people.publish(owner)).txHash, (await people.publish(rival)).txHash];
    const attestation = (await people.attest(owner)) as { readonly signature: string; readonly expires_at: string };
    const { body: contracts } = await t.call('GET /api/contracts');
    const claim = (who: Person, txHash: string | undefined) => {
      const { passkey, account, ...fields } = { ...who, identifier: owner.identifier };
      const request = { ...fields, smartAccount: account, attestation };
      const proof = proveRegistration(passkey, contracts, request, { now: t.clock.now() });
      return t.call('POST /api/dids', { ...fields, ...proof, attestation, txHash });
    };
    expect((await claim(owner, txHashes[0])).status).toBe(200);
    await t.clock.advance(Date.parse(attestation.expires_at) - t.clock.now() - 1);
    const judging = gate(txHashes[1] ?? '');
    const again = claim(rival, txHashes[1]);
    await judging.reached;
    await t.clock.advance(1);
    await t.work();
    judging.open();
    const { status, body } = await again;
    expect([status, body.error, await liveOf(owner)]).toEqual([403, 'attestation_expired', [owner.did]]);
  });

  test('an erasure does not wait for a claim that is judged, and the claim comes back with its proof', async () => {
    const { owner, txHash } = await squatted();
    const judging = gate(txHash);
    const answer = people.claim(owner, txHash, { proof: true });
    await judging.reached;
    const erased = await t.call('POST /v1/console/person/erase', { identifier: owner.identifier }, OPERATOR);
    expect([erased.status, await liveOf(owner)]).toEqual([200, []]);
    judging.open();
    expect((await answer).status).toBe(200);
    expect(await liveOf(owner)).toEqual([owner.did]);
    await settle();
    expect(await holderOf(owner)).toEqual([owner.did]);
  });
});

/** A claim with a proof, from an address. */
async function claimFrom(ip: string, who: Person, txHash: string): Promise<Reply> {
  const other = createPeople(chain, () => ({ ...t, call: t.from(ip).call }));
  return other.claim(who, txHash, { proof: true });
}
