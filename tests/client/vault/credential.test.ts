import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { CredentialOptions, HeldCredential, PresentOptions } from '../../../client/vault/index.ts';
import { faultOf, newPerson, notAsked } from '../../support/client-person.ts';
import { type ClientWorld, startClientWorld } from '../../support/client-world.ts';
import { otherCode } from '../../support/digits.ts';
import { settled } from '../../support/settled.ts';
import { originOf } from '../../support/touch.ts';
import { sdJwt } from '../../tools/credential-clients.ts';

const SHOP = 'https://shop.example';

let world: ClientWorld;
/** The vault by its BASE_URL. */
let url: string;
let one: ReturnType<typeof newPerson>;
let held: HeldCredential;
beforeAll(async () => {
  world = await startClientWorld();
  url = originOf(world.t);
  one = newPerson(world);
  held = await credentialOf(one);
});
afterAll(() => world.stop());

function credentialOf(person: ReturnType<typeof newPerson>) {
  return person.page({ url }).credential({ email: person.email, askCode: () => world.t.codeFor(person.email) });
}

/** What sd-jwt-js reads of a showing. */
function verify(presented: string, nonce = 'n-1') {
  return sdJwt(url).verify(presented, { keyBindingNonce: nonce });
}

describe('evidence B6: vault.credential', () => {
  test('asks for one code, and gives a credential of a key that no script can read', async () => {
    expect(one.line.asked).toEqual([
      'GET /.well-known/jwt-vc-issuer',
      'POST /api/verify/send',
      'POST /api/verify/check',
    ]);
    expect([...held.claims].sort()).toEqual(['email', 'email_domain']);
    expect(Date.parse(held.expiresAt) - Date.now()).toBeGreaterThan(86_000_000);
    expect(held.key.privateKey.extractable).toBe(false);
    expect(await settled(crypto.subtle.exportKey('jwk', held.key.privateKey))).toThrow();
  });

  test('shows what is named and nothing else, to that service, for that nonce', async () => {
    const audience = SHOP;
    const { payload, kb } = await verify(await held.present({ audience, nonce: 'n-1', disclose: ['email_domain'] }));
    expect(payload).toMatchObject({ iss: url, email_domain: 'example.com' });
    expect(payload).not.toHaveProperty('email');
    expect(kb?.payload).toMatchObject({ aud: SHOP, nonce: 'n-1' });
    const bare = await verify(await held.present({ audience, nonce: 'n-1' }));
    expect(bare.payload).not.toHaveProperty('email_domain');
  });

  test('a verifier refuses another nonce, and a disclosure that was added after the signature', async () => {
    const presented = await held.present({ audience: SHOP, nonce: 'n-1' });
    expect(await settled(verify(presented, 'n-2'))).toThrow();
    const [token, kb] = presented.split('~');
    const [, added] = held.credential.split('~');
    expect(await settled(verify([token, added, kb].join('~')))).toThrow();
  });

  test('each credential has a key of its own', async () => {
    const other = await credentialOf(newPerson(world));
    const [mine, theirs] = await Promise.all(
      [held, other].map(({ key }) => crypto.subtle.exportKey('jwk', key.publicKey)),
    );
    expect(mine?.x).not.toBe(theirs?.x);
  });

  test('one that was kept is shown again, and nothing is asked', async () => {
    const { credential, key } = held;
    const { page, line } = newPerson(world);
    const kept = await page({ url }).credential(structuredClone({ credential, key }));
    const presented = await kept.present({ audience: SHOP, nonce: 'n-1', disclose: ['email'] });
    expect((await verify(presented)).payload).toMatchObject({ email: one.email });
    expect([line.asked, kept.expiresAt]).toEqual([[], held.expiresAt]);
  });

  test('a wrong code is asked for again, and null gives up', async () => {
    const person = newPerson(world);
    const problems: unknown[] = [];
    const typed = ['wrong', null];
    const left = person.page({ url }).credential({
      email: person.email,
      askCode({ problem }) {
        problems.push(problem);
        const right = world.t.codeFor(person.email);
        return typed.shift() === null ? null : otherCode(right);
      },
    });
    expect(await faultOf(left)).toMatchObject({ error: 'cancelled' });
    expect(problems).toEqual([undefined, 'Incorrect code']);
  });

  test('where the vault issues none, or by another name, it is not_offered, and no code is sent', async () => {
    const person = newPerson(world);
    const { line } = person;
    line.trouble = async () => Response.json({ error: 'not_found' }, { status: 404 });
    expect(await faultOf(credentialOf(person))).toMatchObject({ error: 'not_offered' });
    line.trouble = async () => Response.json({ issuer: 'https://bank.example', jwks: { keys: [] } });
    expect(await faultOf(credentialOf(person))).toMatchObject({
      error: 'not_offered',
      hint: expect.stringContaining('https://bank.example'),
    });
    expect(new Set(line.asked)).toEqual(new Set(['GET /.well-known/jwt-vc-issuer']));
  });
});

