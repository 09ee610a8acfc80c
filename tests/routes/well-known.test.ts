import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

test("/.well-known/did.json is the registrar's document with the operator's key", async () => {
  const { status, headers, body } = await t.call('GET /.well-known/did.json');
  const did = `did:web:localhost%3A${new URL(t.url).port}`;
  // A client of did:web reads nothing whose media type is not JSON's, so `application/did` would break it.
  expect([status, headers.get('content-type'), body.id]).toEqual([200, 'application/json', did]);
  const [method, ...others] = body.verificationMethod;
  expect(method).toMatchObject({ id: `${did}#operator`, type: 'Multikey', controller: did });
  expect(method.publicKeyMultibase).toStartWith('z6Mk');
  expect(body.alsoKnownAs).toEqual([`did:key:${method.publicKeyMultibase}`]);
  // The key signs tokens of the operator: a verifier must not believe it anything about people.
  const uses = Object.fromEntries(Object.entries(body).filter(([name]) => /^(?:auth|assert|capab|key)/.test(name)));
  const asserting = others.map(({ id }: { id: string }) => id);
  expect(asserting).toHaveLength(1);
  expect(uses).toEqual({
    assertionMethod: asserting,
    capabilityDelegation: [method.id],
    capabilityInvocation: [method.id],
  });
  const elsewhere = await startVault({ REGISTRAR_DID: 'did:web:elsewhere.example' });
  expect((await elsewhere.call('GET /.well-known/did.json')).status).toBe(404);
  await elsewhere.stop();
});

test('§4 .well-known/payment-method-manifest: 302 to /pay/payment-method.json', async () => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers, text } = await t.call(`${method} /.well-known/payment-method-manifest`);
    expect([status, headers.get('location'), headers.get('link'), text]).toEqual([
      302,
      '/pay/payment-method.json',
      null,
      '',
    ]);
  }
});

describe('/.well-known/webauthn', () => {
  test('lists RELATED_ORIGINS', async () => {
    const related = await startVault({ RELATED_ORIGINS: 'https://shop.example,https://app.example' });
    expect((await related.call('GET /.well-known/webauthn')).body).toEqual({
      origins: ['https://shop.example', 'https://app.example'],
    });
    await related.stop();
  });

  test('is 404 without any', async () => {
    expect((await t.call('GET /.well-known/webauthn')).status).toBe(404);
  });
});

describe('/.well-known/security.txt', () => {
  const https = { BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: 'none', ALLOW_LOG_DELIVERY: 'true' };

  test('is 404 without a contact', async () => {
    expect((await t.call('GET /.well-known/security.txt')).status).toBe(404);
  });

  test.each([
    ['SECURITY_CONTACT, a mail address', { SECURITY_CONTACT: 'security@example.com' }, 'mailto:security@example.com'],
    ['SECURITY_CONTACT, a URL', { SECURITY_CONTACT: 'https://example.com/report' }, 'https://example.com/report'],
    ['SUPPORT_ADDRESS without it', { SUPPORT_ADDRESS: 'help@example.com' }, 'mailto:help@example.com'],
    [
      'SECURITY_CONTACT before SUPPORT_ADDRESS',
      { SUPPORT_ADDRESS: 'help@example.com', SECURITY_CONTACT: 'security@example.com' },
      'mailto:security@example.com',
    ],
  ])('names %s', async (_, vars, contact) => {
    const own = await startVault({ ...https, ...vars });
    const { status, headers, text } = await own.call('GET /.well-known/security.txt');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const fields = text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(': '));
    expect(fields.map(([name]) => name)).toEqual(['Contact', 'Expires', 'Canonical']);
    const [[, found = ''] = [], [, expires = ''] = [], [, canonical] = []] = fields;
    expect([found, canonical]).toEqual([contact, 'https://vault.example.com/.well-known/security.txt']);
    expect(expires).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/);
    const days = (Date.parse(expires) - own.clock.now()) / 86_400_000;
    expect(days > 29 && days <= 30).toBe(true);
    await own.stop();
  });

  test('names no canonical place where that would be plain http', async () => {
    const own = await startVault({ SECURITY_CONTACT: 'security@example.com' });
    expect((await own.call('GET /.well-known/security.txt')).text).not.toContain('Canonical');
    await own.stop();
  });
});
