import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Mail } from '../../../lib/delivery/mail.ts';
import { NOTICE_RETRY_MS } from '../../../lib/registration/notice-store.ts';
import { startTestChain } from '../../support/onchain.ts';
import { createPasskey } from '../../support/passkey.ts';
import { createPeople, type Person } from '../../support/people.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

const FINAL = 3;
const PAUSE = 30_000;
const SECRET = VAULT_SECRET.replace('00', 'ff');

const chain = await startTestChain();
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await start();
});
afterEach(() => t.stop());

const start = (vars: Record<string, string> = {}, env: Parameters<typeof startVault>[1] = {}) =>
  startVault(
    {
      ...chain.vars,
      FINALITY_BLOCKS: String(FINAL),
      MAX_VERIFY_SENDS_PER_IP: '1000',
      MAX_REGISTRATIONS_PER_IP: '1000',
      ...vars,
    },
    env,
  );

const people = createPeople(chain, () => t);
const { create, publish, lookup } = people;
const claim: typeof people.claim = (...given) => people.claim(...given);

/** Makes all that is watched due, and looks at the chain. */
async function look(): Promise<void> {
  await t.clock.advance(PAUSE);
  await t.work();
}

/** A minute, after which notices go out. */
async function minute(): Promise<void> {
  await t.clock.advance(60_000);
  await t.work();
}

/** The DID whose registration holds the identifier. */
async function holderOf({ identifier, channel }: Person) {
  const [row] = await t.rows('SELECT did FROM registrations WHERE identifier = :key AND holds = 1', {
    key: `${channel}:${identifier}`,
  });
  return row?.['did'];
}

const sessionOf = async ({ identifier, channel }: Person) =>
  (await t.rows('SELECT did, linked FROM sessions WHERE identifier = :key', { key: `${channel}:${identifier}` }))[0];

const typesSince = async (id: number) =>
  (await t.rows('SELECT type FROM events WHERE id > :id ORDER BY id', { id })).map(({ type }) => type);
const lastEvent = async () => Number((await t.rows('SELECT max(id) AS id FROM events'))[0]?.['id'] ?? 0);

/** An address held by an unproven, final claim, and another person who can read its mail and signs. */
async function contested(channel: 'email' | 'sms' = 'email', first?: Person) {
  const [owner, later] = [first ?? (await create(channel)), await create(channel)];
  const { txHash } = await publish(owner);
  expect((await claim(owner, txHash)).status).toBe(200);
  await t.work();
  await chain.mine(FINAL);
  await look();
  const challenger = { ...later, identifier: owner.identifier };
  const mined = await publish(challenger);
  return { owner, challenger, mined };
}

