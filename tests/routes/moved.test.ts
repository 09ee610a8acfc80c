// A vault whose BASE_URL moves: two vaults on one database, the former one and the one after the restart.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { judgeCredential } from '../../lib/credentials/judge.ts';
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { ADA, askByCode, createHolder, credentialFor, type Holder, keyProof } from '../support/credentials.ts';
import { OPERATOR } from '../support/events.ts';
import { answer, bearer, clientsFile, OPENID_VARS, requestOf, tokensFor } from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const NEW = 'http://moved.localhost:8787';
const chain = await startRelayChain({ startsAt: testClock().now() });
const ROOM = { MAX_VERIFY_SENDS_PER_IP: '100', RATE_LIMIT_CODES_PER_IDENTIFIER: '100' };
const VARS = { ...chain.vars, ...OPENID_VARS, ...ROOM };

let old: TestVault;
let moved: TestVault;
let OLD = '';
let holder: Holder;
const others: TestVault[] = [];
/** The vault on the same database, with settings on top. */
const after = async (vars: Readonly<Record<string, string | undefined>>) => {
  const { database, clock } = old;
  const one = await startVault({ ...VARS, BASE_URL: NEW, ...vars }, { ...clientsFile(), database, clock });
  others.push(one);
  return one;
};
beforeAll(async () => {
  old = await startVault(VARS, clientsFile());
  OLD = originOf(old);
  // As docs/operating.md says: the RP ID stays.
  moved = await after({ RP_IDS: 'localhost', RELATED_ORIGINS: NEW });
  holder = await createHolder();
});
afterAll(async () => {
  for (const one of [...others.reverse(), old]) await one.stop();
  await chain.stop();
});

describe('docs/operating.md: a vault that moves to another BASE_URL', () => {
  test('is another issuer of credentials, with the same keys: what was issued before keeps the former name', async () => {
    const before = await credentialFor(old, holder);
    const [was, is] = await Promise.all([old, moved].map((one) => one.call('GET /.well-known/jwt-vc-issuer')));
    expect([was?.body.issuer, is?.body.issuer]).toEqual([OLD, NEW]);
    expect(is?.body.jwks).toEqual(was?.body.jwks);
    const now = Math.floor(old.clock.now() / 1000);
    const keys = is?.body.jwks.keys ?? [];
    expect(await judgeCredential(before, { issuer: NEW, keys, now })).toEqual({ fault: 'issuer' });
    // A copy of the former answer, on the former host, until the last of them has ended.
    expect(await judgeCredential(before, { issuer: OLD, keys, now })).toMatchObject({ claims: { iss: OLD } });
    const forOld = await askByCode(moved, holder, {
      holder: await keyProof(moved, holder, 'n', { claims: { aud: OLD } }),
    });
    expect([forOld.status, forOld.body.reason]).toEqual([403, 'aud']);
    const { body } = await moved.call('POST /api/verify/send', { ...ADA, purpose: 'credential' });
    const proof = await keyProof(moved, holder, body.challenge, { claims: { aud: NEW } });
    const own = {
      code: moved.codeFor(ADA.identifier),
      challenge: body.challenge,
      purpose: 'credential',
      holder: proof,
    };
    const { credential } = (await moved.call('POST /api/verify/check', { ...ADA, ...own })).body;
    const judged = await judgeCredential(credential, { issuer: NEW, keys, now: Math.floor(old.clock.now() / 1000) });
    expect(judged).toMatchObject({ claims: { iss: NEW, vct: `${NEW}/credentials/types/email` } });
  });

  test('is another OpenID Provider, at which each person keeps their sub, and access tokens go on', async () => {
    const alice = await registerNewcomer(chain, old);
    const before = await tokensFor(old, alice);
    const since = await tokensFor(moved, alice, requestOf(), { ceremony: { origin: NEW } });
    expect([before.claims['iss'], since.claims['iss']]).toEqual([OLD, NEW]);
    expect(since.claims['sub']).toBe(before.claims['sub']);
    expect((await moved.call('GET /.well-known/openid-configuration')).body.issuer).toBe(NEW);
    const { status, body } = await moved.call('GET /userinfo', {}, bearer(before.access_token));
    expect([status, body.sub]).toEqual([200, since.claims['sub']]);
    expect((await moved.call('GET /jwks')).body).toEqual((await old.call('GET /jwks')).body);
  });

  test('loses every passkey where RP_IDS does not name the former host', async () => {
    const alice = await registerNewcomer(chain, old);
    // The default, but on loopback.
    const lost = await after({ RP_IDS: new URL(NEW).hostname });
    const { status, body } = await answer(lost, alice, requestOf(), { ceremony: { origin: NEW } });
    expect([status, body.reason]).toEqual([403, 'rp_id']);
    // Nor does a touch at the former host count.
    const there = await answer(moved, alice, requestOf(), { ceremony: { origin: OLD } });
    expect([there.status, there.body.reason]).toEqual([403, 'origin']);
  });

  test('has another DID, unless REGISTRAR_DID keeps the former one: attestations of before are refused', async () => {
    const host = encodeURIComponent(new URL(OLD).host);
    const REGISTRAR_DID = `did:web:${host}`;
    const was = await startVault({ ...ROOM, REGISTRAR_DID }, { database: old.database, clock: old.clock });
    others.push(was);
    const attest = async () => {
      await was.call('POST /api/verify/send', ADA);
      const code = was.codeFor(ADA.identifier);
      return (await was.call('POST /api/verify/check', { ...ADA, code })).body.attestation;
    };
    const claim = { ...ADA, credentialId: 'A'.repeat(22), did: 'did:key:z1', txHash: `0x${'a1'.repeat(32)}` };
    const own = await after({ REGISTRAR_DID: undefined });
    const refused = await own.call('POST /api/dids', { ...claim, attestation: await attest() });
    expect([refused.status, refused.body.error]).toEqual([403, 'attestation_invalid']);
    expect((await own.call('GET /.well-known/did.json')).body.id).toBe('did:web:moved.localhost%3A8787');
    expect((await own.call(`GET /1.0/identifiers/${REGISTRAR_DID}`)).status).toBe(501);
    const kept = await after({ REGISTRAR_DID });
    const taken = await kept.call('POST /api/dids', { ...claim, attestation: await attest() });
    expect(taken.body.error).not.toBe('attestation_invalid');
    // Its document was on the former host.
    expect((await kept.call('GET /.well-known/did.json')).status).toBe(404);
  });

  test('sends links to the new host; a pass of a former mail is good there, and so are tokens of operators', async () => {
    const address = { identifier: 'pass@example.com', channel: 'email' };
    await old.call('POST /api/verify/send', address);
    await moved.call('POST /api/verify/send', address);
    const linkOf = ({ entries }: TestVault) => String(entries.findLast(({ event }) => event === 'code')?.['pass']);
    expect([old, moved].map((one) => new URL(linkOf(one)).origin)).toEqual([OLD, NEW]);
    const sent = await moved.call('POST /api/verify/send', { ...address, pass: old.passFor(address.identifier) });
    expect(sent.body.error).not.toBe('pass_invalid');
    const { token } = (await old.call('POST /v1/console/operators', { name: 'vic', role: 'viewer' }, OPERATOR)).body;
    expect((await moved.call('GET /v1/console/operator', {}, bearer(token))).body).toMatchObject({ name: 'vic' });
  });
});
