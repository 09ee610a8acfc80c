import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createContext } from '../../../lib/context.ts';
import type { Statement } from '../../../lib/db/database.ts';
import { leaseHeld } from '../../../lib/db/leases.ts';
import { withRow } from '../../../lib/db/row-lock.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { EVENTS } from '../../../lib/events/catalogue.ts';
import {
  endLeased,
  judgeChallenge,
  openChallenge,
  selectUnopened,
} from '../../../lib/holders/challenge-queue-store.ts';
import {
  advance,
  begin,
  rewind,
  selectPosition,
  toPosition,
  whileUnmoved,
} from '../../../lib/indexer/follower-store.ts';
import { useForRecovery } from '../../../lib/limits/budgets.ts';
import { keepPayment, settlePayment, toOpenPayment } from '../../../lib/payments/store.ts';
import { insertForeign, insertRecovery, recordSeen } from '../../../lib/recovery/change-store.ts';
import { cancelRecoveries } from '../../../lib/recovery/list.ts';
import { selectNewest, toRecovery } from '../../../lib/recovery/store.ts';
import {
  confirmRegistration,
  failRegistration,
  postponeRegistration,
  undoRegistration,
  withdrawRegistration,
} from '../../../lib/registration/change-store.ts';
import { insertClaim, type NewClaim } from '../../../lib/registration/claim-store.ts';
import { leaseDueRegistrations, toRegistration } from '../../../lib/registration/store.ts';
import { failRelay, mineRelay, reopenRelay, signRelay } from '../../../lib/relay/change-store.ts';
import { raiseNonce } from '../../../lib/relay/signer-store.ts';
import { selectQueued, toRelay } from '../../../lib/relay/store.ts';
import { OPERATOR } from '../../support/events.ts';
import { shareOf } from '../../support/shares.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

// Each change is tried twice: while no event can be written, when it must not happen either, and then once more, when
// both do.

const NO_EVENTS = `CREATE TRIGGER no_events BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no events'); END`;
const seen = new Set<string>();

let t: TestVault;
let db: OwnedStore;

beforeEach(async () => {
  t = await startVault({ SMS_PROVIDER: 'log', MAX_VERIFY_SENDS_PER_IP: '100', RATE_LIMIT_CODES_PER_IDENTIFIER: '100' });
  db = createStore({ database: t.database, clock: t.clock, metrics: createMetrics(), maxConnections: 4 });
  await db.ready();
});
afterEach(() => t.stop());

