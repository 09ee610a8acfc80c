import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '../../lib/base/clock.ts';
import {
  ADA,
  askByCode,
  codeForCredential,
  createHolder,
  credentialFor,
  type Holder,
  keyProof,
  partsOfCredential,
} from '../support/credentials.ts';
import { otherCode } from '../support/digits.ts';
import { settled } from '../support/settled.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';
import { readToken, sdJwt } from '../tools/credential-clients.ts';

const ROOM = { MAX_VERIFY_SENDS_PER_IP: '100', RATE_LIMIT_CODES_PER_IDENTIFIER: '100' };

let t: TestVault;
let holder: Holder;
beforeEach(async () => {
  t = await startVault(ROOM);
  holder = await createHolder();
});
afterEach(() => t.stop());

const seconds = () => Math.floor(t.clock.now() / 1000);
const check = (body: object) => t.call('POST /api/verify/check', { ...ADA, ...body });

describe('evidence B1: a code for a credential', () => {
  test('says what it does, and its purpose is kept with it', async () => {
    await codeForCredential(t);
    expect(await t.rows('SELECT purpose FROM codes')).toEqual([{ purpose: 'credential' }]);
  });

  test('is sent and checked no more with CREDENTIAL_TTL_SECONDS=0: the purpose is none', async () => {
    const none = await startVault({ CREDENTIAL_TTL_SECONDS: '0' });
    const error = 'Invalid purpose. Must be "registration", "recovery" or "credential"';
    const given = { ...ADA, purpose: 'credential' };
    expect((await none.call('POST /api/verify/send', given)).body.error).toBe(error);
    const more = { code: '000000', challenge: 'none', holder: 'x' };
    expect((await none.call('POST /api/verify/check', { ...given, ...more })).body.error).toBe(error);
    await none.stop();
  });
});

describe('evidence B2: the check', () => {
  test.each([
    [
      'no holder',
      { purpose: 'credential', challenge: 'c' },
      'Missing required fields with the purpose "credential": holder',
    ],
    [
      'no challenge',
      { purpose: 'credential', holder: 'h' },
      'Missing required fields with the purpose "credential": challenge',
    ],
    ['neither', { purpose: 'credential' }, 'Missing required fields with the purpose "credential": holder, challenge'],
    [
      'a holder without the purpose',
      { holder: 'h', challenge: 'c' },
      'Invalid holder: it goes with the purpose "credential"',
    ],
    [
      'a holder for another purpose',
      { purpose: 'recovery', holder: 'h' },
      'Invalid holder: it goes with the purpose "credential"',
    ],
  ])('%s is 400, by the request alone', async (_, more, error) => {
    const { code } = await codeForCredential(t);
    const { status, body } = await check({ code, ...more });
    expect([status, body.error]).toEqual([400, error]);
    expect(await t.rows('SELECT attempts FROM codes')).toEqual([{ attempts: 0 }]);
  });

  test('the right code gives a credential and no attestation, once', async () => {
    const { code, challenge } = await codeForCredential(t);
    const proof = await keyProof(t, holder, challenge);
    const request = { code, challenge, purpose: 'credential', holder: proof };
    const { status, body } = await check(request);
    expect([status, Object.keys(body).sort()]).toEqual([200, ['credential', 'expires_at', 'ok', 'verified']]);
    expect(body.expires_at).toBe(new Date((seconds() + 86_400) * 1000).toISOString());
    expect((await check(request)).body).toMatchObject({ verified: false, message: 'No code was sent' });
    const { verified, verifiedAt } = (await t.call('GET /api/verify/status', ADA)).body;
    expect([verified, Date.parse(verifiedAt)]).toEqual([true, t.clock.now()]);
  });

  test('a wrong code is answered as ever, and spends an attempt', async () => {
    const { code, challenge } = await codeForCredential(t);
    const proof = await keyProof(t, holder, challenge);
    const { body } = await check({ code: otherCode(code), challenge, purpose: 'credential', holder: proof });
    expect(body).toEqual({ ok: true, verified: false, message: 'Incorrect code', attempts_remaining: 4 });
  });

  test('a phished code for something else makes none: purpose, both ways', async () => {
    for (const purpose of ['registration', 'recovery']) {
      const { body } = await t.call('POST /api/verify/send', { ...ADA, purpose });
      const code = t.codeFor(ADA.identifier);
      const proof = await keyProof(t, holder, body.challenge);
      const answer = await check({ code, challenge: body.challenge, purpose: 'credential', holder: proof });
      expect(answer.body).toMatchObject({ verified: false, message: 'Incorrect code' });
      // The other way round: with its challenge, and as who asked for it.
      const own = await codeForCredential(t);
      for (const given of [{ challenge: own.challenge }, { challenge: own.challenge, purpose }, { purpose }, {}]) {
        const other = await check({ code: own.code, ...given });
        expect([given, other.body.verified, other.body.attestation]).toEqual([given, false, undefined]);
      }
    }
    expect(await t.rows('SELECT 1 FROM codes WHERE consumed_at IS NOT NULL')).toEqual([]);
    expect(await t.rows("SELECT 1 FROM events WHERE type = 'credential.issued'")).toEqual([]);
  });
});

