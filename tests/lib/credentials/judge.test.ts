import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type CredentialVerifier, judgeCredential, readCredential } from '../../../lib/credentials/judge.ts';
import { digestOfDisclosure, disclosureOf } from '../../../lib/credentials/sd-jwt.ts';
import { type BareJwk, thumbprintOf } from '../../../lib/signing/jwk.ts';
import { createHolder, credentialFor, type Holder } from '../../support/credentials.ts';
import { openDraw } from '../../support/draw.ts';
import { SEED } from '../../support/seed.ts';
import { originOf } from '../../support/touch.ts';
import { startVault, type TestVault } from '../../support/vault.ts';
import { sdJwt } from '../../tools/credential-clients.ts';

let t: TestVault;
let holder: Holder;
let credential = '';
let verifier: CredentialVerifier;
const binding = { nonce: 'n1', audience: 'https://shop.example' };
beforeAll(async () => {
  t = await startVault();
  holder = await createHolder();
  credential = await credentialFor(t, holder);
  const { keys } = (await t.call('GET /.well-known/jwt-vc-issuer')).body.jwks;
  verifier = { issuer: originOf(t), keys, now: Math.floor(t.clock.now() / 1000) };
});
afterAll(() => t.stop());

/** Presented by sd-jwt-js. */
const present = (shown: object, by = holder, { nonce, audience: aud } = binding) =>
  sdJwt(originOf(t), by).present(credential, shown as never, { kb: { payload: { aud, nonce, iat: verifier.now } } });
const faultOf = async (text: string, change: Partial<CredentialVerifier> = {}) => {
  const judged = await judgeCredential(text, { ...verifier, ...change });
  return 'fault' in judged ? judged.fault : 'good';
};

describe('a credential is judged', () => {
  test('as good, with what its holder shows', async () => {
    expect(await judgeCredential(`${credential}\n`, verifier)).toMatchObject({
      claims: { iss: originOf(t), email: 'ada@example.com', email_domain: 'example.com' },
      binding: null,
    });
    const judged = await judgeCredential(await present({ email_domain: true }), { ...verifier, binding });
    const signed = { audience: binding.audience, nonce: binding.nonce, at: verifier.now };
    expect(judged).toMatchObject({ claims: { email_domain: 'example.com' }, binding: signed });
    expect('claims' in judged && Object.keys(judged.claims)).not.toContain('email');
  });

  test.each<[string, string, (text: string) => string | Promise<string>, () => Partial<CredentialVerifier>]>([
    ['no text of a credential', 'form', () => 'x', () => ({})],
    ['without its last ~', 'form', (text) => text.split('~')[0] ?? '', () => ({})],
    ['of another issuer', 'issuer', (text) => text, () => ({ issuer: 'https://other.example' })],
    ['by a key that the issuer does not have', 'key', (text) => text, () => ({ keys: [] })],
    [
      'by another key under the same name',
      'signature',
      (text) => text,
      () => ({ keys: [{ ...(holder.jwk as CredentialVerifier['keys'][0]), kid: verifier.keys[0]?.kid ?? '' }] }),
    ],
    ['after its end', 'time', (text) => text, () => ({ now: verifier.now + 86_400 })],
    ['before its time', 'time', (text) => text, () => ({ now: verifier.now - 61 })],
    ['with a claim that nobody signed', 'disclosure', (text) => `${text}WyJhIiwic3ViIiwiZGlkOngiXQ~`, () => ({})],
    ['with a claim twice', 'disclosure', (text) => `${text}${text.split('~')[1]}~`, () => ({})],
    ['as a copy, where a binding is asked for', 'binding_missing', (text) => text, () => ({ binding })],
    ['bound by another key', 'binding', async () => present({}, await createHolder()), () => ({})],
    [
      'bound for another verifier',
      'binding',
      () => present({}, holder, { ...binding, audience: 'x' }),
      () => ({ binding }),
    ],
    ['bound for another nonce', 'binding', () => present({}, holder, { ...binding, nonce: 'x' }), () => ({ binding })],
    ['bound long ago', 'binding', () => present({}), () => ({ binding, now: verifier.now + 301 })],
    [
      'bound with more shown than the holder signed',
      'binding',
      async () => {
        const parts = (await present({ email_domain: true })).split('~');
        return [parts[0], credential.split('~')[1], ...parts.slice(1)].join('~');
      },
      () => ({ binding }),
    ],
  ])('%s it is refused: %s', async (_, fault, make, change) => {
    expect(await faultOf(await make(credential), change())).toBe(fault);
  });

  test.each([
    ['nickname', 1, 'good'],
    ['nickname', 2, 'disclosure'],
    ...['iss', '_sd', '...', '__proto__', 'toString'].map((name) => [name, 1, 'disclosure'] as const),
  ] as const)('by its text: it shows %s, whose digest is in it %d times: %s', (name, times, fault) => {
    const disclosure = disclosureOf(new Uint8Array(16), name, 'x');
    const [head, body = '', end] = (credential.split('~')[0] ?? '').split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const changed = { ...claims, _sd: Array(times).fill(digestOfDisclosure(disclosure)) };
    const token = [head, Buffer.from(JSON.stringify(changed)).toString('base64url'), end].join('.');
    const read = readCredential(`${token}~${disclosure}~`);
    expect('fault' in read ? read.fault : 'good').toBe(fault);
  });

  test('thousands changed at random: none throws, and none is good', async () => {
    const draw = openDraw(SEED);
    const text = await present({ email: true });
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=~';
    for (let i = 0; i < 2_000; i++) {
      const at = draw.below(text.length);
      const one = `${text.slice(0, at)}${alphabet[draw.below(alphabet.length)]}${text.slice(at + draw.below(3))}`;
      if (one !== text) expect([SEED, i, await faultOf(one, { binding })]).not.toEqual([SEED, i, 'good']);
    }
  });
});

describe('published vectors', () => {
  test('RFC 9901 section 4.2.1 and 4.2.3: a disclosure and its digest', () => {
    // The RFC writes a blank after each comma, so its text is another one of the same claim.
    const published = 'WyJfMjZiYzRMVC1hYzZxMktJNmNCVzVlcyIsICJmYW1pbHlfbmFtZSIsICJNw7ZiaXVzIl0';
    expect(digestOfDisclosure(published)).toBe('X9yH0Ajrdm1Oij4tWso9UzzKJvPoDxwmuEcO3XAdRC0');
    const salt = Buffer.from('_26bc4LT-ac6q2KI6cBW5es', 'base64url');
    const own = disclosureOf(salt, 'family_name', 'Möbius');
    const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());
    expect(read(own)).toEqual(read(published));
  });

  test('RFC 7638 section 3.1 and RFC 8037 appendix A.3: thumbprints', () => {
    const n =
      '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';
    expect(thumbprintOf({ kty: 'RSA', n, e: 'AQAB' })).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs');
    const ed: BareJwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
    expect(thumbprintOf(ed)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });
});
