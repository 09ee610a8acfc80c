import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { AbiFunction } from 'ox';
import { didRegistry2Abi } from '../../contracts/abi.ts';
import type { Database } from '../../lib/db/database.ts';
import { didHash } from '../../lib/identity/did.ts';
import { NONCE_LIFE_MS } from '../../lib/registration/touch.ts';
import { proveRegistration } from '../../scripts/dev-stack/passkey-proof.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { prove, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { createPasskey } from '../support/passkey.ts';
import { createPeople, type Person } from '../support/people.ts';
import { answerWith } from '../support/relay-world.ts';
import { callAs } from '../support/second-account.ts';
import {
  APPS_HOST,
  APPS_VARS,
  type AppRequest,
  appRequest,
  authorize,
  BOOKS,
  exchange,
  newcomer,
  queryOf,
  register,
  type Signing,
  signFor,
  signIn,
  TEA,
} from '../support/sign-ups.ts';
import { nonceFor, originOf } from '../support/touch.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let node: Forwarder;
let t: TestVault;
beforeEach(async () => {
  node = startForwarder(chain.url);
  t = await startVault({ ...chain.vars, ...APPS_VARS, RPC_URL: node.url }, APPS_HOST);
});
afterEach(async () => {
  await t.stop();
  await node.stop();
});

const registered = async () => {
  const one = await newcomer(chain, t);
  expect((await register(t, one.body)).status).toBe(200);
  return one;
};
/** A code for a request, of somebody who has just registered. */
const issued = async (request: AppRequest) => {
  const one = await registered();
  const { credentialId, attestation } = one.body;
  return String((await authorize(t, request, { credentialId, attestation })).body.code);
};

describe('the code of another', () => {
  test('the challenge is no verifier: who reads the link cannot exchange', async () => {
    const request = appRequest();
    const code = await issued(request);
    const { body } = await exchange(t, request, code, { code_verifier: request.code_challenge });
    expect(body.reason).toBe('verifier');
  });

  test('400 invalid_grant used: a second use says so, and ends no registration', async () => {
    const request = appRequest();
    const code = await issued(request);
    const first = await exchange(t, request, code);
    const again = await exchange(t, request, code);
    expect([again.status, again.body.error, again.body.reason]).toEqual([400, 'invalid_grant', 'used']);
    expect(again.body.error_description).toContain('was exchanged already');
    // A thief of the code without the verifier does not learn that it was used.
    expect((await exchange(t, request, code, { code_verifier: 'w'.repeat(43) })).body.reason).toBe('verifier');
    const { did } = first.body;
    expect((await t.rows('SELECT status FROM registrations WHERE did = :did', { did }))[0]).toEqual({
      status: 'confirmed',
    });
  });

  test('400 invalid_grant registration: it failed between code and exchange', async () => {
    const request = appRequest();
    const code = await issued(request);
    const [row] = await t.rows('SELECT id FROM registrations');
    const undone = await t.call(
      'POST /v1/console/registrations/undo',
      { id: row?.['id'] },
      { authorization: `Bearer ff${'0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'}` },
    );
    expect(undone.status).toBe(200);
    expect((await exchange(t, request, code)).body).toMatchObject({ error: 'invalid_grant', reason: 'registration' });
  });
});

describe('an exchange', () => {
  /** Another vault on the same database, all of whose statements `watch` sees. */
  const beside = async (watch: (sql: readonly string[], mode: 'read' | 'write') => void) => {
    const { database } = t;
    const watched: Database = {
      ...database,
      execute(statement) {
        watch([statement.sql], 'read');
        return database.execute(statement);
      },
      batch(statements, mode) {
        watch(
          statements.map(({ sql }) => sql),
          mode,
        );
        return database.batch(statements, mode);
      },
    };
    return startVault({ ...chain.vars, ...APPS_VARS }, { ...APPS_HOST, database: watched, clock: t.clock });
  };

  test('of a code that is unknown, or does not fit, writes nothing', async () => {
    const request = appRequest();
    const code = await issued(request);
    let writes = 0;
    const other = await beside((sql, mode) => {
      if (mode === 'write' && sql.some((one) => one.includes('authorization_codes'))) writes++;
    });
    await exchange(other, request, 'x'.repeat(43));
    await exchange(other, request, code, { code_verifier: 'w'.repeat(43) });
    expect(writes).toBe(0);
    expect((await exchange(other, request, code)).status).toBe(200);
    expect(writes).toBe(1);
    await other.stop();
  });

  test('whose answer could not be read uses nothing up', async () => {
    const request = appRequest();
    const code = await issued(request);
    let isBroken = true;
    const other = await beside((sql) => {
      if (isBroken && sql.some((one) => one.includes('FROM credentials'))) throw new Error('disk I/O error');
    });
    expect((await exchange(other, request, code)).status).toBeGreaterThan(499);
    isBroken = false;
    expect((await exchange(other, request, code)).status).toBe(200);
    await other.stop();
  });
});

