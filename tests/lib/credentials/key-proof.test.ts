import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { VaultError } from '../../../lib/base/error.ts';
import { openKeyProof } from '../../../lib/credentials/key-proof.ts';
import { createHolder, type Holder, keyProof } from '../../support/credentials.ts';
import { openDraw } from '../../support/draw.ts';
import { createPasskey } from '../../support/passkey.ts';
import { SEED } from '../../support/seed.ts';
import { originOf } from '../../support/touch.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const NONCE = 'challenge-of-the-send';

let t: TestVault;
let [holder, other]: Holder[] = [];
beforeAll(async () => {
  t = await startVault();
  [holder, other] = [await createHolder(), await createHolder('EdDSA')];
});
afterAll(() => t.stop());

/** The key that the vault takes, or why it refuses. */
async function open(text: string): Promise<unknown> {
  const config = { baseUrl: originOf(t) } as Parameters<typeof openKeyProof>[0]['config'];
  try {
    return await openKeyProof({ config, clock: t.clock }, text, NONCE);
  } catch (error) {
    if (error instanceof VaultError && error.code === 'proof_invalid') return error.details.reason;
    throw error;
  }
}

const good = () => keyProof(t, holder as Holder, NONCE);
const changed = (change: Parameters<typeof keyProof>[3]) => keyProof(t, holder as Holder, NONCE, change);
const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const pad = (n: bigint) => Buffer.from(n.toString(16).padStart(64, '0'), 'hex');
const withPart = async (place: number, part: (before: string) => string) => {
  const parts = (await good()).split('.');
  parts[place] = part(parts[place] ?? '');
  return parts.join('.');
};
const ZERO = Buffer.alloc(32);

