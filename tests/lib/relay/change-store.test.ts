import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { withRow } from '../../../lib/db/row-lock.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { withdrawRegistration } from '../../../lib/registration/change-store.ts';
import { insertClaim, type NewClaim } from '../../../lib/registration/claim-store.ts';
import {
  failRelay,
  mineRelay,
  recallRelays,
  reopenRelay,
  replaceAttempt,
  requeueBeyond,
  requeueRelay,
  signRelay,
} from '../../../lib/relay/change-store.ts';
import {
  countFill,
  lowerNonce,
  raiseNonce,
  recordBlocker,
  recordGenesis,
  selectGenesis,
  selectSigner,
} from '../../../lib/relay/signer-store.ts';
import {
  type RelayAttempt,
  type RelayRow,
  selectAnyRelayDue,
  selectAttempts,
  selectAttemptsAt,
  selectQueued,
  selectRelay,
  selectSent,
  toAttempt,
  toRelay,
} from '../../../lib/relay/store.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';
import { shareOf } from '../../support/shares.ts';

const queue = { chainId: 84532, role: 'registrar' } as const;
const signer = { chainId: 84532, address: '0xfeed' };
const other = { chainId: 84532, address: '0xbeef' };
const place = { block: 7, blockHash: '0xb7', isFinal: true, nextCheckAt: 99 };

