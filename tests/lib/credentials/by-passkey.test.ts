import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { MINUTE_MS } from '../../../lib/base/clock.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { thumbprintOf } from '../../../lib/signing/jwk.ts';
import { CHALLENGE_VARS, createChallenges, timeOfHead } from '../../support/challenges.ts';
import { testClock } from '../../support/clock.ts';
import { createHolder, type Holder, keyProof, type ProofChange, partsOfCredential } from '../../support/credentials.ts';
import { startTestChain } from '../../support/onchain.ts';
import type { Person } from '../../support/people.ts';
import { nonceFor, originOf } from '../../support/touch.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startTestChain();
afterAll(chain.stop);

// The accounts are of no factory: their keys are what they show.
const VARS = { ...chain.vars, ...CHALLENGE_VARS, HYPERAUTH_FACTORY_ADDRESS: 'none' };

let t: TestVault;
let holder: Holder;
beforeEach(async () => {
  t = await startVault({ ...VARS }, { clock: testClock(await timeOfHead(chain)) });
  holder = await createHolder();
});
afterEach(() => t.stop());

const people = createChallenges(chain, () => t);

/** Somebody whose own DID holds an address, finally. */
async function registered(): Promise<Person> {
  const who = await people.own('email');
  const { txHash } = await people.publish(who);
  expect((await people.claim(who, txHash, { proof: true })).status).toBe(200);
  await chain.mine(3);
  await people.look();
  return who;
}

interface Change {
  readonly origin?: string;
  readonly label?: string;
  /** The lines that are signed are for this key. */
  readonly thumbprint?: string;
  readonly address?: string;
  readonly proof?: ProofChange;
  readonly more?: Record<string, unknown>;
  readonly waitMs?: number;
}

/** Has the passkey sign for a holder's key, and asks for a credential, as the account page does. */
async function ask(who: Person, change: Change = {}) {
  const { registrar } = (await t.call('GET /api/contracts')).body;
  const { label = 'vault/credential/v1', origin = originOf(t), address = `${who.channel}:${who.identifier}` } = change;
  const lines = [label, registrar, address, change.thumbprint ?? thumbprintOf(holder.jwk as never)];
  const nonce = await nonceFor(t, lines.join('\n'));
  const challenge = createHash('sha256')
    .update([...lines, nonce].join('\n'))
    .digest();
  const proof = who.passkey.assert(challenge, { origin });
  await t.clock.advance(change.waitMs ?? 0);
  return t.call('POST /api/credentials', {
    ...{ identifier: who.identifier, channel: who.channel, credentialId: who.credentialId, nonce, proof },
    holder: await keyProof(t, holder, challenge.toString('base64url'), change.proof),
    ...change.more,
  });
}