describe('an address', () => {
  test('that is held goes to no later claim without a proof', async () => {
    const { owner, challenger, mined } = await contested();
    const reply = await claim(challenger, mined.txHash);
    expect([reply.status, reply.body.error]).toEqual([409, 'identifier_taken']);
    expect(await holderOf(owner)).toBe(owner.did);
  });

  test('goes to the later attested and proven claim when that is final, and not before', async () => {
    const { owner, challenger, mined } = await contested();
    expect((await claim(challenger, mined.txHash, { proof: true })).status).toBe(200);
    expect([await holderOf(owner), (await lookup(challenger)).status]).toEqual([owner.did, 'submitted']);
    await look();
    expect(await lookup(challenger)).toMatchObject({ status: 'confirmed', final: false, proven: true });
    expect([await holderOf(owner), (await sessionOf(owner))?.['did']]).toEqual([owner.did, owner.did]);
    const before = await lastEvent();
    await chain.mine(FINAL);
    await look();
    expect([await holderOf(owner), await sessionOf(owner)]).toEqual([
      challenger.did,
      { did: challenger.did, linked: 1 },
    ]);
    expect(await typesSince(before)).toEqual(['registration.displaced', 'session.taken_over']);
    // The displaced record keeps its DID and its credential, and no longer the address.
    const proofs = { identifier: null, controller: null, did: null };
    expect(await lookup(owner)).toMatchObject({ did: owner.did, status: 'confirmed', final: true, proofs });
    expect((await lookup(challenger)).proofs).toEqual({ ...proofs, identifier: 'attestation', controller: 'passkey' });
  });

  test('stays where it is when the challenger’s block is taken back, and its transaction never comes again', async () => {
    const { owner, challenger, mined } = await contested();
    await claim(challenger, mined.txHash, { proof: true });
    await look();
    await chain.reorg(1);
    await look();
    expect((await lookup(challenger)).smartAccount).toBeNull();
    for (let minute = 0; minute < 15; minute++) {
      await t.clock.advance(60_000);
      await t.work();
    }
    expect([await holderOf(owner), await lookup(challenger)]).toEqual([owner.did, { error: 'not_found' }]);
    expect(await t.rows(`SELECT 1 FROM events WHERE type = 'registration.displaced'`)).toEqual([]);
  });

  test('is given back when a re-org goes deeper than what was taken as final', async () => {
    const { owner, challenger, mined } = await contested();
    await claim(challenger, mined.txHash, { proof: true });
    await chain.mine(FINAL);
    await look();
    expect(await holderOf(owner)).toBe(challenger.did);
    const before = await lastEvent();
    await chain.reorg(FINAL + 1);
    await look();
    expect([await holderOf(owner), (await sessionOf(owner))?.['did']]).toEqual([owner.did, owner.did]);
    expect(await typesSince(before)).toEqual(['registration.submitted', 'registration.restored', 'session.taken_over']);
  });

  test('is not taken by a proof of another key: it is refused at once where the event can be read', async () => {
    const { owner, challenger, mined } = await contested();
    const reply = await claim({ ...challenger, passkey: createPasskey() }, mined.txHash, { proof: true });
    expect([reply.status, reply.body.error, reply.body.reason]).toEqual([403, 'proof_invalid', 'signature']);
    expect(await holderOf(owner)).toBe(owner.did);
  });

  test('is not taken by a wrong proof whose event comes later: its claim fails', async () => {
    const { owner, challenger, mined } = await contested();
    await chain.reorg(1);
    const reply = await claim({ ...challenger, passkey: createPasskey() }, mined.txHash, { proof: true });
    expect(reply.status).toBe(200);
    await chain.sendAgain(mined.raw);
    await look();
    expect([await holderOf(owner), await lookup(challenger)]).toEqual([owner.did, { error: 'not_found' }]);
  });

  test('of two challengers goes to the later, in whatever order they are final', async () => {
    const another = await create('email');
    const { owner, challenger, mined } = await contested();
    const last = { ...another, identifier: owner.identifier };
    await chain.reorg(1);
    await claim(challenger, mined.txHash, { proof: true });
    const published = await publish(last);
    expect((await claim(last, published.txHash, { proof: true })).status).toBe(200);
    await chain.mine(FINAL);
    await look();
    expect(await holderOf(owner)).toBe(last.did);
    await chain.sendAgain(mined.raw);
    await chain.mine(FINAL);
    await look();
    expect([(await lookup(challenger)).final, await holderOf(owner)]).toEqual([true, last.did]);
  });
});