describe('requests of an app that are refused', () => {
  test.each([
    ['the plain method', { code_challenge_method: 'plain' }, 'code_challenge_method must be S256'],
    ['no method at all, which RFC 7636 reads as plain', { code_challenge_method: '' }, 'code_challenge_method must be'],
    ['a short challenge', { code_challenge: 'c'.repeat(42) }, 'code_challenge must have 43 characters'],
    ['a challenge with padding', { code_challenge: `${'c'.repeat(43)}=` }, 'code_challenge must have 43 characters'],
    ['an app with a line break', { client_id: 'tea\nbooks' }, 'client_unknown'],
    ['no openid', { scope: 'email' }, 'scope must contain openid'],
    ['user information', { redirect_uri: 'https://tea.example@evil.example/back' }, 'redirect_uri_unknown'],
    ['a trailing slash', { redirect_uri: `${TEA.uri}/` }, 'redirect_uri_unknown'],
    ['the URI of another app', { redirect_uri: BOOKS.uri }, 'redirect_uri_unknown'],
  ])('400, whatever the page was led to send: %s', async (_, change, error) => {
    const one = await newcomer(chain, t);
    const { credentialId, attestation } = one.body;
    const request = { ...appRequest(), ...change };
    const replies = await Promise.all([
      authorize(t, request, { credentialId, attestation }),
      authorize(t, request, { credentialId, ...(await signFor(t, one, request)) }),
      authorize(t, request, { cancelled: true }),
    ]);
    for (const { status, body } of replies) {
      expect([status, body.error]).toEqual([400, expect.stringContaining(`Invalid request: ${error}`)]);
      expect(body.location).toBeUndefined();
    }
  });

  test('400: a parameter twice', async () => {
    const { credentialId, attestation } = (await newcomer(chain, t)).body;
    const request = `${queryOf(appRequest())}&redirect_uri=${encodeURIComponent(TEA.uri)}`;
    const { status, body } = await t.call('POST /authorize/code', { request, credentialId, attestation });
    expect([status, body.error]).toEqual([400, 'Invalid request: redirect_uri_twice']);
  });
});

