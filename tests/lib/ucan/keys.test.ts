import { describe, expect, test } from 'bun:test';
import { generateKeyPairSync, verify as nodeVerify, sign } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as Base58 from 'ox/Base58';
import * as P256 from 'ox/P256';
import { cidBytes, cidText, parseCid } from '../../../lib/ucan/cid.ts';
import { type Algorithm, fromDidKey, toDidKey } from '../../../lib/ucan/did-key.ts';
import { UcanError } from '../../../lib/ucan/fault.ts';
import { checkDidKey, createVerify, ed25519Signer, twinOf } from '../../../lib/ucan/signature.ts';
import { settled } from '../../support/settled.ts';
import { newSigner } from '../../support/ucan.ts';

const WYCHEPROOF = join(
  import.meta.dir,
  '../../../../shared/vectors/wycheproof/ecdsa_secp256r1_sha256_p1363_test.json',
);
const verify = createVerify();
const MESSAGE = new Uint8Array(Buffer.from('a message'));

describe('did:key', () => {
  /** The examples of the did:key method. */
  test.each<[Algorithm, string]>([
    ['Ed25519', 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
    ['P-256', 'did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169'],
    ['secp256k1', 'did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme'],
  ])('%s is read and written', async (algorithm, did) => {
    expect(fromDidKey(did).algorithm).toBe(algorithm);
    expect(toDidKey(fromDidKey(did))).toBe(did);
    expect(await checkDidKey(did)).toBe(true);
  });

  const made = (...bytes: number[]) => `did:key:z${Base58.fromBytes(Uint8Array.from(bytes))}`;
  const ones = (length: number) => Array.from({ length }, () => 1);
  test.each([
    ['another method', 'did:web:example.com'],
    ['a fragment', 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK#z6Mk'],
    ['another base', 'did:key:uAbc'],
    ['no base58', 'did:key:z6Mkha0OIl'],
    ['a leading one, which is a byte more', 'did:key:z16MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
    ['a varint that is too long', made(0xed, 0x81, 0x00, ...ones(32))],
    ['another multicodec', made(0x12, 0x20, ...ones(32))],
    ['a short key', made(0xed, 0x01, ...ones(31))],
    ['a long key', made(0xed, 0x01, ...ones(33))],
    ['a point that is not compressed', made(0x80, 0x24, 4, ...ones(64))],
    ['nothing', ''],
    ['a very long one', `did:key:z${'6'.repeat(5000)}`],
  ])('refuses %s', (_, did) => {
    expect(() => fromDidKey(did)).toThrow(UcanError);
  });

  test.each([
    ['an x that is not on P-256', made(0x80, 0x24, 2, ...Array.from({ length: 32 }, () => 0xff))],
    ['a P-256 key that begins with neither 2 nor 3', made(0x80, 0x24, 5, ...ones(32))],
    ['an x that is not on secp256k1', made(0xe7, 0x01, 2, ...Array.from({ length: 31 }, () => 0), 5)],
    ['an Ed25519 point of small order', made(0xed, 0x01, 1, ...Array.from({ length: 31 }, () => 0))],
    ['an Ed25519 key that is no point', made(0xed, 0x01, 2, ...Array.from({ length: 31 }, () => 0))],
    ['an Ed25519 y past the field', made(0xed, 0x01, ...Array.from({ length: 31 }, () => 0xff), 0x7f)],
  ])('does not verify by %s', async (_, did) => {
    expect(await checkDidKey(did)).toBe(false);
    expect(await settled(verify(did, MESSAGE, new Uint8Array(64)))).toThrow(UcanError);
  });
});

describe('signatures', () => {
  test.each<Algorithm>(['Ed25519', 'P-256', 'secp256k1'])('%s: the right one counts, no other', async (algorithm) => {
    const signer = await newSigner(algorithm);
    const other = await newSigner(algorithm);
    for (let i = 0; i < 20; i++) {
      const message = crypto.getRandomValues(new Uint8Array(i * 7));
      const signature = await signer.sign(message);
      expect(await verify(signer.did, message, signature)).toBe(true);
      expect(await verify(other.did, message, signature)).toBe(false);
      const changed = new Uint8Array(signature);
      changed[i * 3] = (changed[i * 3] ?? 0) ^ 1;
      expect(await verify(signer.did, message, changed)).toBe(false);
      expect(await verify(signer.did, MESSAGE, signature)).toBe(false);
    }
    for (const length of [0, 63, 65]) expect(await verify(signer.did, MESSAGE, new Uint8Array(length))).toBe(false);
    expect(await verify(signer.did, MESSAGE, new Uint8Array(64))).toBe(false);
    expect(await verify(signer.did, MESSAGE, new Uint8Array(64).fill(255))).toBe(false);
  });

  test('P-256: what node:crypto signs counts, whichever s it chose', async () => {
    for (let i = 0; i < 20; i++) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const sign2or3 = 2 | ((Buffer.from(y, 'base64url').at(-1) ?? 0) & 1);
      const did = toDidKey({ algorithm: 'P-256', bytes: Uint8Array.of(sign2or3, ...Buffer.from(x, 'base64url')) });
      const signature = new Uint8Array(sign('sha256', MESSAGE, { key: privateKey, dsaEncoding: 'ieee-p1363' }));
      expect(await verify(did, MESSAGE, signature)).toBe(true);
    }
  });

  test('Ed25519: signs as node:crypto does', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
    const signer = await ed25519Signer(new Uint8Array(Buffer.from(d, 'base64url')));
    expect(signer.did).toBe(toDidKey({ algorithm: 'Ed25519', bytes: new Uint8Array(Buffer.from(x, 'base64url')) }));
    const signature = await signer.sign(MESSAGE);
    expect(signature).toEqual(new Uint8Array(sign(null, MESSAGE, privateKey)));
    expect(nodeVerify(null, MESSAGE, publicKey, new Uint8Array(signature))).toBe(true);
  });

  test('secp256k1: of two ways to sign only that with the low s counts', async () => {
    const signer = await newSigner('secp256k1', { lowS: false });
    expect(await verify(signer.did, MESSAGE, await signer.sign(MESSAGE))).toBe(false);
  });

  test('P-256: both count, and one leads to the other', async () => {
    const signer = await newSigner('P-256', { lowS: false });
    const high = await signer.sign(MESSAGE);
    const low = twinOf(high);
    expect(P256.noble.Signature.fromBytes(high).hasHighS()).toBe(true);
    expect(P256.noble.Signature.fromBytes(low).hasHighS()).toBe(false);
    expect(twinOf(low)).toEqual(new Uint8Array(high));
    for (const one of [high, low]) expect(await verify(signer.did, MESSAGE, one)).toBe(true);
  });
});

if (existsSync(WYCHEPROOF)) {
  test('P-256: the verdicts of Wycheproof', async () => {
    const { testGroups } = JSON.parse(readFileSync(WYCHEPROOF, 'utf8')) as { testGroups: Group[] };
    let count = 0;
    for (const { publicKey, tests } of testGroups) {
      const bytes = P256.noble.Point.fromHex(publicKey.uncompressed).toBytes(true);
      const did = toDidKey({ algorithm: 'P-256', bytes });
      for (const { msg, sig, result, tcId } of tests) {
        const [message, signature] = [msg, sig].map((hex) => new Uint8Array(Buffer.from(hex, 'hex'))) as [Bytes, Bytes];
        expect([tcId, await verify(did, message, signature)]).toEqual([tcId, result === 'valid']);
        count++;
      }
    }
    expect(count).toBeGreaterThan(200);
  });
} else console.log(`P-256 is not checked against Wycheproof: there is no ${WYCHEPROOF}.`);

type Bytes = Uint8Array<ArrayBuffer>;

interface Group {
  readonly publicKey: { readonly uncompressed: string };
  readonly tests: readonly {
    readonly tcId: number;
    readonly msg: string;
    readonly sig: string;
    readonly result: string;
  }[];
}

describe('CIDs', () => {
  const cid = cidText(cidBytes(MESSAGE));
  test('are read in base58btc and base32, and written in base58btc', () => {
    expect(cid).toStartWith('zdpu');
    expect(parseCid(cid)).toBe(cid);
    // The delegation of the standard's fixtures, and the CID it is published with.
    const token = new Uint8Array(Buffer.from(DELEGATION, 'base64'));
    expect(parseCid('bafyreigyftnzjf4rcu7glp5kfop53vqlopc3zcldauoqdxqlz7t4343gr4')).toBe(cidText(cidBytes(token)));
  });

  test.each([
    '',
    'z',
    'zdpu',
    `${'z'.repeat(65)}`,
    'bafkreigyftnzjf4rcu7glp5kfop53vqlopc3zcldauoqdxqlz7t4343gr4',
    'bafyreigyftnzjf4rcu7glp5kfop53vqlopc3zcldauoqdxqlz7t4343gr5',
    `${cid}1`,
    `1${cid}`,
  ])('refuses %p', (text) => expect(parseCid(text)).toBeUndefined());
});

const DELEGATION =
  'glhAjm4YpBUWgEVmBWSotkY7bjWxj9AJLs9NfQykfoF2LhKZ76lQH0B720Qq0/YxNu+dKuQLEzlfJvmYRnZGgI7dA6JhaEg0Ae0B7QETcW51Y2FuL2RsZ0AxLjAuMKdjYXVkeDhkaWQ6a2V5Ono2TWttSmNlVm9RU0hzNDVjUmVFWG9MdFdtMXdvc0NHOFJMeGZLd2h4b3F6b1RrQ2NjbWRoL2FjY291bnRjZXhwGmiCDLFjaXNzeDhkaWQ6a2V5Ono2TWttVDlqNmZWWnF6WFY4dTJ3VlZTdTQ5Z1lTUllHU1FuZHVXWEY2Zm9BSnJxemNwb2yAY3N1Yng4ZGlkOmtleTp6Nk1rbVQ5ajZmVlpxelhWOHUyd1ZWU3U0OWdZU1JZR1NRbmR1V1hGNmZvQUpycXplbm9uY2VMJ20r9pHkJ/yoNirD';