describe('a key proof', () => {
  test('shows its key by the counted members alone', async () => {
    expect(await open(await good())).toEqual(holder?.jwk);
    const named = await changed({ header: { jwk: { ...holder?.jwk, use: 'sig', alg: 'ES256', ext: true } } });
    expect(await open(named)).toEqual(holder?.jwk);
    for (const alg of ['EdDSA', 'Ed25519'])
      expect(await open(await keyProof(t, other as Holder, NONCE, { header: { alg } }))).toEqual(other?.jwk);
  });

  test.each([-300, 300])('iat may be %d seconds off', async (by) => {
    const iat = Math.floor(t.clock.now() / 1000) + by;
    expect(await open(await changed({ claims: { iat } }))).toEqual(holder?.jwk);
    expect(await open(await changed({ claims: { iat: iat + Math.sign(by) } }))).toBe('iat');
  });

  test.each<[string, string, () => Promise<string> | string]>([
    ['nothing', 'form', () => ''],
    ['two dots', 'form', () => '..'],
    ['one part more', 'form', async () => `${await good()}.x`],
    ['without a signature', 'form', () => withPart(2, () => '')],
    ['longer than 4,096 characters', 'form', () => changed({ claims: { more: 'x'.repeat(4_096) } })],
    ['padded base64', 'form', () => withPart(2, (before) => `${before}==`)],
    ['a header that is a list', 'form', () => withPart(0, () => b64([]))],
    [
      'claims that are no UTF-8',
      'form',
      () => withPart(1, () => Buffer.from([0x22, 0xff, 0x22]).toString('base64url')),
    ],
    ['another type', 'typ', () => changed({ header: { typ: 'kb+jwt' } })],
    ['the type in capitals', 'typ', () => changed({ header: { typ: 'OpenID4VCI-proof+jwt' } })],
    ['alg none', 'key', () => changed({ header: { alg: 'none' } })],
    ['alg of an HMAC', 'key', () => changed({ header: { alg: 'HS256' } })],
    ['alg that every object has', 'key', () => changed({ header: { alg: 'constructor' } })],
    ['alg of another key', 'key', () => changed({ header: { alg: 'EdDSA' } })],
    ['a private key', 'key', () => changed({ header: { jwk: { ...holder?.jwk, d: holder?.jwk.x } } })],
    ['a kid beside the key', 'key', () => changed({ header: { kid: 'did:key:z' } })],
    ['x5c beside the key', 'key', () => changed({ header: { x5c: [] } })],
    ['crit', 'key', () => changed({ header: { crit: ['b64'], b64: false } })],
    ['no key', 'key', () => changed({ header: { jwk: null } })],
    ['a point off the curve', 'key', () => changed({ header: { jwk: { ...holder?.jwk, y: holder?.jwk.x } } })],
    [
      'the zero point',
      'key',
      () => {
        const zero = ZERO.toString('base64url');
        return changed({ header: { jwk: { kty: 'EC', crv: 'P-256', x: zero, y: zero } } });
      },
    ],
    ['a coordinate that is short', 'key', () => changed({ header: { jwk: { ...holder?.jwk, x: 'AA' } } })],
    ['a key of encryption', 'key', () => changed({ header: { jwk: { ...holder?.jwk, use: 'enc' } } })],
    ['a list of audiences', 'aud', () => changed({ claims: { aud: [originOf(t)] } })],
    ['the audience with a slash', 'aud', () => changed({ claims: { aud: `${originOf(t)}/` } })],
    ['no audience', 'aud', () => changed({ claims: { aud: undefined } })],
    ['iat as a text', 'iat', () => changed({ claims: { iat: String(Math.floor(t.clock.now() / 1000)) } })],
    ['iat in milliseconds', 'iat', () => changed({ claims: { iat: t.clock.now() } })],
    ['iat with a fraction', 'iat', () => changed({ claims: { iat: Math.floor(t.clock.now() / 1000) + 0.5 } })],
    ['another nonce', 'nonce', () => changed({ claims: { nonce: `${NONCE}x` } })],
    ['a nonce that is a list', 'nonce', () => changed({ claims: { nonce: [NONCE] } })],
    [
      'a signature in DER',
      'signature',
      () =>
        withPart(2, (raw) => {
          const signature = p256.Signature.fromBytes(Buffer.from(raw, 'base64url'));
          return Buffer.from(signature.toBytes('der')).toString('base64url');
        }),
    ],
    ['a signature of zeros', 'signature', () => withPart(2, () => Buffer.alloc(64).toString('base64url'))],
    [
      'the signature of another key',
      'signature',
      async () => {
        const { privateKey } = await createHolder();
        const [head, body] = (await good()).split('.');
        const way = { name: 'ECDSA', hash: 'SHA-256' };
        const made = await crypto.subtle.sign(way, privateKey, new TextEncoder().encode(`${head}.${body}`));
        return `${head}.${body}.${Buffer.from(made).toString('base64url')}`;
      },
    ],
  ])('with %s is refused: %s', async (_, reason, make) => {
    expect(await open(await make())).toBe(reason);
  });

  test('a key of small order is none: anybody can sign by it', async () => {
    // The identity: with R the identity and s zero, the signature verifies for every text.
    const x = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]);
    const header = { alg: 'EdDSA', jwk: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') } };
    const [head, body] = (await keyProof(t, other as Holder, NONCE, { header })).split('.');
    const universal = Buffer.concat([x, ZERO]).toString('base64url');
    expect(await open(`${head}.${body}.${universal}`)).toBe('key');
    for (const y of ['00'.repeat(32), `ec${'ff'.repeat(30)}7f`, `ec${'ff'.repeat(31)}`, `ee${'ff'.repeat(30)}7f`]) {
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(y, 'hex').toString('base64url') };
      expect(await open(await keyProof(t, other as Holder, NONCE, { header: { jwk } }))).toBe('key');
    }
  });

  test('evidence B6: a passkey cannot be the holder’s key: it signs a ceremony, never a JWT', async () => {
    const passkey = createPasskey();
    const [x, y] = [passkey.key.x, passkey.key.y].map((one) => Buffer.from(one).toString('base64url'));
    const [head, body] = (await changed({ header: { jwk: { kty: 'EC', crv: 'P-256', x, y } } })).split('.');
    const asked = createHash('sha256').update(`${head}.${body}`).digest();
    const { signature } = passkey.assert(asked, { origin: originOf(t) });
    const raw = p256.Signature.fromBytes(Buffer.from(signature, 'base64url'), 'der').toBytes('compact');
    expect(await open(`${head}.${body}.${Buffer.from(raw).toString('base64url')}`)).toBe('signature');
  });

  test('another spelling of a signature is the same key: nothing hangs on the text of a proof', async () => {
    const mirrored = await withPart(2, (raw) => {
      const bytes = Buffer.from(raw, 'base64url');
      const s = BigInt(`0x${bytes.subarray(32).toString('hex')}`);
      return Buffer.concat([bytes.subarray(0, 32), pad(p256.Point.Fn.ORDER - s)]).toString('base64url');
    });
    expect(mirrored).not.toBe(await good());
    expect(await open(mirrored)).toEqual(holder?.jwk);
  });

  test('thousands changed at random: none throws, and none is taken', async () => {
    const draw = openDraw(SEED);
    const texts = [await good(), await keyProof(t, other as Holder, NONCE)];
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ~é\0';
    for (let i = 0; i < 4_000; i++) {
      const text = texts[draw.below(2)] as string;
      const at = draw.below(text.length);
      const sign = alphabet[draw.below(alphabet.length)] as string;
      const ways = [
        text.slice(0, at) + sign + text.slice(at + 1),
        text.slice(0, at) + sign + text.slice(at),
        text.slice(0, at) + text.slice(at + 1 + draw.below(4)),
        text.slice(0, at),
      ];
      const one = ways[draw.below(ways.length)] as string;
      if (one !== text) expect([SEED, i, typeof (await open(one))]).toEqual([SEED, i, 'string']);
    }
  });
});