describe('a code for somebody else’s DID', () => {
  const refused = async (signing: Signing, request = appRequest()) => {
    const { status, body } = await signIn(t, await registered(), request, signing);
    return [status, body.error, body.reason];
  };

  test('403 proof_invalid signature: another passkey signed for this credential', async () => {
    expect(await refused({ by: createPasskey() })).toEqual([403, 'proof_invalid', 'signature']);
  });

  test.each([
    ['another app', { client_id: BOOKS.app }],
    ['another URI', { redirect_uri: 'https://tea.example/popup' }],
    ['another code challenge', { code_challenge: 'A'.repeat(43) }],
  ])('403 proof_invalid challenge: signed for %s', async (_, names) => {
    expect(await refused({ names })).toEqual([403, 'proof_invalid', 'challenge']);
  });

  test('403 proof_invalid challenge: signed for another vault', async () => {
    expect(await refused({ registrar: 'did:web:other.example' })).toEqual([403, 'proof_invalid', 'challenge']);
  });

  test('403 proof_invalid nonce: a touch that is kept for later', async () => {
    const one = await registered();
    const request = appRequest();
    const evidence = { credentialId: one.credentialId, ...(await signFor(t, one, request)) };
    await t.clock.advance(NONCE_LIFE_MS);
    expect((await authorize(t, request, evidence)).body).toMatchObject({ error: 'proof_invalid', reason: 'nonce' });
  });

  test('a touch is good for five minutes, and says when it was', async () => {
    const one = await registered();
    const request = appRequest();
    const evidence = { credentialId: one.credentialId, ...(await signFor(t, one, request)) };
    const askedAt = t.clock.now();
    await t.clock.advance(NONCE_LIFE_MS - 1_000);
    const { code } = (await authorize(t, request, evidence)).body;
    await t.clock.advance(30_000);
    const { auth_time } = (await exchange(t, request, code)).body;
    expect(auth_time * 1000).toBeLessThanOrEqual(askedAt + NONCE_LIFE_MS);
  });

  test.each([
    ['of another request', async () => nonceFor(t, queryOf(appRequest()))],
    ['that the signer made', async () => Buffer.alloc(36, 1).toString('base64url')],
    ['of the right time, but by nobody', async () => `${(await nonceFor(t, 'x')).slice(0, 5)}${'A'.repeat(43)}`],
    ['that is empty but for a letter', async () => 'AA'],
  ])('403 proof_invalid nonce: one %s', async (_, nonce) => {
    expect(await refused({ nonce: await nonce() })).toEqual([403, 'proof_invalid', 'nonce']);
  });

  test('403 proof_invalid nonce: one of another vault with the same name', async () => {
    const other = await startVault(
      { ...chain.vars, ...APPS_VARS, VAULT_SECRET: `${VAULT_SECRET.slice(2)}a7` },
      APPS_HOST,
    );
    const request = appRequest();
    const nonce = await nonceFor(other, queryOf(request)).finally(() => other.stop());
    expect(await refused({ nonce }, request)).toEqual([403, 'proof_invalid', 'nonce']);
  });

  test.each([
    ['origin', 'another origin of this machine', { origin: 'http://localhost:4001' }],
    ['origin', 'the origin of the app', { origin: 'https://tea.example' }],
    ['rp_id', 'another RP ID', { rpId: 'tea.example' }],
    ['type', 'a creation', { clientData: { type: 'webauthn.create' } }],
    ['cross_origin', 'a frame', { clientData: { crossOrigin: true } }],
    ['user_verification', 'nobody was verified', { flags: 1 }],
    ['backup_state', 'backed up, and cannot be', { flags: 0x15 }],
  ])('403 proof_invalid %s: %s', async (reason, _, ceremony) => {
    expect(await refused({ ceremony })).toEqual([403, 'proof_invalid', reason]);
  });

  test('403 proof_invalid used: one signature makes one code that is exchanged', async () => {
    const one = await registered();
    const request = appRequest();
    const evidence = { credentialId: one.credentialId, ...(await signFor(t, one, request)) };
    const { code } = (await authorize(t, request, evidence)).body;
    expect((await exchange(t, request, code)).status).toBe(200);
    const again = await authorize(t, request, evidence);
    expect([again.status, again.body.error, again.body.reason]).toEqual([403, 'proof_invalid', 'used']);
    // Also after the code's row could be forgotten, as long as the signature is good.
    await t.clock.advance(NONCE_LIFE_MS - 1_000);
    await t.work();
    expect((await authorize(t, request, evidence)).body.reason).toBe('used');
  });

  test('404 not_found: a credential without a proven registration, and a claim of a DID that is not proven', async () => {
    const people = createPeople(chain, () => t);
    const who = await people.create('email');
    expect((await signIn(t, who, appRequest())).status).toBe(404);
    const { txHash } = await people.publish(who);
    // A forged DID: a stranger's credential beside somebody's DID and transaction.
    const thief: Person = { ...(await people.create('email')), did: who.did };
    expect((await people.claim(thief, txHash)).status).toBe(200);
    await t.work();
    expect((await signIn(t, thief, appRequest())).body.error).toBe('not_found');
  });

  test('a forged DID with a proof by the forger’s own key and account gets no code', async () => {
    const people = createPeople(chain, () => t);
    const victim = await people.create('email');
    const { txHash } = await people.publish(victim);
    const thief: Person = { ...(await people.create('email')), did: victim.did };
    const attestation = await people.attest(thief);
    const { passkey, account, ...fields } = thief;
    const { body: contracts } = await t.call('GET /api/contracts');
    const subject = { ...fields, smartAccount: account, attestation };
    const ceremony = { origin: originOf(t) };
    const proved = proveRegistration(passkey, contracts, subject, { now: t.clock.now(), ceremony });
    expect((await t.call('POST /api/dids', { ...fields, ...proved, attestation, txHash })).status).toBe(200);
    for (const work of [false, true]) {
      if (work) await t.work();
      const { credentialId } = thief;
      expect((await authorize(t, appRequest(), { credentialId, attestation })).status).toBe(404);
      expect((await signIn(t, thief, appRequest())).status).toBe(404);
    }
  });

  test('a stranger who claims the same credential under a key of their own gets their own DID alone', async () => {
    const victim = await registered();
    const stranger = { ...(await newcomer(chain, t)), credentialId: victim.credentialId };
    const body = { ...stranger.body, credentialId: victim.credentialId, proof: prove(chain, stranger) };
    expect((await register(t, body)).status).toBe(200);
    const [mine, theirs] = [appRequest(), appRequest()];
    const ofVictim = await exchange(t, mine, (await signIn(t, victim, mine)).body.code);
    const ofStranger = await exchange(t, theirs, (await signIn(t, stranger, theirs)).body.code);
    expect([ofVictim.body.did, ofStranger.body.did]).toEqual([victim.did, stranger.did]);
  });
});

