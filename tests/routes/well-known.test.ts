import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

test("/.well-known/did.json is the registrar's document with the operator's key", async () => {
  const { status, body } = await t.call('GET /.well-known/did.json');
  const did = `did:web:localhost%3A${new URL(t.url).port}`;
  expect([status, body.id]).toEqual([200, did]);
  const [method] = body.verificationMethod;
  expect(method).toMatchObject({ id: `${did}#operator`, type: 'Multikey', controller: did });
  expect(method.publicKeyMultibase).toStartWith('z6Mk');
  expect(body.alsoKnownAs).toEqual([`did:key:${method.publicKeyMultibase}`]);
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