describe('evidence B3: the key proof', () => {
  test.each([
    ['typ', { header: { typ: 'JWT' } }],
    ['key', { header: { kid: 'one' } }],
    ['aud', { claims: { aud: 'https://other.example' } }],
    ['iat', { claims: { iat: 1 } }],
    ['nonce', { claims: { nonce: 'another' } }],
  ])('is judged before the code: %s', async (reason, change) => {
    const { code, challenge } = await codeForCredential(t);
    const request = { code, challenge, purpose: 'credential' };
    const { status, body } = await check({ ...request, holder: await keyProof(t, holder, challenge, change) });
    expect([status, body.error, body.reason]).toEqual([403, 'proof_invalid', reason]);
    expect(await t.rows('SELECT attempts, consumed_at FROM codes')).toEqual([{ attempts: 0, consumed_at: null }]);
    expect((await check({ ...request, holder: await keyProof(t, holder, challenge) })).body.verified).toBe(true);
  });

  test("binding somebody's address to a stranger's key, or a stolen proof: it is for one code of one vault", async () => {
    const stolen = await keyProof(t, holder, (await codeForCredential(t)).challenge);
    const { code, challenge } = await codeForCredential(t);
    const { body } = await check({ code, challenge, purpose: 'credential', holder: stolen });
    expect([body.error, body.reason]).toEqual(['proof_invalid', 'nonce']);
  });

  test('a key of Ed25519 does as well', async () => {
    const other = await createHolder('EdDSA');
    const { claims } = partsOfCredential(await credentialFor(t, other));
    expect(claims['cnf']).toEqual({ jwk: other.jwk });
  });
});

describe('evidence B5: the content', () => {
  test('is these claims, and no other', async () => {
    const credential = await credentialFor(t, holder);
    const { header, claims, hidden } = partsOfCredential(credential);
    const issuer = originOf(t);
    const { kid } = (await t.call('GET /.well-known/jwt-vc-issuer')).body.jwks.keys[0];
    expect(header).toEqual({ alg: 'ES256', typ: 'dc+sd-jwt', kid });
    const at = seconds();
    const { _sd, ...shown } = claims;
    expect(shown).toEqual({
      iss: issuer,
      vct: `${issuer}/credentials/types/email`,
      iat: at,
      exp: at + 86_400,
      verified_at: at,
      cnf: { jwk: holder.jwk },
      _sd_alg: 'sha-256',
    });
    expect(hidden.map(([, name, value]) => [name, value])).toEqual([
      ['email', 'ada@example.com'],
      ['email_domain', 'example.com'],
    ]);
    for (const [salt] of hidden) expect(Buffer.from(salt, 'base64url')).toHaveLength(16);
    expect(credential).toEndWith('~');
  });

  test('has four digests always, in an order that says nothing, and each disclosure is behind one', async () => {
    const credential = await credentialFor(t, holder);
    const digests = partsOfCredential(credential).claims['_sd'] as string[];
    expect(digests).toHaveLength(4);
    expect(new Set(digests).size).toBe(4);
    expect(digests).toEqual(digests.toSorted());
    for (const disclosure of credential.split('~').slice(1, -1))
      expect(digests).toContain(createHash('sha256').update(disclosure).digest('base64url'));
  });

  test('verifiers compare notes: two credentials have no member in common that others lack', async () => {
    const [one, two] = [await credentialFor(t, holder), await credentialFor(t, await createHolder())];
    const [first, second] = [partsOfCredential(one), partsOfCredential(two)];
    const digests = [...(first.claims['_sd'] as string[]), ...(second.claims['_sd'] as string[])];
    expect(new Set(digests).size).toBe(8);
    expect(first.claims['cnf']).not.toEqual(second.claims['cnf']);
    expect(Object.keys(first.claims)).not.toContain('jti');
  });

  test('guessing an address from its digest: 128 bits of salt are in the way', async () => {
    const { hidden, claims } = partsOfCredential(await credentialFor(t, holder));
    const guess = Buffer.from(JSON.stringify(['', 'email', ADA.identifier])).toString('base64url');
    expect(claims['_sd']).not.toContain(createHash('sha256').update(guess).digest('base64url'));
    expect(new Set(hidden.map(([salt]) => salt)).size).toBe(hidden.length);
  });

  test('of a number: phone_number alone', async () => {
    const who = { channel: 'sms', identifier: '+14155550123' };
    const { code, challenge } = await codeForCredential(t, who);
    const proof = await keyProof(t, holder, challenge);
    const { body } = await t.call('POST /api/verify/check', {
      ...{ ...who, code, challenge },
      ...{ purpose: 'credential', holder: proof },
    });
    const { claims, hidden } = partsOfCredential(body.credential);
    expect(claims['vct']).toBe(`${originOf(t)}/credentials/types/phone`);
    expect(hidden.map(([, name, value]) => [name, value])).toEqual([['phone_number', '+14155550123']]);
  });
});