describe('an attestation as evidence', () => {
  test('404 not_found: of another address, and of the same one but of another time', async () => {
    const [one, other] = [await registered(), await newcomer(chain, t)];
    const { credentialId, attestation } = one.body;
    for (const wrong of [other.body['attestation'], await attestedAgain(one.body)]) {
      const { status, body } = await authorize(t, appRequest(), { credentialId, attestation: wrong });
      expect([status, body.error]).toEqual([404, 'not_found']);
    }
    expect((await authorize(t, appRequest(), { credentialId, attestation })).status).toBe(200);
  });

  const attestedAgain = async ({ identifier, channel }: Readonly<Record<string, unknown>>) => {
    await t.call('POST /api/verify/send', { identifier, channel });
    const code = t.codeFor(String(identifier));
    return (await t.call('POST /api/verify/check', { identifier, channel, code })).body.attestation;
  };

  test('403 attestation_invalid, attestation_expired', async () => {
    const { credentialId, attestation } = (await registered()).body;
    const forged = { ...(attestation as object), identifier: 'victim@example.com' };
    const { status, body } = await authorize(t, appRequest(), { credentialId, attestation: forged });
    expect([status, body.error]).toEqual([403, 'attestation_invalid']);
    await t.clock.advance(3_600_000);
    const late = await authorize(t, appRequest(), { credentialId, attestation });
    expect([late.status, late.body.error]).toEqual([403, 'attestation_expired']);
  });

  test('403 proof_invalid used: it serves one request, and one exchange', async () => {
    const { credentialId, attestation } = (await registered()).body;
    const [request, other] = [appRequest(), appRequest()];
    const { code } = (await authorize(t, request, { credentialId, attestation })).body;
    expect((await authorize(t, other, { credentialId, attestation })).body.reason).toBe('used');
    expect((await exchange(t, request, code)).status).toBe(200);
    expect((await authorize(t, request, { credentialId, attestation })).body.reason).toBe('used');
  });

  test('404 not_found: at another app than that for whose page it was registered', async () => {
    const { credentialId, attestation } = (await registered()).body;
    const stolen = await authorize(t, appRequest(BOOKS), { credentialId, attestation });
    expect([stolen.status, stolen.body.error]).toEqual([404, 'not_found']);
    expect((await authorize(t, appRequest(), { credentialId, attestation })).status).toBe(200);
  });

  test('403 attestation_expired: ten minutes after the registration, however long it is good', async () => {
    const { credentialId, attestation } = (await registered()).body;
    await t.clock.advance(590_000);
    expect((await authorize(t, appRequest(), { credentialId, attestation })).status).toBe(200);
    await t.clock.advance(20_000);
    const { status, body } = await authorize(t, appRequest(), { credentialId, attestation });
    expect([status, body.error]).toEqual([403, 'attestation_expired']);
  });

  test('403 proof_invalid did: once the DID was deactivated it shows nobody any more', async () => {
    const one = await registered();
    const { credentialId, attestation } = one.body;
    const deactivate = AbiFunction.encodeData(AbiFunction.fromAbi(didRegistry2Abi, 'deactivate'), [didHash(one.did)]);
    await chain.rpc('anvil_setBalance', [one.smartAccount, '0xde0b6b3a7640000']);
    await callAs(chain.rpc, one.smartAccount, chain.registry, deactivate);
    await t.work();
    const { status, body } = await authorize(t, appRequest(), { credentialId, attestation });
    expect([status, body.error, body.reason]).toEqual([403, 'proof_invalid', 'did']);
  });

  test('404 not_found: of a registration whose proof another page had the passkey make', async () => {
    const one = await newcomer(chain, t, { origin: 'http://localhost:4001' });
    expect((await register(t, one.body)).status).toBe(200);
    const { credentialId, attestation } = one.body;
    expect((await authorize(t, appRequest(), { credentialId, attestation })).status).toBe(404);
    // The passkey itself can sign in at the vault's own page.
    expect((await signIn(t, one, appRequest())).status).toBe(200);
  });

  test('400: neither and both kinds of evidence', async () => {
    const one = await newcomer(chain, t);
    const { credentialId, attestation } = one.body;
    const request = appRequest();
    for (const more of [{}, { attestation, ...(await signFor(t, one, request)) }]) {
      const { status, body } = await authorize(t, request, { credentialId, ...more });
      expect([status, body.error]).toEqual([400, 'Expected one of: proof, attestation']);
    }
  });
});