/** All rows but those of events and of what only bounds or locks. */
async function state(): Promise<string> {
  const tables = [
    'codes',
    'verifications',
    'sessions',
    'registrations',
    'attestation_uses',
    'challenges',
    'relays',
    'signers',
  ];
  const others = [
    'chain_events',
    'follower',
    'token_revocations',
    'operators',
    'limit_clears',
    'limit_notices',
    'invites',
  ];
  const rows = await Promise.all(
    [...tables, ...others, 'recoveries', 'payments'].map((table) => t.rows(`SELECT * FROM ${table}`)),
  );
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

/**
 * Until nothing is being written any more, since nobody waits for what a refusal tells: a commit takes a few turns of
 * the event loop.
 */
async function written(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

/** The events that a change tells, as `type {data}`; fails unless it and they come and go together. */
async function tell(change: () => Promise<unknown>): Promise<[string, Record<string, unknown>][]> {
  const [newest] = await t.rows('SELECT coalesce(max(id), 0) AS id FROM events');
  const before = await state();
  await t.rows(NO_EVENTS);
  await change().catch(() => undefined);
  await written();
  await t.rows('DROP TRIGGER no_events');
  expect(await state()).toBe(before);
  await change();
  await written();
  expect(await state()).not.toBe(before);
  const told = await t.rows('SELECT type, data FROM events WHERE id > :id ORDER BY id', { id: Number(newest?.['id']) });
  for (const { type } of told) seen.add(String(type));
  // Of the first request with the secret, whatever it asks.
  const own = told.filter(({ type }) => type !== 'operator.secret_used');
  return own.map(({ type, data }) => {
    return [String(type), JSON.parse(String(data))];
  });
}

const email = { identifier: 'alice@example.com', channel: 'email' };
const shown = { identifier: 'a***@example.com', channel: 'email' };
const send = () => t.call('POST /api/verify/send', email);
const check = (code: string) => t.call('POST /api/verify/check', { ...email, code });

describe('codes', () => {
  test('sent, verified', async () => {
    expect(await tell(send)).toEqual([['code.sent', shown]]);
    const code = t.codeFor('alice@example.com');
    expect(await tell(() => check(code))).toEqual([['code.verified', { ...shown, by: 'code' }]]);
  });

  test('exhausted by the last wrong guess, and only by that', async () => {
    await send();
    for (let i = 0; i < 4; i++) await check('x');
    expect(await t.rows(`SELECT 1 FROM events WHERE type = 'code.exhausted'`)).toEqual([]);
    expect(await tell(() => check('x'))).toEqual([['code.exhausted', shown]]);
    await check('x');
    expect((await t.rows(`SELECT 1 FROM events WHERE type = 'code.exhausted'`)).length).toBe(1);
  });

  test('guessed at: once, with the guess that makes the identifier’s sends pass-only', async () => {
    await send();
    await t.rows(`INSERT INTO verifications (identifier, wrong_guesses) VALUES ('email:alice@example.com', 18)`);
    await check('x');
    expect(await t.rows(`SELECT 1 FROM events WHERE type = 'code.guessing'`)).toEqual([]);
    expect(await tell(() => check('x'))).toEqual([['code.guessing', shown]]);
    await check('x');
    expect((await t.rows(`SELECT 1 FROM events WHERE type = 'code.guessing'`)).length).toBe(1);
  });

  test('refused by the provider', async () => {
    const mail = { send: () => Promise.reject(new Error('refused')) };
    const vars = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1', EMAIL_FROM: 'vault@example.com' };
    const refusing = await startVault(vars, { mail, database: t.database, clock: t.clock });
    expect((await refusing.call('POST /api/verify/send', email)).status).toBe(502);
    await refusing.vault.close();
    const rows = await t.rows('SELECT type, data FROM events ORDER BY id');
    expect(rows.map(({ type, data }) => [type, JSON.parse(String(data))])).toEqual([
      ['code.sent', shown],
      ['code.undelivered', shown],
    ]);
    seen.add('code.undelivered');
    await refusing.stop();
  });
});

describe('sessions', () => {
  const session = { ...shown, did: 'did:key:z' };
  const open = () => t.call('POST /api/sessions', { ...email, did: 'did:key:z' });

  test('created, lapsed', async () => {
    expect(await tell(open)).toEqual([['session.created', session]]);
    await t.clock.advance(86_400_000);
    expect(await tell(() => t.work())).toEqual([['session.lapsed', session]]);
    expect(await t.rows('SELECT * FROM sessions')).toEqual([]);
  });

  test('lapsed and created by the one that takes its place', async () => {
    await open();
    await t.clock.advance(86_400_000);
    const again = () => t.call('POST /api/sessions', { ...email, did: 'did:key:other' });
    expect(await tell(again)).toEqual([
      ['session.lapsed', session],
      ['session.created', { ...session, did: 'did:key:other' }],
    ]);
    // Neither a refusal nor a second look tells anything.
    expect((await again()).status).toBe(409);
    await t.work();
    expect((await t.rows('SELECT * FROM events')).length).toBe(3);
  });

  test('created with an idempotency key, whose answer is kept in the same commit', async () => {
    const opened = await t.call('POST /api/sessions', { ...email, did: 'did:key:z' }, { 'Idempotency-Key': 'k' });
    expect(opened.status).toBe(200);
    expect((await t.rows('SELECT status FROM idempotency')).map(({ status }) => Number(status))).toEqual([200]);
  });
});

describe('registrations', () => {
  const claimOf = (name: string, change: Partial<NewClaim> = {}): NewClaim => ({
    identifier: 'email:alice@example.com',
    app: 'shop',
    channel: 'email',
    did: `did:key:${name}`,
    didHash: `0x${name}`,
    aliasHash: '0xalice',
    credentialId: `credential-${name}`,
    txHash: `0x${name}`,
    blockNumber: null,
    smartAccount: null,
    proof: null,
    proofKey: null,
    ledTo: '',
    attestation: { signature: `signature-${name}`, expiresAt: t.clock.now() + 1_000 },
    ip: '203.0.113.7',
    windowSeconds: 0,
    share: shareOf(t.clock.now()),
    perIp: 3,
    sessionExpiresAt: t.clock.now() + 1_000,
    relay: null,
    now: t.clock.now(),
    ...change,
  });
  const claim = (name: string, change?: Partial<NewClaim>) =>
    withRow({ db, clock: t.clock }, 'email:alice@example.com', (fence) =>
      db.write(...insertClaim(claimOf(name, change), fence)),
    );
  const registration = (name: string, txHash: string | null = `0x${name}`) => ({
    ...shown,
    did: `did:key:${name}`,
    credential: 'creden***',
    tx_hash: txHash,
  });
  const due = async () => {
    const [taken] = await db.write(leaseDueRegistrations(t.clock.now(), 30_000, 10));
    return toRegistration(taken?.rows[0] ?? {});
  };
  const seenOn = {
    chainId: 84532,
    controller: '0xc',
    controllerKey: '0xkey',
    accountKeys: null,
    proofKey: '0xkey',
    isLate: false,
    isFinal: true,
    isAliased: false,
    aliasFinal: null,
    isActive: true,
    askedAt: 1,
    minedBlock: 7,
    minedHash: '0xb',
    nextCheckAt: 5,
  };

  const nowhere = { isAliased: false, aliasFinal: null, unseenSince: 0 };

  test('submitted, confirmed and proven, open again by a re-org, failed', async () => {
    expect(await tell(() => claim('a'))).toEqual([
      ['registration.submitted', registration('a')],
      ['session.created', { ...shown, did: 'did:key:a' }],
      ['session.linked', { ...shown, did: 'did:key:a' }],
    ]);
    expect((await t.rows(`SELECT DISTINCT app FROM events`)).map(({ app }) => app)).toEqual(['shop']);
    const leased = await due();
    expect(await tell(() => db.write(...confirmRegistration(leased, seenOn, t.clock.now())))).toEqual([
      ['registration.confirmed', registration('a')],
      ['registration.proven', registration('a')],
    ]);
    await t.clock.advance(1_000);
    const again = await due();
    expect(await tell(() => db.write(...postponeRegistration(again, nowhere, t.clock.now(), 5)))).toEqual([
      ['registration.submitted', registration('a')],
    ]);
    const last = await due();
    expect(await tell(() => db.write(...failRegistration(last, 'reverted', t.clock.now())))).toEqual([
      ['registration.failed', { ...registration('a'), reason: 'reverted' }],
    ]);
  });

  test('confirmed again is no news', async () => {
    await claim('a');
    await db.write(...confirmRegistration(await due(), seenOn, t.clock.now()));
    await t.clock.advance(1_000);
    const [told] = await db.write(...confirmRegistration(await due(), seenOn, t.clock.now()));
    expect(told?.rowsAffected).toBe(0);
  });

  test('a claim that waits for its address is told of when it was judged, and at its end', async () => {
    await claim('a', { proof: '{}' });
    await db.write(...confirmRegistration(await due(), { ...seenOn, nextCheckAt: null }, t.clock.now()));
    await claim('b', { proof: '{}' });
    await db.write(...confirmRegistration(await due(), { ...seenOn, proofKey: '0xother' }, t.clock.now()));
    const [waiting] = await db.read(selectUnopened(1));
    const challenger = { identifier: String(waiting?.['identifier']), did: String(waiting?.['did']) };
    await db.write(...openChallenge(challenger, t.clock.now()));
    const one = { id: 1, dueAt: t.clock.now() };
    const data = { identifier: registration('b').identifier, channel: 'email', did: registration('b').did };
    expect(
      await tell(() => db.write(...judgeChallenge(one, { chainId: 84532, mail: true, sms: true }, t.clock.now()))),
    ).toEqual([['registration.challenged', data]]);
    expect(await tell(() => db.write(...endLeased(one, 'moved', t.clock.now())))).toEqual([
      ['registration.challenge_ended', { ...data, by: 'moved' }],
    ]);
  });

  test('a proven claim of another DID takes the address when it is final, and gives it back when it fails', async () => {
    await claim('a');
    const unproven = { ...seenOn, proofKey: null, nextCheckAt: null };
    await db.write(...confirmRegistration(await due(), unproven, t.clock.now()));
    expect(await tell(() => claim('b', { proof: '{}' }))).toEqual([['registration.submitted', registration('b')]]);
    const later = await due();
    const shallow = { ...seenOn, isFinal: false, nextCheckAt: t.clock.now() };
    expect(await tell(() => db.write(...confirmRegistration(later, shallow, t.clock.now())))).toEqual([
      ['registration.confirmed', registration('b')],
      ['registration.proven', registration('b')],
    ]);
    const deep = await due();
    expect(await tell(() => db.write(...confirmRegistration(deep, seenOn, t.clock.now())))).toEqual([
      ['registration.displaced', registration('a')],
      ['session.taken_over', { ...shown, did: 'did:key:b', previous_did: 'did:key:a' }],
    ]);
    expect(await tell(() => db.write(...undoRegistration(deep.id, t.clock.now())))).toEqual([
      ['registration.failed', { ...registration('b'), reason: 'undone' }],
      ['registration.restored', registration('a')],
      ['session.taken_over', { ...shown, did: 'did:key:a', previous_did: 'did:key:b' }],
    ]);
  });

  test('its own session is linked, and nothing more', async () => {
    await t.call('POST /api/sessions', { ...email, did: 'did:key:a' });
    expect(await tell(() => claim('a'))).toEqual([
      ['registration.submitted', registration('a')],
      ['session.linked', { ...shown, did: 'did:key:a' }],
    ]);
  });

  describe('relayed', () => {
    const signer = { chainId: 84532, address: '0xfeed' };
    const relayed = { chainId: 84532, registry: '0xr', controller: '0xc', network: '', dailyMax: 10, shareMax: 10 };
    const attempt = { hash: '0xsigned', raw: '0x', gas: 1n, maxFee: 1n, tip: 1n, kind: 'call' } as const;
    const queued = async () =>
      toRelay((await db.read(selectQueued({ chainId: 84532, role: 'registrar' }, t.clock.now(), 1)))[0] ?? {});
    beforeEach(async () => {
      await db.write(raiseNonce(signer, 5));
      await claim('a', { proofKey: '0xkey', txHash: '', relay: relayed });
    });

    test('mined, open again by a re-org, found registered', async () => {
      const relay = await queued();
      await db.write(...signRelay(relay, signer, 5, attempt, 1));
      const place = { txHash: '0xsigned', block: 7, blockHash: '0xb', isFinal: true, nextCheckAt: 99 };
      expect(await tell(() => db.write(...mineRelay(relay, place, t.clock.now())))).toEqual([
        ['registration.confirmed', registration('a', '0xsigned')],
      ]);
      expect(await tell(() => db.write(...reopenRelay(relay, 9, t.clock.now())))).toEqual([
        ['registration.submitted', registration('a', '0xsigned')],
      ]);
      const done = { txHash: '0xothers', block: 9, blockHash: '0x9', isFinal: true, nextCheckAt: null };
      expect(await tell(() => db.write(...mineRelay(relay, done, t.clock.now())))).toEqual([
        ['registration.confirmed', registration('a', '0xothers')],
      ]);
    });

    test.each([
      ['failed', 'did_taken', (relay) => failRelay(relay, 'did_taken', t.clock.now())],
      [
        'withdrawn',
        'withdrawn',
        (relay) => withdrawRegistration(relay, { signature: 'signature-a', identifierHash: '0x' }, t.clock.now()),
      ],
    ] as [string, string, (relay: Awaited<ReturnType<typeof queued>>) => readonly Statement[]][])(
      '%s',
      async (_, reason, end) => {
        const relay = await queued();
        expect(await tell(() => db.write(...end(relay)))).toEqual([
          ['registration.failed', { ...registration('a', null), reason }],
        ]);
      },
    );
  });

  test('what the follower reads: a session linked and unlinked again, a DID deactivated once', async () => {
    const lease = { name: 'follower', owner: 'me', now: t.clock.now() };
    await t.rows(`INSERT INTO leases (name, owner, until) VALUES ('follower', 'me', ${t.clock.now() + 1e6})`);
    const held = leaseHeld(lease);
    const start = { source: 's', genesis: '0x', start: 0, head: 9, seenAt: 1 };
    await db.write(begin(start, held));
    await claim('z', { identifier: 'email:zoe@example.com', attestation: null, credentialId: 'credential-z' }).catch(
      () => 0,
    );
    await t.call('POST /api/sessions', { handle: 'alice', did: 'did:key:a' });
    const [session] = await t.rows(`SELECT alias_hash, did_hash FROM sessions WHERE identifier = 'handle:alice'`);
    const event = { block: 3, blockHash: '0x3', txHash: '0xt', metadataCid: null };
    const events = [
      {
        ...event,
        kind: 'AliasRegistered',
        subject: String(session?.['alias_hash']),
        object: String(session?.['did_hash']),
        logIndex: 0,
      },
      { ...event, kind: 'DIDDeactivated', subject: '0xdead', object: null, logIndex: 1 },
    ] as const;
    const position = async () => toPosition((await db.read(selectPosition()))[0] ?? {});
    const at = whileUnmoved(await position(), held);
    const range = { from: 0, last: { number: 5, hash: '0x5' }, events };
    const handle = { identifier: 'a***', channel: 'handle', did: 'did:key:a' };
    expect(await tell(() => db.write(...advance(range, 9, t.clock.now(), at)))).toEqual([
      ['did.deactivated', { did_hash: '0xdead', tx_hash: '0xt', block: 3 }],
      ['session.linked', handle],
    ]);
    const on = whileUnmoved(await position(), held);
    // Read again, with the blocks that overlap: known events are told no more.
    await db.write(...advance({ ...range, last: { number: 6, hash: '0x6' } }, 9, t.clock.now(), on));
    expect((await t.rows(`SELECT 1 FROM events WHERE type = 'did.deactivated'`)).length).toBe(1);
    const back = whileUnmoved(await position(), held);
    const gone = () => db.write(...rewind({ number: 2, hash: '0x2' }, t.clock.now() + 9, 9, t.clock.now(), back));
    expect(await tell(gone)).toEqual([['session.unlinked', handle]]);
  });
});

describe('recoveries', () => {
  const account = '0xacc';
  const recovery = {
    app: 'default',
    chainId: 84532,
    account,
    keyX: '0x1',
    keyY: '0x2',
    label: '0x',
    commitment: '0xc',
    identifier: 'email:alice@example.com',
    readBlock: 1,
    now: 1,
  };
  const found = async () => toRecovery((await db.read(selectNewest(84532, account)))[0] ?? {});
  const ready = Date.UTC(2026, 0, 4);
  const proposal = {
    contractId: 1,
    txHash: '0xt',
    readyAt: ready,
    proposedAt: 1,
    proposedBlock: 2,
    endedAt: null,
    readBlock: 2,
  };
  const data = { account, id: 1, tx_hash: '0xt', ready_at: '2026-01-04T00:00:00.000Z' };

  test('asked for, then by what the chain shows', async () => {
    const context = createContext({ vars: { DID_REGISTRY_ADDRESS: 'none', VAULT_SECRET }, database: t.database });
    const use = useForRecovery(context.config, '203.0.113.7', t.clock.now());
    const ask = () => db.write(...insertRecovery(recovery, { signature: '0xs', expiresAt: 9 }, use));
    expect(await tell(ask)).toEqual([['recovery.requested', { account, identifier: 'a***@example.com' }]]);
    const statuses = ['proposed', 'finished', 'vetoed', 'cancelled', 'lapsed', 'queued'] as const;
    for (const status of statuses) {
      const one = await found();
      const seenNow = { ...proposal, status, failure: null, isFinal: false, nextCheckAt: 9 };
      const type = `recovery.${status === 'queued' ? 'reopened' : status}`;
      expect(await tell(() => db.write(...recordSeen(one, seenNow, 2)))).toEqual([[type, data]]);
    }
    const one = await found();
    const failed = { ...proposal, status: 'failed', failure: 'barred', isFinal: true, nextCheckAt: null } as const;
    expect(await tell(() => db.write(...recordSeen(one, failed, 2)))).toEqual([
      ['recovery.failed', { ...data, reason: 'barred' }],
    ]);
  });

  test('withdrawn by the operator', async () => {
    const { config } = createContext({ vars: { DID_REGISTRY_ADDRESS: 'none', VAULT_SECRET }, database: t.database });
    const use = useForRecovery(config, '203.0.113.7', t.clock.now());
    await db.write(...insertRecovery(recovery, { signature: '0xt', expiresAt: 9 }, use));
    const stop = () => cancelRecoveries({ config, clock: t.clock, db }, account);
    expect(await tell(stop)).toEqual([['recovery.stopped', { account }]]);
  });

  test('found on the chain, once', async () => {
    const find = () => db.write(...insertForeign(recovery, 7));
    expect(await tell(find)).toEqual([['recovery.foreign', { account, id: 7 }]]);
    await find();
    expect((await t.rows(`SELECT 1 FROM events WHERE type = 'recovery.foreign'`)).length).toBe(1);
  });
});

test('a payment settles', async () => {
  const key = {
    chainId: 84532,
    entryPoint: '0xe',
    account: '0xac',
    nonce: '0x10',
    to: '0xa1',
    token: 'native',
    amount: '5',
  };
  const sent = {
    ...key,
    app: 'default',
    client: '203.0.113.7',
    userOpHash: '0x1',
    validUntil: 9,
    said: 1,
    now: 1,
  } as const;
  await db.write(...keepPayment({ ...sent, sinceBlock: null }));
  const [row] = await t.rows('SELECT * FROM payments');
  const found = { userOpHash: '0x2', txHash: '0xt', block: 7 };
  const settle = () => db.write(...settlePayment(toOpenPayment(row ?? {}), found, 2));
  const { chainId: chain_id, entryPoint: _, ...shown } = key;
  expect(await tell(settle)).toEqual([
    ['payment.settled', { ...shown, chain_id, user_op_hash: '0x2', tx_hash: '0xt', block: 7 }],
  ]);
  await settle();
  expect((await t.rows(`SELECT 1 FROM events WHERE type = 'payment.settled'`)).length).toBe(1);
});

describe('the operator', () => {
  const ask = (line: string, body: object) => t.call(line, { ...body }, OPERATOR);

  test('clears a limit, revokes a token', async () => {
    const clear = () => ask('POST /v1/console/limits/clear', { kind: 'sends-per-ip', key: '203.0.113.7' });
    expect(await tell(clear)).toEqual([['limit.cleared', { kind: 'sends-per-ip', key: '203.0.113.***', cleared: 0 }]]);
    const { body } = await ask('POST /v1/console/token', { app: 'default' });
    seen.add('token.minted');
    expect(await tell(() => ask('POST /v1/console/revoke', { cid: body.cid }))).toEqual([
      ['token.revoked', { cid: body.cid }],
    ]);
  });

  test('has a test message sent', async () => {
    const test = () => ask('POST /v1/console/doctor/send', { to: 'ada@example.com' });
    const counted = () => t.rows(`SELECT 1 FROM budget_uses WHERE kind = 'test-messages'`);
    await t.rows(NO_EVENTS);
    expect([(await test()).status, (await counted()).length]).toEqual([500, 0]);
    await t.rows('DROP TRIGGER no_events');
    expect([(await test()).status, (await counted()).length]).toEqual([200, 1]);
    const [row] = await t.rows(`SELECT data FROM events WHERE type = 'message.tested'`);
    seen.add('message.tested');
    expect(JSON.parse(String(row?.['data']))).toEqual({ channel: 'email', identifier: 'a***@example.com' });
  });

  test('makes an invite, and revokes it', async () => {
    const make = () => ask('POST /v1/console/invites', { uses: 2, expires_in: 60, identifier: 'alice@example.com' });
    const [[type, data] = []] = await tell(make);
    expect([type, data]).toEqual([
      'invite.created',
      { uses: 2, identifier: 'a***@example.com', expires_at: new Date(t.clock.now() + 60_000).toISOString() },
    ]);
    const [row] = await t.rows('SELECT id FROM invites');
    const id = Number(row?.['id']);
    expect(await tell(() => ask('POST /v1/console/invites/revoke', { id }))).toEqual([
      ['invite.revoked', { invite: id }],
    ]);
  });

  test('exports a list, and nothing leaves without the event', async () => {
    const leave = () => t.call('GET /v1/console/sessions/export', { status: 'open' }, OPERATOR);
    await t.rows(NO_EVENTS);
    expect((await leave()).status).toBe(500);
    await t.rows('DROP TRIGGER no_events');
    expect((await leave()).status).toBe(200);
    const [row] = await t.rows(`SELECT data FROM events WHERE type = 'list.exported'`);
    seen.add('list.exported');
    expect(JSON.parse(String(row?.['data']))).toEqual({ list: 'sessions', format: 'csv', filter: 'status=open' });
  });

  test('appoints operators, and ends their tokens', async () => {
    const add = (name: string) => ask('POST /v1/console/operators', { name, role: 'viewer', days: 1 });
    const until = new Date(Math.floor(t.clock.now() / 1000 + 86_400) * 1000).toISOString();
    const added = await tell(() => add('ada'));
    expect(added).toEqual([['operator.added', { name: 'ada', role: 'viewer', expires_at: until }]]);
    const end = (asked: object) => ask('POST /v1/console/operators/revoke', { ...asked });
    expect(await tell(() => end({ name: 'ada' }))).toEqual([['operator.revoked', { name: 'ada' }]]);
    await add('ada');
    expect(await tell(() => end({ all: true }))).toEqual([['operator.all_revoked', { reason: 'revoked' }]]);
  });

  test('is told of refusals: the notice that bounds them comes with the event', async () => {
    expect(await tell(() => t.call('GET /v1/console/limits'))).toEqual([
      ['operator.refused', { client: '127.0.0.***' }],
    ]);
  });
});

test('every event of the catalogue was told above, but those of webhooks, of limits, of keys, of credentials, of looks and of counters', () => {
  const elsewhere = [
    'limit.reached',
    'budget.reached',
    'client.refused',
    'key.rotated',
    'credential.issued',
    'signin.counter_back',
    'signin.succeeded',
    'signin.refused',
    'passkey.first_used',
    'person.shown',
    'person.exported',
    'person.erased',
  ];
  const own = Object.keys(EVENTS).filter((type) => !type.startsWith('webhook.') && !elsewhere.includes(type));
  expect(own.filter((type) => !seen.has(type))).toEqual([]);
});