describe('published libraries take it', () => {
  const options = () => ({ currentDate: seconds() });

  test('jose: the signature, the type and the issuer', async () => {
    const { payload } = await readToken(await credentialFor(t, holder), originOf(t), new Date(t.clock.now()));
    expect(payload.iss).toBe(originOf(t));
    expect(await settled(readToken(await credentialFor(t, holder), 'http://127.0.0.1:1', new Date()))).toThrow();
  });

  test('@sd-jwt/sd-jwt-vc: all claims', async () => {
    const { payload } = await sdJwt(originOf(t)).verify(await credentialFor(t, holder), options());
    expect(payload).toMatchObject({ email: 'ada@example.com', email_domain: 'example.com' });
    expect(payload).not.toHaveProperty('sub');
  });

  test.each(['ES256', 'EdDSA'] as const)('@sd-jwt/sd-jwt-vc: the domain alone, bound by a key of %s', async (alg) => {
    const own = await createHolder(alg);
    const presenter = sdJwt(originOf(t), own);
    const credential = await credentialFor(t, own);
    const kb = { payload: { aud: 'https://shop.example', nonce: 'n1', iat: seconds() } };
    const shown = await presenter.present(credential, { email_domain: true } as never, { kb });
    const verifier = sdJwt(originOf(t));
    const { payload } = await verifier.verify(shown, { ...options(), keyBindingNonce: 'n1' });
    expect([payload['email_domain'], payload['email']]).toEqual(['example.com', undefined]);
    expect(await settled(verifier.verify(shown, { ...options(), keyBindingNonce: 'n2' }))).toThrow();
  });

  test('replay of a presentation at another verifier: a copy has no binding for its nonce', async () => {
    const credential = await credentialFor(t, holder);
    const kb = { payload: { aud: 'https://shop.example', nonce: 'n1', iat: seconds() } };
    const forged = await sdJwt(originOf(t), await createHolder()).present(credential, { email: true } as never, { kb });
    for (const copy of [credential, forged])
      expect(await settled(sdJwt(originOf(t)).verify(copy, { ...options(), keyBindingNonce: 'n1' }))).toThrow();
  });

  test('after its end it is refused', async () => {
    const credential = await credentialFor(t, holder);
    const late = { currentDate: seconds() + 86_401 };
    expect(await settled(sdJwt(originOf(t)).verify(credential, late))).toThrow();
  });
});

describe('evidence B8: events, metric and limit', () => {
  test('credential.issued has the masked address, and who asked', async () => {
    await credentialFor(t, holder);
    const rows = await t.rows("SELECT channel, data FROM events WHERE type = 'credential.issued'");
    const data = { identifier: 'a***@example.com', channel: 'email', did: null, by: 'code' };
    expect(rows.map((row) => [row['channel'], JSON.parse(String(row['data']))])).toEqual([['credentials', data]]);
  });

  test('the vault follows its people: no table and no log has a credential or a holder’s key', async () => {
    const credential = await credentialFor(t, holder);
    const secrets = [credential.split('.')[2]?.slice(0, 40) ?? '', String(holder.jwk.x)];
    const tables = await t.rows("SELECT name FROM sqlite_schema WHERE type = 'table'");
    for (const { name } of tables) {
      const text = JSON.stringify(await t.rows(`SELECT * FROM "${name}"`));
      for (const secret of secrets) expect([name, text.includes(secret)]).toEqual([name, false]);
    }
    for (const secret of secrets) expect(JSON.stringify(t.entries)).not.toContain(secret);
  });

  test('the metric counts by outcome', async () => {
    await credentialFor(t, holder);
    await askByCode(t, holder, { holder: 'x' });
    await askByCode(t, holder, { code: '0' });
    const { text } = await t.call('GET /metrics');
    for (const outcome of ['issued', 'proof_invalid', 'not_verified'])
      expect(text).toContain(`vault_credentials_total{outcome="${outcome}"} 1`);
    expect(text).toContain('vault_credentials_total{outcome="failed"} 0');
  });

  test('15 an address and day by codes; the code of the next is used up, and another address goes on', async () => {
    for (let i = 0; i < 15; i++) expect((await askByCode(t, holder)).status).toBe(200);
    const { status, body } = await askByCode(t, holder);
    expect([status, body.error, body.limit]).toEqual([429, 'rate_limited', 'credentials-per-identifier']);
    expect(await t.rows("SELECT used FROM budget_uses WHERE kind = 'credentials-per-identifier'")).toEqual([
      { used: 15 },
    ]);
    expect(await t.rows("SELECT count(*) AS n FROM events WHERE type = 'credential.issued'")).toEqual([{ n: 15 }]);
    await t.clock.advance(DAY_MS + HOUR_MS);
    expect((await askByCode(t, holder)).status).toBe(200);
  });
});