describe('evidence B4: by the passkey', () => {
  test('it names the DID behind a digest of its own, and says when the address was proven', async () => {
    const who = await registered();
    const provenBy = t.clock.now();
    await t.clock.advance(10 * MINUTE_MS);
    const { status, body } = await ask(who);
    expect([status, Object.keys(body)]).toEqual([200, ['ok', 'credential', 'expires_at']]);
    const { claims, hidden } = partsOfCredential(body.credential);
    expect(hidden.map(([, name, value]) => [name, value])).toEqual([
      ['email', who.identifier],
      ['email_domain', 'example.com'],
      ['sub', who.did],
    ]);
    expect(claims['_sd']).toHaveLength(4);
    expect(Number(claims['verified_at']) * 1000).toBeLessThanOrEqual(provenBy);
    expect(Number(claims['iat'])).toBe(Math.floor(t.clock.now() / 1000));
    const [event] = await t.rows("SELECT data FROM events WHERE type = 'credential.issued'");
    expect(JSON.parse(String(event?.['data']))).toMatchObject({ did: who.did, by: 'passkey' });
    const { text } = await t.call('GET /metrics');
    expect(text).toContain('vault_credentials_total{outcome="issued"} 1');
  });

  test('another page has a person sign for its own key: only pages of BASE_URL may', async () => {
    const who = await registered();
    const { status, body } = await ask(who, { origin: 'https://other.example' });
    expect([status, body.error, body.reason]).toEqual([403, 'proof_invalid', 'origin']);
  });

  test.each<[string, string, Change]>([
    ['another key than the passkey signed for', 'nonce', { thumbprint: 'x'.repeat(43) }],
    ['another address', 'nonce', { address: 'email:other@example.com' }],
    ['a touch for something else', 'nonce', { label: 'vault/release/v1' }],
    ['a touch of six minutes ago', 'nonce', { waitMs: 6 * MINUTE_MS }],
    ['a key proof for another challenge', 'nonce', { proof: { claims: { nonce: 'another' } } }],
    ['a key proof for another vault', 'aud', { proof: { claims: { aud: 'https://other.example' } } }],
  ])('%s is refused: %s', async (_, reason, change) => {
    const { status, body } = await ask(await registered(), change);
    expect([status, body.error, body.reason]).toEqual([403, 'proof_invalid', reason]);
    expect(await t.rows("SELECT 1 FROM events WHERE type = 'credential.issued'")).toEqual([]);
  });

  test('another passkey’s signature gets nothing, nor does an address that its DID does not hold', async () => {
    const [who, other] = [await registered(), await registered()];
    const stranger = await ask({ ...who, passkey: other.passkey });
    expect([stranger.status, stranger.body.error]).toEqual([403, 'proof_invalid']);
    const address = await ask({ ...who, identifier: other.identifier });
    expect([address.status, address.body.error]).toEqual([404, 'not_found']);
    const nobody = await ask(await people.own('email'));
    expect([nobody.status, nobody.body.error]).toEqual([404, 'not_found']);
  });

  test('a registration that is not final yet has none', async () => {
    const who = await people.own('email');
    const { txHash } = await people.publish(who);
    await people.claim(who, txHash, { proof: true });
    expect((await ask(who)).body.error).toBe('not_found');
  });

  test('lost or stolen passkey, moved or ended DID: the chain decides, at once', async () => {
    const who = await registered();
    expect((await ask(who)).status).toBe(200);
    await people.act(who, 'deactivate', didHash(who.did));
    const { status, body } = await ask(who);
    expect([status, body.error]).toEqual([403, 'proof_invalid']);
  });

  test('5 of 20 are kept for the passkey', async () => {
    const who = await registered();
    const { clock } = t;
    await t.database.execute({
      sql: `INSERT INTO budget_uses (kind, bucket, slot, used) VALUES ('credentials-per-identifier', :key, :slot, 15)`,
      args: { key: `email:${who.identifier}`, slot: clock.now() },
    });
    for (let i = 0; i < 5; i++) expect((await ask(who)).status).toBe(200);
    const { status, body } = await ask(who);
    expect([status, body.error, body.limit]).toEqual([429, 'rate_limited', 'credentials-per-identifier']);
  });

  test('a silent node is 502, and counts nothing', async () => {
    const who = await registered();
    const { clock, database } = t;
    const blind = await startVault({ ...VARS, RPC_URL: 'http://127.0.0.1:1' }, { clock, database });
    const before = t;
    t = blind;
    expect((await ask(who)).body.error).toBe('rpc_error');
    t = before;
    await blind.stop();
    expect(await t.rows("SELECT 1 FROM budget_uses WHERE kind = 'credentials-per-identifier'")).toEqual([]);
  });
});

describe('an address that another DID claims', () => {
  test('address passes to another person: the challenger gets none, by code or passkey; the holder does by passkey', async () => {
    const owner = await registered();
    const stranger = await people.own('email');
    const thief = { ...stranger, identifier: owner.identifier };
    const { txHash } = await people.publish(thief);
    await people.claim(thief, txHash, { proof: true });
    const byCode = async () => {
      const who = { identifier: owner.identifier, channel: owner.channel };
      const sent = await t.call('POST /api/verify/send', { ...who, purpose: 'credential' });
      const { challenge } = sent.body;
      const own = { challenge, purpose: 'credential', holder: await keyProof(t, holder, challenge) };
      return t.call('POST /api/verify/check', { ...who, code: t.codeFor(owner.identifier), ...own });
    };
    // Before the claim is final, and after.
    for (let i = 0; i < 2; i++) {
      const { status, body } = await byCode();
      expect([status, body.error]).toEqual([409, 'identifier_taken']);
      expect((await ask(thief)).body.error).toBe('not_found');
      const { claims } = partsOfCredential((await ask(owner)).body.credential);
      // Codes that the challenger knew make the holder's statement no newer.
      const [row] = await t.rows('SELECT registered_at FROM registrations WHERE did = :did', { did: owner.did });
      expect(Number(claims['verified_at'])).toBeLessThanOrEqual(Number(row?.['registered_at']) / 1000);
      await chain.mine(3);
      await people.look();
      await people.look();
    }
  });
});
