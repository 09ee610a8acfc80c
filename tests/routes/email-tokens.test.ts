import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { jsonOf } from '../support/agents.ts';
import {
  createTokenHosts,
  DOMAIN,
  emailToken,
  ISSUER,
  issuerJwk,
  JWKS,
  METADATA,
  TOKEN_VARS,
  type TokenParts,
  txtAnswer,
  txtUrl,
} from '../support/email-tokens.ts';
import { clientsFile, OPENID_VARS } from '../support/openid.ts';
import { until } from '../support/until.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// Email addresses that a browser shows by a token (Email Verification Protocol). The order of the checks is a promise:
// nobody outside is asked for what is wrong by itself.

const EMAIL = `ada@${DOMAIN}`;
const IP = '203.0.113.7';
const REGISTRAR = { REGISTRAR_PRIVATE_KEY: '46'.repeat(32), DID_REGISTRY_ADDRESS: `0x${'d1'.repeat(20)}` };
const OPENID = { ...OPENID_VARS, ...REGISTRAR };
const GUARDIAN = { GUARDIAN_PRIVATE_KEY: '47'.repeat(32), ACCOUNT_FACTORY_2_ADDRESS: `0x${'f2'.repeat(20)}` };
const VARS = { ...OPENID, ...TOKEN_VARS, ...GUARDIAN };

let hosts: ReturnType<typeof createTokenHosts>;
let t: TestVault;
const start = (vars: Readonly<Record<string, string>> = VARS) =>
  startVault(vars, { ...clientsFile(), documentFetch: hosts.documentFetch });
beforeEach(async () => {
  hosts = createTokenHosts();
  t = await start();
});
afterEach(() => t.stop());

const nonceFor = async (ip = IP, vault = t) =>
  String((await vault.from(ip).call('GET /authorize/config')).body.tokenNonce);
const tokenFor = async (change: Partial<TokenParts> = {}, vault = t) =>
  emailToken({
    email: EMAIL,
    audience: vault.url.replace('127.0.0.1', 'localhost'),
    nonce: change.nonce ?? (await nonceFor(IP, vault)),
    now: vault.clock.now(),
    ...change,
  });
const check = (token: string, more: object = {}, ip = IP, vault = t) =>
  vault.from(ip).call('POST /api/verify/check', { identifier: EMAIL, channel: 'email', token, ...more });
const faultOf = async (change: Partial<TokenParts>, more: object = {}) => {
  const { status, body } = await check(await tokenFor(change), more);
  expect([status, body.verified, body.message]).toEqual([200, false, 'Token refused']);
  return body.reason;
};

describe('a token in order', () => {
  test('takes the place of a code: it gives an attestation, once', async () => {
    const token = await tokenFor();
    const { status, body } = await check(token);
    expect([status, body.verified]).toEqual([200, true]);
    expect(body.attestation).toMatchObject({ identifier: EMAIL, channel: 'email' });
    expect(hosts.asked).toEqual([txtUrl(), METADATA, JWKS]);
    const verified = await t.call('GET /api/verify/status', { identifier: EMAIL, channel: 'email' });
    expect(verified.body.verified).toBe(true);
    const events = await t.rows("SELECT data FROM events WHERE type = 'code.verified'");
    expect(events.map(({ data }) => JSON.parse(String(data)))).toEqual([
      { channel: 'email', identifier: `a***@${DOMAIN}`, by: 'token' },
    ]);
    expect((await check(token)).body.reason).toBe('nonce');
  });

  test('of a code the event says so', async () => {
    await t.call('POST /api/verify/send', { identifier: EMAIL, channel: 'email' });
    await t.call('POST /api/verify/check', { identifier: EMAIL, channel: 'email', code: t.codeFor(EMAIL) });
    const [event] = await t.rows("SELECT data FROM events WHERE type = 'code.verified'");
    expect(JSON.parse(String(event?.['data']))).toMatchObject({ by: 'code' });
  });

  test.each([
    ['by the draft’s bare host', { evt: { iss: ISSUER } }],
    ['with another spelling of the address', { evt: { email: ` Ada@${DOMAIN.toUpperCase()}` } }],
    ['without an end of its own', { evt: { exp: undefined } }],
    ['bound by EdDSA, as RFC 8037 names it', { kbHeader: { alg: 'EdDSA' } }],
    ['bound by a P-256 key', { holder: generateKeyPairSync('ec', { namedCurve: 'P-256' }) }],
  ])('%s is taken', async (_, change) => {
    expect((await check(await tokenFor(change))).body).toMatchObject({ verified: true });
  });

  test('and a resolver that quotes its records', async () => {
    hosts.answers.set(txtUrl(), () => txtAnswer(`"iss=${ISSUER}"`));
    expect((await check(await tokenFor())).body.verified).toBe(true);
  });

  test('registers, and recovers nothing; another purpose is 400', async () => {
    const { attestation } = (await check(await tokenFor())).body;
    const recovered = await t.call('POST /api/recoveries/accounts', { attestation });
    expect([recovered.status, recovered.body.error]).toEqual([403, 'attestation_invalid']);
    for (const purpose of ['recovery', 'credential']) {
      const { status } = await check(await tokenFor(), { purpose });
      expect([purpose, status]).toEqual([purpose, 400]);
    }
  });

  test('of two at once one counts', async () => {
    const token = await tokenFor();
    const { database } = t;
    const { execute, batch } = database;
    let looks = 0;
    const all = Promise.withResolvers<void>();
    // None writes before all have looked.
    const pass = async (...statements: readonly { readonly sql: string }[]) => {
      looks += statements.filter(({ sql }) => sql.includes('FROM attestation_uses')).length;
      if (looks >= 3) all.resolve();
      if (statements.some(({ sql }) => sql.startsWith('INSERT INTO attestation_uses'))) await all.promise;
    };
    database.execute = async (statement) => {
      await pass(statement);
      return execute(statement);
    };
    database.batch = async (statements, mode) => {
      await pass(...statements);
      return batch(statements, mode);
    };
    const answers = await Promise.all([check(token), check(token), check(token)]);
    expect(answers.filter(({ body }) => body.verified)).toHaveLength(1);
    expect(looks).toBe(3);
  });
});