for (const engine of engines()) {
  describe(`the outbox on ${engine.name}`, () => {
    let database: TestDatabase;
    let db: OwnedStore;
    let clock: TestClock;

    beforeEach(async () => {
      database = await engine.open();
      clock = testClock();
      db = createStore({ database, clock, metrics: createMetrics(), maxConnections: 4 });
      await db.write(raiseNonce(signer, 5));
    });
    afterEach(() => database.close());

    test('empty transactions are counted in days that begin with their first, one of a nonce once', async () => {
      const begun = clock.now();
      const mayFill = async (nonce: number, ms: number) => {
        const now = begun + ms;
        const [counted] = await db.write(countFill(signer, { nonce, now, since: now - DAY_MS, max: 2 }));
        return counted?.rowsAffected;
      };
      expect([await mayFill(5, 0), await mayFill(5, 1), await mayFill(6, DAY_MS / 2)]).toEqual([1, 1, 1]);
      expect([await mayFill(7, DAY_MS - 1), await mayFill(7, DAY_MS)]).toEqual([0, 1]);
    });

    const attestationOf = (name: string) => ({ signature: `signature-${name}`, identifierHash: `hash-${name}` });

    const claimOf = (name: string, change: Partial<NonNullable<NewClaim['relay']>> = {}): NewClaim => ({
      identifier: `email:${name}@example.com`,
      app: 'default',
      channel: 'email',
      did: `did:key:${name}`,
      didHash: `0x${name}`,
      aliasHash: '0x',
      credentialId: `credential-${name}`,
      txHash: '',
      blockNumber: null,
      smartAccount: `0xacc-${name}`,
      proof: JSON.stringify({ identifierHash: `hash-${name}` }),
      proofKey: `0xkey-${name}`,
      ledTo: '',
      attestation: { signature: `signature-${name}`, expiresAt: clock.now() + 1_000 },
      ip: '203.0.113.7',
      windowSeconds: 0,
      share: shareOf(clock.now()),
      perIp: 3,
      sessionExpiresAt: clock.now() + 1_000,
      relay: {
        chainId: 84532,
        registry: '0xreg',
        controller: `0xacc-${name}`,
        network: `n-${name}`,
        dailyMax: 10,
        shareMax: 3,
        ...change,
      },
      now: clock.now(),
    });

    /** Whether the claim was admitted. */
    const claim = (name: string, change?: Partial<NonNullable<NewClaim['relay']>>) =>
      withRow({ db, clock }, `email:${name}@example.com`, async (fence) => {
        const [admitted] = await db.write(...insertClaim(claimOf(name, change), fence));
        return admitted?.rowsAffected === 1;
      });

    const attempt = (hash: string, change: Partial<RelayAttempt> = {}): RelayAttempt => ({
      hash,
      raw: `${hash}-raw`,
      gas: 97_006n,
      maxFee: 1_980_422_400n,
      tip: 1_000_000n,
      kind: 'call',
      ...change,
    });

    const queued = async () => (await db.read(selectQueued(queue, clock.now(), 10))).map(toRelay);
    const sent = async () => (await db.read(selectSent(queue, clock.now(), 10))).map(toRelay);
    const again = async ({ id }: RelayRow) => toRelay((await db.read(selectRelay(id)))[0] ?? {});
    const registrations = () =>
      db.read({ sql: 'SELECT tx_hash, status, mined_block, failure FROM registrations ORDER BY id', args: {} });
    const nextNonce = async () => (await db.read(selectSigner(signer)))[0]?.['next_nonce'];

    async function enqueue(name: string): Promise<RelayRow> {
      await claim(name);
      const relay = (await queued()).at(-1);
      if (!relay) throw new Error('nothing was queued');
      return relay;
    }

    async function sign(relay: RelayRow, nonce: number, hash = `0xhash${nonce}`): Promise<boolean> {
      const [signed] = await db.write(...signRelay(relay, signer, nonce, attempt(hash), 100));
      return signed?.rowsAffected === 1;
    }

    test('queues a relay in the batch that writes its registration, due at once', async () => {
      expect((await db.read(selectAnyRelayDue(queue, clock.now()))).length).toBe(0);
      const relay = await enqueue('alice');
      expect(relay).toMatchObject({
        status: 'queued',
        nonce: null,
        signer: null,
        txHash: '',
        controller: '0xacc-alice',
      });
      expect((await db.read(selectAnyRelayDue(queue, clock.now()))).length).toBe(1);
      expect((await db.read(selectAnyRelayDue({ ...queue, chainId: 8453 }, clock.now()))).length).toBe(0);
      expect(await db.read({ sql: 'SELECT next_check_at FROM registrations', args: {} })).toEqual([
        { next_check_at: null },
      ]);
    });

    test('stores nonce, bytes, hash and state in one write, and numbers nonces without a gap', async () => {
      const [alice, bob] = [await enqueue('alice'), await enqueue('bob')];
      const results = await db.write(
        ...signRelay(alice, signer, 5, attempt('0xa'), 100),
        ...signRelay(bob, signer, 6, attempt('0xb'), 100),
      );
      expect(results.map(({ rowsAffected }) => rowsAffected)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
      expect((await sent()).map(({ nonce, status, txHash, signer: by }) => [nonce, status, txHash, by])).toEqual([
        [5, 'signed', '0xa', '0xfeed'],
        [6, 'signed', '0xb', '0xfeed'],
      ]);
      const stored = (await db.read(selectAttempts([alice]))).map(toAttempt);
      expect(stored).toEqual([{ ...attempt('0xa'), relayId: alice.id }]);
      expect(await nextNonce()).toBe(7);
    });

    test('a nonce that went to another, and a relay that was withdrawn or signed, change nothing', async () => {
      const [alice, bob] = [await enqueue('alice'), await enqueue('bob')];
      expect([await sign(alice, 4), await sign(alice, 6), await sign(alice, 5), await sign(bob, 5)]).toEqual([
        false,
        false,
        true,
        false,
      ]);
      expect(await sign(alice, 6)).toBe(false);
      const [withdrawn] = await db.write(...withdrawRegistration(bob, attestationOf('bob'), clock.now()));
      expect([withdrawn?.rowsAffected, await sign(bob, 6)]).toEqual([1, false]);
      expect([await nextNonce(), (await db.read(selectAttempts([alice, bob]))).length]).toEqual([6, 1]);
    });

    test('a second signer with one nonce is refused by the table itself', async () => {
      const [alice, bob] = [await enqueue('alice'), await enqueue('bob')];
      await sign(alice, 5);
      const forged = {
        sql: `UPDATE relays SET signer = '0xfeed', nonce = 5 WHERE id = :id`,
        args: { id: bob.id },
      };
      expect(await settled(db.write(forged))).toThrow(/UNIQUE/);
      await db.write(raiseNonce(other, 5));
      const [signed] = await db.write(...signRelay(bob, other, 5, attempt('0xother'), 100));
      expect(signed?.rowsAffected).toBe(1);
    });

    test('a withdrawn relay does not free the attestation of another request for it', async () => {
      const [, bob] = [await enqueue('alice'), await enqueue('bob')];
      const [withdrawn] = await db.write(...withdrawRegistration(bob, attestationOf('alice'), clock.now()));
      expect(withdrawn?.rowsAffected).toBe(1);
      expect(await db.read({ sql: 'SELECT signature FROM attestation_uses ORDER BY signature', args: {} })).toEqual([
        { signature: 'signature-alice' },
        { signature: 'signature-bob' },
      ]);
    });

    test('a signed relay cannot be withdrawn; one that is frees everything', async () => {
      const [alice, bob] = [await enqueue('alice'), await enqueue('bob')];
      await sign(alice, 5);
      for (const [relay, name] of [
        [alice, 'alice'],
        [bob, 'bob'],
      ] as const)
        await db.write(...withdrawRegistration(relay, attestationOf(name), clock.now()));
      expect(await registrations()).toMatchObject([
        { status: 'submitted', failure: null },
        { status: 'failed', failure: 'withdrawn' },
      ]);
      expect(await db.read({ sql: 'SELECT signature FROM attestation_uses', args: {} })).toEqual([
        { signature: 'signature-alice' },
      ]);
      expect(await db.read({ sql: 'SELECT identifier FROM sessions WHERE linked = 1', args: {} })).toEqual([
        { identifier: 'email:alice@example.com' },
      ]);
      expect(await claim('bob')).toBe(true);
    });

    test('a replacement is one more attempt of the same nonce, and the transaction that is expected', async () => {
      const alice = await enqueue('alice');
      await sign(alice, 5, '0x1');
      const signed = await again(alice);
      await db.write(...replaceAttempt(signed, attempt('0x2', { maxFee: 3n, kind: 'noop' }), 105));
      expect(await again(alice)).toMatchObject({ txHash: '0x2', waitingSince: 105, nonce: 5 });
      const stored = await db.read(selectAttemptsAt(signer, 5));
      expect(stored.map(toAttempt).map(({ hash, kind }) => [hash, kind])).toEqual([
        ['0x1', 'call'],
        ['0x2', 'noop'],
      ]);
      await db.write(...mineRelay(signed, { ...place, txHash: '0x1' }, clock.now()));
      const [late] = await db.write(...replaceAttempt(signed, attempt('0x3'), 106));
      expect([late?.rowsAffected, (await db.read(selectAttemptsAt(signer, 5))).length]).toEqual([0, 2]);
    });

    test('mined, taken back by a re-org, mined elsewhere, deep', async () => {
      const alice = await enqueue('alice');
      await sign(alice, 5);
      const first = await db.write(
        ...mineRelay(alice, { ...place, txHash: '0x1', nextCheckAt: clock.now() + 9 }, clock.now()),
      );
      const same = await db.write(
        ...mineRelay(alice, { ...place, txHash: '0x1', nextCheckAt: clock.now() + 9 }, clock.now()),
      );
      expect([first[0]?.rowsAffected, same[0]?.rowsAffected]).toEqual([1, 0]);
      expect(await registrations()).toMatchObject([{ status: 'confirmed', tx_hash: '0x1', mined_block: 7 }]);
      expect(await sent()).toEqual([]);
      await db.write(recallRelays(signer, 6, clock.now()));
      expect(await sent()).toEqual([]);
      await db.write(recallRelays(signer, 5, clock.now()));
      expect(await sent()).toMatchObject([{ status: 'mined' }]);
      await db.write(...reopenRelay(await again(alice), 110, clock.now()));
      expect(await registrations()).toMatchObject([{ status: 'submitted', mined_block: null }]);
      expect(await sent()).toMatchObject([{ status: 'signed', waitingSince: 110, checks: 0 }]);
      await db.write(
        ...mineRelay(alice, { ...place, txHash: '0x1', blockHash: '0xc', nextCheckAt: null }, clock.now()),
      );
      expect(await again(alice)).toMatchObject({ status: 'confirmed', minedHash: '0xc' });
      expect(await sent()).toEqual([]);
    });

    test('a next nonce is lowered to one that no relay shows as spent', async () => {
      const alice = await enqueue('alice');
      await sign(alice, 5);
      await db.write(...mineRelay(alice, { ...place, txHash: '0x1' }, clock.now()), raiseNonce(signer, 25));
      const lower = async (to: number) => (await db.write(lowerNonce(signer, { from: 25, to })))[0]?.rowsAffected;
      expect([await lower(5), await nextNonce()]).toEqual([0, 25]);
      expect([await lower(6), await nextNonce()]).toEqual([1, 6]);
    });

    test('beyond a nonce that was lowered every relay is queued again, from the first', async () => {
      const [alice, bob] = [await enqueue('alice'), await enqueue('bob')];
      expect([await sign(alice, 5), await sign(bob, 6)]).toEqual([true, true]);
      const [lowered, requeued] = await db.write(lowerNonce(signer, { from: 7, to: 5 }), requeueBeyond(signer, 5));
      expect([lowered?.rowsAffected, requeued?.rowsAffected]).toEqual([1, 1]);
      expect([await again(alice), await again(bob)]).toMatchObject([
        { status: 'signed', nonce: 5 },
        { status: 'queued', nonce: null },
      ]);
    });

    test('queued again without its nonce, which stays spent', async () => {
      const alice = await enqueue('alice');
      await sign(alice, 5);
      await db.write(...requeueRelay(await again(alice)));
      expect([(await queued()).length, await nextNonce()]).toEqual([1, 6]);
      expect(await sign(alice, 6, '0xagain')).toBe(true);
    });

    test('failed, all is free again but its place in the day, once it had a nonce', async () => {
      const alice = await enqueue('alice');
      await sign(alice, 5);
      const [stale] = await db.write(...failRelay(alice, 'did_taken', clock.now()));
      expect([stale?.rowsAffected, await registrations()]).toMatchObject([0, [{ status: 'submitted' }]]);
      await db.write(...failRelay(await again(alice), 'did_taken', clock.now()));
      expect(await registrations()).toMatchObject([{ status: 'failed', failure: 'did_taken' }]);
      expect(await again(alice)).toMatchObject({ status: 'failed', failure: 'did_taken' });
      expect(await claim('bob', { dailyMax: 1 })).toBe(false);
      expect(await claim('bob', { dailyMax: 2 })).toBe(true);
      const bob = (await queued())[0] as RelayRow;
      await db.write(...failRelay(bob, 'controller_taken', clock.now()));
      expect(await claim('carol', { dailyMax: 2 })).toBe(true);
    });

    test('of one network, only so many are queued in a day; one that failed before its nonce counts no more', async () => {
      const own = { network: '2001:db8:1::/48', shareMax: 2 };
      for (const name of ['alice', 'bob']) expect(await claim(name, own)).toBe(true);
      expect(await claim('carol', own)).toBe(false);
      expect(await claim('dave', { ...own, network: '2001:db8:2::/48' })).toBe(true);
      await db.write(...failRelay((await queued())[0] as RelayRow, 'controller_taken', clock.now()));
      expect(await claim('carol', own)).toBe(true);
      expect(await claim('erin', own)).toBe(false);
    });

    test('one account has one registration under way', async () => {
      const alice = await enqueue('alice');
      expect(await claim('bob', { controller: '0xacc-alice' })).toBe(false);
      await sign(alice, 5);
      expect(await claim('bob', { controller: '0xacc-alice' })).toBe(false);
      await db.write(...mineRelay(alice, { ...place, txHash: '0x1' }, clock.now()));
      expect(await claim('bob', { controller: '0xacc-alice' })).toBe(true);
    });

    test('a signer’s nonce never falls, its trouble and a chain’s first block are noted once', async () => {
      await db.write(raiseNonce(signer, 3), recordBlocker(other, 'unreachable'));
      expect([await nextNonce(), (await db.read(selectSigner(other)))[0]]).toEqual([
        5,
        { next_nonce: null, trouble: 'unreachable' },
      ]);
      await db.write(raiseNonce(other, 3), raiseNonce(signer, 9), recordBlocker(other, null));
      expect([await nextNonce(), (await db.read(selectSigner(other)))[0]]).toEqual([
        9,
        { next_nonce: 3, trouble: null },
      ]);
      await db.write(recordGenesis(84532, '0xfirst'), recordGenesis(84532, '0xsecond'));
      expect(await db.read(selectGenesis(84532))).toEqual([{ genesis: '0xfirst' }]);
    });
  });
}
