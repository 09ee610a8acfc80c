import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../commands/cli/arguments.ts';
import { judgeCredentialText } from '../../../commands/verify/credential.ts';
import { digestOfDisclosure } from '../../../lib/credentials/sd-jwt.ts';
import { testClock } from '../../support/clock.ts';
import { createHolder, credentialFor, type Holder, partsOfCredential } from '../../support/credentials.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';
import { originOf } from '../../support/touch.ts';
import { startVault, type TestVault } from '../../support/vault.ts';
import { sdJwt } from '../../tools/credential-clients.ts';

// Credentials of a real vault, and the same claims signed again by a key of the test's: each wrong in one thing alone.

const folder = temporaryFolder();
const KEYS = join(folder.path, 'keys.json');
const keepKeys = (value: unknown) => writeFileSync(KEYS, JSON.stringify(value));

let t: TestVault;
let holder: Holder;
let issuer: Holder;
let credential = '';
beforeAll(async () => {
  t = await startVault({}, { clock: testClock(Date.now()) });
  [holder, issuer] = await Promise.all([createHolder(), createHolder()]);
  credential = await credentialFor(t, holder);
});
afterAll(async () => {
  await t.stop();
  folder.remove();
});

const wellKnown = () => `${originOf(t)}/.well-known/jwt-vc-issuer`;
const judge = (text: string, jwks: string | undefined = wellKnown(), expected: Readonly<Record<string, string>> = {}) =>
  judgeCredentialText({ command: 'verify', vars: {}, options: { jwks, ...expected } as Record<string, string> }, text);
const found = async (text: string, jwks?: string) => {
  const { verdict, finding } = (await judge(text, jwks)) ?? {};
  return [verdict, finding];
};
const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const nowSeconds = () => Math.floor(Date.now() / 1000);
/** Presented by sd-jwt-js. */
const present = (shown: object, by = holder) =>
  sdJwt(originOf(t), by).present(credential, shown as never, {
    kb: { payload: { aud: 'https://shop.example', nonce: 'n1', iat: nowSeconds() } },
  });

describe('a credential of a vault', () => {
  test('is good by the keys of its issuer, and is called a copy', async () => {
    const judged = await judge(credential);
    expect(judged).toMatchObject({
      kind: 'credential',
      verdict: 'good',
      finding: expect.stringContaining('without key binding: a copy'),
      facts: {
        issuer: originOf(t),
        channel: 'email',
        email: 'ada@example.com',
        email_domain: 'example.com',
        sub: null,
      },
      notes: [expect.stringContaining('its holder')],
    });
    const { claims } = partsOfCredential(credential);
    const { verified_at, expires_at } = judged?.facts ?? {};
    expect([verified_at, expires_at].map((one) => Date.parse(String(one)) / 1000)).toEqual([
      claims['verified_at'],
      claims['exp'],
    ] as number[]);
    expect(JSON.stringify(judged)).not.toContain(credential.split('.')[2]?.slice(0, 20) ?? '');
  });

  test('with key binding says whom it was shown to and when, and shows no hidden claim', async () => {
    const judged = await judge(await present({ email_domain: true }));
    expect(judged).toMatchObject({
      verdict: 'good',
      facts: { email: null, email_domain: 'example.com', shown_to: 'https://shop.example', nonce: 'n1' },
    });
    expect(judged?.finding).not.toContain('copy');
    expect(Math.abs(Date.parse(String(judged?.facts['shown_at'])) - Date.now())).toBeLessThan(300_000);
  });

  const [SHOP, N1] = [{ audience: 'https://shop.example' }, { nonce: 'n1' }];
  test.each<[string, Readonly<Record<string, string>>, string, string]>([
    ['both', { ...SHOP, ...N1 }, 'good', 'Its holder signed it for this audience and this nonce'],
    ['the audience alone', SHOP, 'good', 'Its holder signed that it is shown'],
    ['another audience', { ...N1, audience: 'https://shop.example.evil' }, 'not_good', 'showed it to somebody else'],
    ['another nonce', { ...SHOP, nonce: 'n2' }, 'not_good', 'showed it another time'],
    ['an empty nonce', { ...SHOP, nonce: '' }, 'not_good', 'showed it another time'],
  ])('--audience and --nonce compare what its holder signed: %s', async (_, expected, verdict, words) => {
    const judged = await judge(await present({ email_domain: true }), wellKnown(), expected);
    expect([judged?.verdict, judged?.finding]).toEqual([verdict, expect.stringContaining(words)]);
    expect(judged?.facts).toMatchObject({ shown_to: 'https://shop.example', nonce: 'n1' });
  });

  test('with --audience or --nonce a copy without key binding is not good', async () => {
    for (const expected of [SHOP, N1]) {
      const judged = await judge(credential, wellKnown(), expected);
      expect([judged?.verdict, judged?.finding]).toEqual(['not_good', expect.stringContaining('a copy')]);
    }
  });

  test('is good by a file of the keys; without, it is not decided and the place of the keys is said', async () => {
    keepKeys((await t.call('GET /.well-known/jwt-vc-issuer')).body);
    expect((await judge(credential, KEYS))?.verdict).toBe('good');
    const asked = t.entries.length;
    const undecided = await judgeCredentialText({ command: 'verify', vars: {}, options: {} }, credential);
    expect([undecided?.verdict, undecided?.finding]).toEqual(['undecided', expect.stringContaining(wellKnown())]);
    expect(t.entries.length).toBe(asked);
  });

  test('that has ended is not good, also without its keys', async () => {
    const past = await startVault({}, { clock: testClock(Date.now() - 2 * 86_400_000) });
    const old = await credentialFor(past, holder);
    await past.stop();
    const judged = await judgeCredentialText({ command: 'verify', vars: {}, options: {} }, old);
    expect([judged?.verdict, judged?.finding]).toEqual(['not_good', expect.stringContaining('It ended at ')]);
  });

  test.each<[string, string, () => string | Promise<string>]>([
    [
      'with a changed disclosure',
      'not in it',
      () => credential.replace(/~[^~]+~/, `~${json(['s', 'email', 'eve@x.y'])}~`),
    ],
    ['with a disclosure twice', 'twice', () => `${credential}${credential.split('~')[1]}~`],
    ['whose last ~ is cut off', 'cut off', () => credential.split('~')[0] ?? ''],
    ['with a changed signature', 'did not sign it', () => changed(credential)],
    ['shown by another key', 'kb+jwt', async () => present({}, await createHolder())],
    ['with more shown than its holder signed', 'kb+jwt', async () => withMore(await present({ email_domain: true }))],
  ])('%s is not good', async (_, words, make) => {
    expect(await found(await make())).toEqual(['not_good', expect.stringContaining(words)]);
  });
});