describe('what is wrong by itself asks nobody', () => {
  const other = generateKeyPairSync('ed25519');
  test.each<[string, Partial<TokenParts>, string]>([
    ['another type', { evtHeader: { typ: 'dc+sd-jwt' } }, 'form'],
    ['a binding of another type', { kbHeader: { typ: 'jwt' } }, 'form'],
    ['critical headers', { evtHeader: { crit: ['x'] } }, 'form'],
    ['another address', { evt: { email: `eve@${DOMAIN}` } }, 'email'],
    ['an address that is not verified', { evt: { email_verified: 'true' } }, 'email'],
    ['an old token', { evt: { iat: 1 } }, 'time'],
    ['an old binding', { kb: { iat: 1 } }, 'time'],
    ['a time that is no number', { kb: { iat: 'now' } }, 'time'],
    ['a token that has ended', { evt: { exp: 1 } }, 'time'],
    ['another origin', { audience: 'https://evil.example' }, 'audience'],
    ['several origins', { kb: { aud: ['https://evil.example'] } }, 'audience'],
    ['a made up nonce', { nonce: 'A'.repeat(59) }, 'nonce'],
    ['no nonce', { kb: { nonce: undefined } }, 'nonce'],
    ['another key for the binding', { boundBy: other.privateKey }, 'holder'],
    ['a stolen token in a binding of its own', { kb: { sd_hash: 'x' } }, 'holder'],
    ['no algorithm', { kbHeader: { alg: 'none' } }, 'holder'],
    ['an algorithm of another kind of key', { kbHeader: { alg: 'ES256' } }, 'holder'],
    [
      'a holder key with its private half',
      { evt: { cnf: { jwk: other.privateKey.export({ format: 'jwk' }) } } },
      'holder',
    ],
    ['no holder', { evt: { cnf: null } }, 'holder'],
    ['an issuer with a port', { evt: { iss: `https://${ISSUER}:8443` } }, 'issuer'],
    ['an issuer with a path', { evt: { iss: `https://${ISSUER}/x` } }, 'issuer'],
    ['an issuer of the machine', { evt: { iss: 'https://127.0.0.1' } }, 'issuer'],
    ['an issuer of a private network', { evt: { iss: 'https://mail.internal' } }, 'issuer'],
    ['an issuer that is none', { evt: { iss: 7 } }, 'issuer'],
  ])('%s', async (_, change, fault) => {
    expect(await faultOf(change)).toBe(fault);
    expect(hosts.asked).toEqual([]);
  });

  test.each([
    ['no token', ''],
    ['one part', 'a.b.c'],
    ['three parts', 'a.b.c~a.b.c~a.b.c'],
    ['nonsense', 'é~~.~'],
    ['more than 4,096 characters', `${'a'.repeat(4_097)}~a`],
  ])('%s is refused', async (_, token) => {
    const { status, body } = await check(token);
    const isNoText = token === '' || token.length > 4_096;
    expect([status, body.verified ?? false]).toEqual([isNoText ? 400 : 200, false]);
    expect(hosts.asked).toEqual([]);
  });

  test('a disclosure is refused: nothing of such a token is hidden', async () => {
    const [sdJwt = '', binding = ''] = (await tokenFor()).split('~');
    expect((await check(`${sdJwt}~WyJhIiwiYiIsImMiXQ~${binding}`)).body.reason).toBe('form');
  });

  test('the nonce of another client, and one that is 30 minutes old', async () => {
    const token = await tokenFor();
    expect((await check(token, {}, '198.51.100.9')).body.reason).toBe('nonce');
    const old = await nonceFor();
    await t.clock.advance(1_800_000);
    expect(await faultOf({ nonce: old })).toBe('nonce');
    expect(hosts.asked).toEqual([]);
  });

  test('one nonce in another spelling is the same nonce', async () => {
    const nonce = await nonceFor();
    expect((await check(await tokenFor({ nonce }))).body.verified).toBe(true);
    const last = nonce.at(-1) ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const twin = nonce.slice(0, -1) + alphabet[alphabet.indexOf(last) + 1];
    expect(Buffer.from(twin, 'base64url')).toEqual(Buffer.from(nonce, 'base64url'));
    const before = hosts.asked.length;
    expect(await faultOf({ nonce: twin })).toBe('nonce');
    expect(hosts.asked).toHaveLength(before);
  });

  test('a signature in another spelling serves no second time: the nonce is used up', async () => {
    const token = await tokenFor();
    expect((await check(token)).body.verified).toBe(true);
    const last = token.at(-1) ?? '';
    const twin = token.slice(0, -1) + String.fromCharCode(last.charCodeAt(0) + 1);
    expect((await check(twin)).body.verified).toBe(false);
    expect(hosts.asked).toHaveLength(3);
  });
});