describe('evidence B4: vault.credential by the passkey', () => {
  test('is not_offered where the page is not of the vault, and no code is sent', async () => {
    const { page, line, email } = newPerson(world);
    const left = page({ url }).credential({ email, passkey: true });
    expect(await faultOf(left)).toMatchObject({ error: 'not_offered', hint: expect.stringContaining(url) });
    expect(line.asked).toEqual(['GET /.well-known/jwt-vc-issuer']);
  });
});

describe('evidence B6: mistakes of a page are a TypeError, before anything is asked', () => {
  const askCode = notAsked;
  test.each([
    [undefined, /^credential: expected one of/],
    [{ askCode }, /^credential: expected one of/],
    [{ email: 'a@example.com', phone: '+14155550100', askCode }, /^credential: expected one of/],
    [{ email: 'a@example.com' }, 'credential: expected one of askCode and passkey'],
    [{ email: 'a@example.com', askCode, passkey: true }, 'credential: expected one of askCode and passkey'],
    [{ email: 'a@example.com', askCode: 'yes' }, 'credential: askCode is "yes"; expected a function'],
    [{ email: 'a@example.com', passkey: null }, /^credential: passkey is null; expected true or/],
    [{ email: 'a@example.com', passkey: {} }, /^credential: passkey is .*; expected true or/],
    [{ email: 'a@example.com', passkey: false }, /^credential: passkey is .*false.*; expected true or/],
    [{ email: 7, askCode }, 'credential: email is the number 7; expected a text'],
    [{ credential: 'x' }, /^credential: credential is no SD-JWT/],
  ])('%p', async (given, message) => {
    const { page, line } = newPerson(world);
    const asked = page({ url }).credential(given as unknown as CredentialOptions);
    expect(await settled(asked)).toThrow(TypeError);
    expect(await settled(asked)).toThrow(message);
    expect(line.asked).toEqual([]);
  });

  test('a kept credential without its key', async () => {
    const { credential } = held;
    const asked = newPerson(world)
      .page({ url })
      .credential({ credential } as unknown as CredentialOptions);
    expect(await settled(asked)).toThrow('credential: key is not the key pair of that credential');
  });

  test.each([
    [undefined, 'present: audience is undefined; expected a text'],
    [{ audience: SHOP }, 'present: nonce is undefined; expected a text'],
    [{ audience: SHOP, nonce: '' }, 'present: nonce is ""; expected a text'],
    [{ audience: SHOP, nonce: 'n', disclose: 'email' }, 'present: disclose is "email"; expected an array'],
    [{ audience: SHOP, nonce: 'n', disclose: ['sub'] }, /^present: disclose has "sub"; expected some of /],
  ])('present(%p)', async (given, message) => {
    expect(await settled(held.present(given as unknown as PresentOptions))).toThrow(message);
  });

  test('an address that a person left out is cancelled', async () => {
    expect(await faultOf(newPerson(world).page({ url }).credential({ email: ' ', askCode }))).toMatchObject({
      error: 'cancelled',
    });
  });
});