/** Its signature with another first character. */
function changed(text: string): string {
  const place = text.split('~')[0]?.lastIndexOf('.') ?? 0;
  return `${text.slice(0, place + 1)}${text[place + 1] === 'A' ? 'B' : 'A'}${text.slice(place + 2)}`;
}

function withMore(shown: string): string {
  const parts = shown.split('~');
  const email = credential.split('~').find((one) => !parts.includes(one));
  return [parts[0], email, ...parts.slice(1)].join('~');
}

describe('the keys of a credential', () => {
  test('of another issuer, or others of its name, are not good', async () => {
    const { jwks } = (await t.call('GET /.well-known/jwt-vc-issuer')).body;
    keepKeys({ issuer: 'https://other.example', jwks });
    expect(await found(credential, KEYS)).toEqual(['not_good', expect.stringContaining('of another issuer')]);
    keepKeys({ keys: [{ ...issuer.jwk, kid: 'another' }] });
    expect(await found(credential, KEYS)).toEqual(['not_good', expect.stringContaining('none of the keys')]);
    keepKeys({ keys: [{ ...issuer.jwk, kid: jwks.keys[0].kid }] });
    expect(await found(credential, KEYS)).toEqual(['not_good', expect.stringContaining('did not sign it')]);
  });

  test('are asked for on the issuer’s own host alone, and no redirect is followed', async () => {
    const paths: string[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        paths.push(new URL(request.url).pathname);
        return Response.redirect(wellKnown());
      },
    });
    const own = `http://127.0.0.1:${server.port}`;
    expect(await found(credential, `${own}/keys`)).toEqual(['undecided', expect.stringContaining('another host')]);
    expect(paths).toEqual([]);
    const text = await signed({ claims: { iss: own, vct: `${own}/credentials/types/email` } });
    expect(await found(text, `${own}/keys`)).toEqual(['undecided', expect.stringContaining('redirect')]);
    expect(paths).toEqual(['/keys']);
    await server.stop(true);
    expect(await found(text, `${own}/keys`)).toEqual(['undecided', expect.stringContaining('cannot be read')]);
    expect(await found(credential, `${originOf(t)}/nowhere`)).toEqual(['undecided', expect.stringContaining('404')]);
  });

  test('at a plain http URL, with a user, or in a file that holds none are invalid usage', async () => {
    for (const url of ['http://vault.example/keys', 'https://ada:pw@vault.example/keys', 'https://'])
      expect(await settled(judge(credential, url))).toThrow(UsageError);
    keepKeys({ keys: 5 });
    expect(await settled(judge(credential, KEYS))).toThrow('no set of keys');
  });
});