describe('who issues for the domain', () => {
  const foreign = generateKeyPairSync('ed25519');
  test.each<[string, () => void, Partial<TokenParts>?]>([
    ['the DNS names nobody', () => hosts.answers.set(txtUrl(), () => jsonOf({ Status: 3 }))],
    ['the DNS names another', () => hosts.answers.set(txtUrl(), () => txtAnswer('iss=evil.example'))],
    ['the DNS names two', () => hosts.answers.set(txtUrl(), () => txtAnswer(`iss=${ISSUER}`, 'iss=evil.example'))],
    ['the DNS is away', () => hosts.answers.set(txtUrl(), () => new Response('', { status: 502 }))],
    ['the DNS answers nonsense', () => hosts.answers.set(txtUrl(), () => new Response('<html>'))],
    [
      'a record is of another type',
      () => hosts.answers.set(txtUrl(), () => jsonOf({ Status: 0, Answer: [{ type: 5, data: `iss=${ISSUER}` }] })),
    ],
    ['the token names another', () => undefined, { evt: { iss: 'https://evil.example' } }],
    ['its metadata redirects', () => hosts.answers.set(METADATA, () => Response.redirect('https://evil.example/x'))],
    [
      'its keys stand elsewhere',
      () => hosts.answers.set(METADATA, () => jsonOf({ jwks_uri: 'https://evil.example/jwks' })),
    ],
    [
      'its keys stand at a name that only ends alike',
      () => hosts.answers.set(METADATA, () => jsonOf({ jwks_uri: `https://evil${ISSUER}/jwks` })),
    ],
    [
      'its keys are not under https',
      () => hosts.answers.set(METADATA, () => jsonOf({ jwks_uri: `http://${ISSUER}/jwks` })),
    ],
    [
      'its keys are at another port',
      () => hosts.answers.set(METADATA, () => jsonOf({ jwks_uri: `https://${ISSUER}:444/jwks` })),
    ],
    [
      'its keys are too many bytes',
      () => hosts.answers.set(JWKS, () => jsonOf({ keys: [issuerJwk], more: 'x'.repeat(70_000) })),
    ],
    ['it has no such key', () => undefined, { evtHeader: { kid: 'k2' } }],
    ['another key signed', () => undefined, { by: foreign.privateKey }],
  ])('where %s, the token is refused, and nobody else is asked', async (_, spoil, change = {}) => {
    spoil();
    expect(await faultOf(change)).toBe('issuer');
    expect(hosts.asked.filter((url) => !/^https:\/\/(?:dns\.google|issuer\.test)\//.test(url))).toEqual([]);
    // The person goes on with a code.
    expect((await t.call('POST /api/verify/send', { identifier: EMAIL, channel: 'email' })).status).toBe(200);
  });

  test('keys may stand below the issuer’s name', async () => {
    hosts.answers.set(METADATA, () => jsonOf({ jwks_uri: `https://keys.${ISSUER}/jwks` }));
    hosts.answers.set(`https://keys.${ISSUER}/jwks`, () => jsonOf({ keys: [issuerJwk] }));
    expect((await check(await tokenFor())).body.verified).toBe(true);
  });

  test('a slow host has five seconds', async () => {
    hosts.answers.set(METADATA, () => new Promise(() => undefined));
    const asked = check(await tokenFor());
    await until('the issuer is asked', () => hosts.asked.includes(METADATA));
    await t.clock.advance(5_000);
    expect((await asked).body.reason).toBe('issuer');
  });

  test('is asked twice an hour and domain at most, and known for ten minutes', async () => {
    const looks = () => hosts.asked.filter((url) => url === txtUrl()).length;
    const verdict = async () => (await check(await tokenFor())).body.verified;
    expect([await verdict(), await verdict(), looks()]).toEqual([true, true, 1]);
    await t.clock.advance(600_000);
    expect([await verdict(), looks()]).toEqual([true, 2]);
    await t.clock.advance(600_000);
    expect([await verdict(), looks()]).toEqual([false, 2]);
    await t.clock.advance(2_400_000);
    expect([await verdict(), looks()]).toEqual([true, 3]);
  });
  test('eight domains are looked up at once; one more is refused meanwhile, and asked for later', async () => {
    const of = async (domain: string) => {
      const identifier = `ada@${domain}`;
      return check(await tokenFor({ email: identifier }), { identifier });
    };
    const domains = Array.from({ length: 8 }, (_, i) => `slow${i}.test`);
    for (const domain of domains) hosts.answers.set(txtUrl(domain), () => new Promise(() => undefined));
    hosts.answers.set(txtUrl('ninth.test'), () => txtAnswer(`iss=${ISSUER}`));
    const waiting = domains.map(of);
    await until('eight are asked for', () => hosts.asked.length === 8);
    const { body } = await of('ninth.test');
    expect([body.verified, body.reason]).toEqual([false, 'issuer']);
    expect(hosts.asked.toSorted()).toEqual(domains.map((domain) => txtUrl(domain)));
    await t.clock.advance(5_000);
    for (const { body } of await Promise.all(waiting)) expect(body.reason).toBe('issuer');
    expect((await of('ninth.test')).body.verified).toBe(true);
  });

  test('a client that has had enough asked gets 429, nobody is asked, and another client is not held up', async () => {
    const limited = await start({ ...VARS, RATE_LIMIT_PROXY_PER_IP: '1' });
    try {
      const of = async (email: string, ip = IP) => {
        const token = await tokenFor({ email, nonce: await nonceFor(ip, limited) }, limited);
        return check(token, { identifier: email }, ip, limited);
      };
      expect((await of(EMAIL)).body.verified).toBe(true);
      // What is known is not asked for, and costs nothing.
      expect((await of(EMAIL)).body.verified).toBe(true);
      const other = 'ada@other.test';
      hosts.answers.set(txtUrl('other.test'), () => txtAnswer(`iss=${ISSUER}`));
      const { status, body } = await of(other);
      expect([status, body.error]).toEqual([429, 'rate_limited']);
      expect(hosts.asked).toEqual([txtUrl(), METADATA, JWKS]);
      expect((await of(other, '198.51.100.9')).body.verified).toBe(true);
    } finally {
      await limited.stop();
    }
  });
});

describe('a vault without EMAIL_TOKENS', () => {
  test('gives no nonce and takes no token', async () => {
    const plain = await start(OPENID);
    try {
      expect((await plain.call('GET /authorize/config')).body.tokenNonce).toBeNull();
      const { status, body } = await check('a~b', {}, IP, plain);
      expect([status, body.error]).toEqual([400, 'Invalid token: EMAIL_TOKENS is off']);
    } finally {
      await plain.stop();
    }
  });

  test.each([
    [{ code: '123456', token: 'a~b' }, 'Expected one of: code, token'],
    [{ channel: 'sms', identifier: '+4915123456789', token: 'a~b' }, 'Invalid token: it shows an email address'],
  ])('400: %p', async (more, error) => {
    const { status, body } = await t.call('POST /api/verify/check', { identifier: EMAIL, channel: 'email', ...more });
    expect([status, body.error]).toEqual([400, error]);
  });
});