describe('the address hears that it was taken over', () => {
  async function taken(channel: 'email' | 'sms' = 'email') {
    const { owner, challenger, mined } = await contested(channel);
    await claim(challenger, mined.txHash, { proof: true });
    await chain.mine(FINAL);
    await look();
    return owner;
  }
  const notices = () => t.entries.filter(({ event }) => event === 'notice').map(({ to }) => to);

  test('once', async () => {
    const owner = await taken();
    for (let i = 0; i < 3; i++) await minute();
    expect(notices()).toEqual([owner.identifier]);
  });

  test('by SMS, for a number', async () => {
    const owner = await taken('sms');
    await minute();
    expect(notices()).toEqual([owner.identifier]);
  });

  test('in a mail that names the service and neither DID nor code, and again after a failure', async () => {
    await t.stop();
    const mails: Mail[] = [];
    const tried: (string | undefined)[] = [];
    let isDown = false;
    const mailer = {
      async send(mail: Mail) {
        tried.push(mail.messageId);
        if (isDown) throw new Error('the server is down');
        mails.push(mail);
      },
    };
    t = await start(
      { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:1', EMAIL_FROM: 'a@example.com' },
      { mail: mailer },
    );
    t = { ...t, codeFor: () => /\d{6}/.exec(mails.at(-1)?.text ?? '')?.[0] ?? '' };
    const { owner, challenger, mined } = await contested();
    await claim(challenger, mined.txHash, { proof: true });
    await chain.mine(FINAL);
    const sent = mails.length;
    isDown = true;
    await look();
    await minute();
    expect(mails.length).toBe(sent);
    expect(t.entries.filter(({ event }) => event === 'notice_failed').length).toBe(1);
    expect(JSON.stringify(t.entries)).not.toContain(owner.identifier);
    isDown = false;
    await t.clock.advance(NOTICE_RETRY_MS);
    await t.work();
    const [mail] = mails.slice(sent);
    expect(mails.length).toBe(sent + 1);
    // The same mail: a receiver that took it before it failed shows it once.
    expect(tried.slice(-2)).toEqual(Array(2).fill(expect.stringMatching(/^<taken-over-\d+-\d+-\w+@localhost>$/)));
    expect(tried.at(-1)).toBe(tried.at(-2));
    expect(mail).toMatchObject({
      to: owner.identifier,
      subject: expect.stringContaining('belongs to another account'),
    });
    expect(mail?.text).not.toMatch(/did:|\d{6}/);
    expect(mail?.html).not.toContain('did:');
  });

  test('but not when the same DID registers it again with its proof', async () => {
    const { owner } = await contested();
    const [row] = await t.rows('SELECT tx_hash FROM registrations WHERE did = :did', { did: owner.did });
    expect((await claim(owner, String(row?.['tx_hash']), { proof: true })).status).toBe(200);
    await chain.mine(FINAL);
    await look();
    await minute();
    expect([(await lookup(owner)).proven, notices()]).toEqual([true, []]);
    expect(await t.rows(`SELECT 1 FROM events WHERE type = 'registration.displaced'`)).toEqual([]);
  });
});

describe('POST /v1/console/registrations/undo', () => {
  const undo = (id: unknown, headers: Record<string, string> = { Authorization: `Bearer ${SECRET}` }) =>
    t.call('POST /v1/console/registrations/undo', { id }, headers);
  const idOf = async ({ did }: Person) =>
    Number((await t.rows('SELECT max(id) AS id FROM registrations WHERE did = :did', { did }))[0]?.['id']);

  test('fails the registration and gives back what it took over: address, session, credential', async () => {
    const { owner, challenger, mined } = await contested();
    const named = { ...challenger, credentialId: owner.credentialId };
    await claim(named, mined.txHash, { proof: true });
    await chain.mine(FINAL);
    await look();
    expect(await lookup(owner)).toMatchObject({ did: owner.did, ambiguous: true });
    const id = await idOf(challenger);
    const reply = await undo(id);
    const [first] = await t.rows('SELECT id FROM registrations WHERE did = :did', { did: owner.did });
    expect([reply.status, reply.body]).toEqual([
      200,
      { ok: true, id, did: challenger.did, holder: { id: first?.['id'], did: owner.did } },
    ]);
    expect([await holderOf(owner), (await sessionOf(owner))?.['did']]).toEqual([owner.did, owner.did]);
    expect((await lookup(owner)).ambiguous).toBeUndefined();
    await look();
    expect(await holderOf(owner)).toBe(owner.did);
    expect((await undo(id)).status).toBe(404);
  });

  test('of the only registration frees the identifier', async () => {
    const { owner } = await contested();
    expect((await undo(await idOf(owner))).body.holder).toBeNull();
    const { identifier, channel } = owner;
    expect((await t.call('GET /api/sessions/check', { identifier, channel })).body.available).toBe(true);
  });

  test('of all registrations frees an address, also where the session of before has led to two DIDs', async () => {
    const first = await create('email');
    const { identifier, channel, did } = first;
    expect((await t.call('POST /api/sessions', { identifier, channel, did })).status).toBe(200);
    const { owner, challenger, mined } = await contested('email', first);
    await claim(challenger, mined.txHash, { proof: true });
    await chain.mine(FINAL);
    await look();
    expect(await sessionOf(owner)).toEqual({ did: challenger.did, linked: 1 });
    for (const one of [challenger, owner]) expect((await undo(await idOf(one))).status).toBe(200);
    expect((await t.call('POST /api/sessions', { identifier, channel, did: challenger.did })).status).toBe(200);
  });

  test.each([
    [401, 'operator_unauthorized', 1, {}],
    [400, 'Invalid id', '1', undefined],
    [404, 'not_found', 4711, undefined],
  ])('%d %s', async (status, error, id, headers) => {
    const reply = await undo(id, headers);
    expect([reply.status, reply.body.error]).toEqual([status, error]);
  });
});

test('a credential leads to a DID by one row, however many identifiers name both', async () => {
  const who = await create('email');
  const rowsOf = () =>
    t.rows('SELECT since, registration_id FROM credentials WHERE credential_id = :id ORDER BY since', {
      id: who.credentialId,
    });
  const { txHash } = await publish(who);
  for (const [channel, identifier] of [
    ['email', who.identifier],
    ['sms', '+14155559001'],
    ['email', `second-${who.identifier}`],
  ] as const)
    expect(await claim({ ...who, channel, identifier }, txHash)).toMatchObject({ status: 200 });
  expect((await rowsOf()).map((row) => ({ ...row }))).toEqual([{ since: 1, registration_id: 1 }]);
  await look();
  expect(await rowsOf()).toHaveLength(1);
});