describe('what the chain says now', () => {
  const proven = async () => {
    const people = createPeople(chain, () => t);
    const who = await people.own('email');
    const { txHash } = await people.publish(who);
    await people.claim(who, txHash, { proof: true });
    await t.work();
    expect((await signIn(t, who, appRequest())).status).toBe(200);
    return who;
  };
  const forward = (who: Person, call: `0x${string}`) => {
    const item = AbiFunction.from('function forward(address to, bytes data) returns (bytes)');
    const data = AbiFunction.encodeData(item, [chain.registry, call]);
    return sendTransaction(chain.rpc, devAccount('alice').privateKey, { to: who.account, data });
  };
  const callOf = (name: 'deactivate' | 'offerDid' | 'acceptDid', ...args: readonly unknown[]) =>
    AbiFunction.encodeData(AbiFunction.fromAbi(didRegistry2Abi, name), args as never);

  test('403 proof_invalid did: the DID was deactivated, and the vault has not read that yet', async () => {
    const who = await proven();
    await forward(who, callOf('deactivate', didHash(who.did)));
    expect((await signIn(t, who, appRequest())).body).toMatchObject({ error: 'proof_invalid', reason: 'did' });
  });

  test('403 proof_invalid did: the DID went to another account, and the vault has not read that yet', async () => {
    const who = await proven();
    const buyer = await createPeople(chain, () => t).own('email');
    await forward(who, callOf('offerDid', didHash(who.did), buyer.account));
    await forward(buyer, callOf('acceptDid', didHash(who.did)));
    expect((await signIn(t, who, appRequest())).body).toMatchObject({ error: 'proof_invalid', reason: 'did' });
  });

  test('403 proof_invalid account: the account does not list the key any more', async () => {
    const who = await proven();
    const other = `0x${'11'.repeat(64)}`;
    node.trouble = (pass, _, body) =>
      answerWith(
        (method, params, result) => {
          const isOwner = method === 'eth_call' && JSON.stringify(params).includes('0x893d20e8');
          return isOwner ? other : result;
        },
        pass,
        body,
      );
    expect((await signIn(t, who, appRequest())).body).toMatchObject({ error: 'proof_invalid', reason: 'account' });
  });

  test('502 rpc_error: while the node is away no signature is believed', async () => {
    const who = await proven();
    node.trouble = () => new Response('down', { status: 503 });
    expect((await signIn(t, who, appRequest())).body.error).toBe('rpc_error');
  });
});