interface Change {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The credential's header and claims, changed, signed by the test's issuer. */
async function signed({ header, claims }: Change = {}): Promise<string> {
  const is = partsOfCredential(credential);
  const text = [
    { ...is.header, ...header },
    { ...is.claims, ...claims },
  ].map(json);
  const token = `${text.join('.')}.${await issuer.sign(text.join('.'))}`;
  return [token, ...credential.split('~').slice(1)].join('~');
}

/** A JWT of the holder's behind a credential. */
async function bound({ header, claims }: Change): Promise<string> {
  const is = await signed();
  const text = [
    { alg: 'ES256', typ: 'kb+jwt', ...header },
    { aud: 'https://shop.example', nonce: 'n1', iat: nowSeconds(), sd_hash: digestOfDisclosure(is), ...claims },
  ].map(json);
  return `${is}${text.join('.')}.${await holder.sign(text.join('.'))}`;
}

describe('of credentials that are signed rightly', () => {
  beforeEach(() => {
    const { kid } = partsOfCredential(credential).header ?? {};
    keepKeys({ issuer: originOf(t), jwks: { keys: [{ ...issuer.jwk, kid }] } });
  });

  test('one that is changed in nothing is good', async () => {
    expect((await judge(await signed(), KEYS))?.verdict).toBe('good');
    expect((await judge(await bound({}), KEYS))?.facts).toMatchObject({ shown_to: 'https://shop.example' });
  });

  test.each<[string, string, () => Change]>([
    ['alg none', 'alg ES256', () => ({ header: { alg: 'none' } })],
    ['alg RS256', 'alg ES256', () => ({ header: { alg: 'RS256' } })],
    ['crit', 'no crit', () => ({ header: { crit: ['exp'] } })],
    ['another typ', 'typ dc+sd-jwt', () => ({ header: { typ: 'vc+sd-jwt' } })],
    ['no kid', 'none of the keys', () => ({ header: { kid: undefined } })],
    ['an issue later than now', 'later than now', () => ({ claims: { iat: nowSeconds() + 300 } })],
    ['no end', 'A time is missing', () => ({ claims: { exp: undefined } })],
    ['an end beyond all years', 'A time is missing', () => ({ claims: { iat: 1e300, exp: 1e300 } })],
    [
      'a type of another issuer',
      'Its type',
      () => ({ claims: { vct: 'https://other.example/credentials/types/email' } }),
    ],
    ['an issuer that is no origin', 'no https origin', () => ({ claims: { iss: 'http://vault.example' } })],
    ['an issuer with a path', 'no https origin', () => ({ claims: { iss: 'https://vault.example/x' } })],
    ['digests of another kind', 'not in it', () => ({ claims: { _sd_alg: 'sha-512' } })],
    ['no key of a holder', 'cnf', () => ({ claims: { cnf: undefined } })],
  ])('one with %s is not good', async (_, words, change) => {
    expect(await found(await signed(change()), KEYS)).toEqual(['not_good', expect.stringContaining(words)]);
  });

  test('one with alg none and no signature is not good', async () => {
    const [token = '', ...rest] = (await signed({ header: { alg: 'none' } })).split('~');
    const bare = [`${token.slice(0, token.lastIndexOf('.'))}.`, ...rest].join('~');
    expect((await judge(bare, KEYS))?.verdict).toBe('not_good');
  });

  test.each<[string, Change]>([
    ['another typ', { header: { typ: 'JWT' } }],
    ['alg none', { header: { alg: 'none' } }],
    ['crit', { header: { crit: ['aud'] } }],
    ['another sd_hash', { claims: { sd_hash: digestOfDisclosure('x') } }],
    ['no audience', { claims: { aud: undefined } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['a time to come', { claims: { iat: nowSeconds() + 7_200 } }],
  ])('one whose holder signed with %s is not good', async (_, change) => {
    expect(await found(await bound(change), KEYS)).toEqual(['not_good', expect.stringContaining('kb+jwt')]);
  });
});

test('a text that is no credential is left to others', async () => {
  for (const text of ['', 'hello', '~', 'a.b~', '{}']) expect(await judge(text)).toBeUndefined();
});
