import { describe, expect, test } from 'bun:test';
import { createHash, createHmac, generateKeyPairSync, hkdfSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hex, P256, PublicKey, Secp256k1, TypedData } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { recoverAddress, serializeSignature } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { EnclaveError, loadEnclave } from '../../client/enclave.ts';
import { toHex, utf8 } from '../../lib/base/bytes.ts';
import { aliasHash, didHash } from '../../lib/identity/did.ts';
import { settled } from '../support/settled.ts';

const wasm = readFileSync(join(import.meta.dir, '../../assets/enclave.wasm'));
const enclave = await loadEnclave(wasm);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const reasonOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (error instanceof EnclaveError) return error.reason;
    throw error;
  }
  return undefined;
};

describe('loading', () => {
  test('takes the digest in either case, and refuses another one', async () => {
    const digest = createHash('sha256').update(wasm).digest('hex');
    expect(await loadEnclave(wasm, { sha256: digest.toUpperCase() })).toBeDefined();
    expect(await settled(loadEnclave(wasm, { sha256: digest.replace(/^./, (c) => (c === '0' ? '1' : '0')) }))).toThrow(
      'SHA-256',
    );
  });

  test('refuses a module that imports something, and one that is not the enclave', async () => {
    // (module (import "m" "f" (func))), and an empty one.
    const importing = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 7, 1, 1, 109, 1, 102, 0, 0]);
    const empty = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0]);
    // (module (memory (export "memory") 1))
    const open = Uint8Array.from([
      0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 0, 1, 7, 10, 1, 6, 109, 101, 109, 111, 114, 121, 2, 0,
    ]);
    expect(await settled(loadEnclave(importing))).toThrow('not the enclave');
    expect(await settled(loadEnclave(open))).toThrow('not the enclave');
    expect(await settled(loadEnclave(empty))).toThrow('another version');
  });

  test('says what the address answered', async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response('no', { status: 404 }) });
    expect(await settled(loadEnclave(server.url))).toThrow('answered 404');
    await server.stop(true);
  });
});

describe('calls', () => {
  test.each([0, 1, 31, 32, 33, 63, 64, 8156, 8157, 8160, 8191, 8192, 8193, 16384, 50_001])(
    'hashes of %d bytes are those of node',
    (length) => {
      const bytes = new Uint8Array(length).map((_, i) => i * 7);
      expect(hex(enclave.sha256(bytes))).toBe(createHash('sha256').update(bytes).digest('hex'));
      expect(hex(enclave.keccak256(bytes))).toBe(hex(enclave.keccak256(new Uint8Array(bytes))));
    },
  );

  test('HMAC and HKDF are those of node', () => {
    const [key, text] = [utf8('a key'), utf8('a text')];
    expect(hex(enclave.hmacSha256(key, text))).toBe(createHmac('sha256', key).update(text).digest('hex'));
    const derived = Buffer.from(hkdfSync('sha256', key, text, 'info', 77)).toString('hex');
    expect(hex(enclave.hkdfSha256(key, text, utf8('info'), 77))).toBe(derived);
  });

  test('encrypts and decrypts, and refuses what was changed', () => {
    const [key, nonce, aad] = [new Uint8Array(32).fill(1), new Uint8Array(12).fill(2), utf8('about')];
    const sealed = enclave.encrypt(key, nonce, aad, utf8('the text'));
    expect(sealed.length).toBe(24);
    expect(enclave.decrypt(key, nonce, aad, sealed)).toEqual(utf8('the text'));
    expect(reasonOf(() => enclave.decrypt(key, nonce, aad, sealed.with(3, 0)))).toBe('FORGED');
    expect(reasonOf(() => enclave.decrypt(key, nonce, aad, sealed.subarray(0, 15)))).toBe('LENGTH');
    expect(() => enclave.encrypt(key.subarray(1), nonce, aad, sealed)).toThrow('expected 32 bytes, not 31');
  });

  test('more than the window holds is refused and not cut off', () => {
    expect(reasonOf(() => enclave.hmacSha256(utf8('key'), new Uint8Array(9000)))).toBe('LENGTH');
    expect(reasonOf(() => enclave.publicKeyOf(new Uint8Array(8200)))).toBe('LENGTH');
    expect(reasonOf(() => enclave.createKey().signUcan(new Uint8Array(8190)))).toBe('LENGTH');
  });

  test("a passkey's key and signature, from COSE and DER", () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const [left, right] = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
    const cose = Buffer.concat([Buffer.from('a5010203262001215820', 'hex'), left, Buffer.from('225820', 'hex'), right]);
    const point = enclave.publicKeyOf(cose);
    expect(hex(point)).toBe(hex(Buffer.concat([left, right])));
    const signature = enclave.rawSignature(sign('sha256', utf8('text'), privateKey));
    expect(enclave.isLowS('P-256', signature)).toBe(true);
    expect(enclave.verify('P-256', point, enclave.sha256(utf8('text')), signature)).toBe(true);
    expect(enclave.verify('P-256', point, enclave.sha256(utf8('other')), signature)).toBe(false);
    expect(reasonOf(() => enclave.publicKeyOf(cose.subarray(1)))).toBe('MALFORMED');
    expect(reasonOf(() => enclave.rawSignature(new Uint8Array(70)))).toBe('MALFORMED');
  });

  test('user operations hash as ox does, also with call data longer than the window', () => {
    for (const callData of ['0x', '0xab', `0x${'5a'.repeat(20_000)}`] as const) {
      for (const version of ['0.7', '0.8'] as const) {
        const op = { sender: `0x${'1'.repeat(40)}`, nonce: 2n ** 200n + 5n, callData, callGasLimit: 3n } as const;
        const gas = { verificationGasLimit: 4n, preVerificationGas: 5n, maxFeePerGas: 6n, maxPriorityFeePerGas: 7n };
        const entryPoint = `0x${'2'.repeat(40)}` as const;
        const domain = { chainId: 84532, entryPointAddress: entryPoint, entryPointVersion: version };
        const expected = UserOperation.hash({ ...op, ...gas, signature: '0x' }, domain);
        const packed = { ...op, ...gas, initCode: '0x', paymasterAndData: '0x' };
        expect(`0x${hex(enclave.userOpHash(packed, { version, entryPoint, chainId: 84532 }))}`).toBe(expected);
      }
    }
  });

  test('what a key of an account of the second kind signs, as ox encodes the typed struct', () => {
    const types = {
      VaultOperation: [
        { name: 'userOpHash', type: 'bytes32' },
        { name: 'validUntil', type: 'uint48' },
      ],
    } as const;
    for (const validUntil of [1, 1_800_000_000, 2 ** 47 - 1]) {
      const userOpHash = Hex.random(32);
      const data = { userOpHash, validUntil };
      const expected = TypedData.hashStruct({ types, primaryType: 'VaultOperation', data });
      expect(`0x${hex(enclave.operationDigest(Hex.toBytes(userOpHash), validUntil))}`).toBe(expected);
    }
    expect(() => enclave.operationDigest(new Uint8Array(31), 1)).toThrow('expected 32 bytes, not 31');
  });

  test('numbers and texts that do not fit are refused before the enclave sees them', () => {
    const op = { sender: '0x', nonce: 0n, initCode: '0x', callData: '0x', paymasterAndData: '0x' };
    const gas = { verificationGasLimit: 0n, callGasLimit: 0n, preVerificationGas: 0n };
    const fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
    const domain = { version: '0.7', entryPoint: `0x${'2'.repeat(40)}`, chainId: 1 } as const;
    const hash = (part: object) => () => enclave.userOpHash({ ...op, ...gas, ...fees, ...part }, domain);
    const sender = `0x${'1'.repeat(40)}`;
    expect(hash({})).toThrow('expected 20 bytes, not 0');
    expect(hash({ sender, nonce: -1n })).toThrow(RangeError);
    expect(hash({ sender, callGasLimit: 2n ** 128n })).toThrow(RangeError);
    expect(hash({ sender, callData: '0xabc' })).toThrow(TypeError);
    expect(hash({ sender, callData: 'zz' })).toThrow(TypeError);
    expect(hash({ sender })().length).toBe(32);
  });

  test('names and DIDs hash as the server does', () => {
    for (const name of ['alice', 'a-b_c.9', 'ü@example.com']) {
      expect(`0x${toHex(enclave.aliasHash(name))}`).toBe(aliasHash(name));
      expect(`0x${toHex(enclave.didHash(`did:new:${name}`))}`).toBe(didHash(`did:new:${name}`));
    }
  });
});

describe('keys', () => {
  test('sixteen at a time, and a dropped one makes room', () => {
    const keys = Array.from({ length: 20 }, () => {
      try {
        return enclave.createKey();
      } catch {
        return undefined;
      }
    }).filter((key) => key !== undefined);
    expect(reasonOf(() => enclave.createKey())).toBe('SLOTS_FULL');
    keys[0]?.drop();
    expect(reasonOf(() => keys[0]?.sign(new Uint8Array(32)))).toBe('NO_KEY');
    expect(reasonOf(() => keys[0]?.drop())).toBe('NO_KEY');
    const last = enclave.createKey('Ed25519');
    expect(last.publicKey.length).toBe(32);
    for (const key of [...keys.slice(1), last]) key.drop();
  });

  test('the address of a secp256k1 key, and a signature with its parity, are those that Ethereum’s tools know', async () => {
    for (let i = 0; i < 40; i++) {
      const key = enclave.createKey('secp256k1');
      const address = enclave.ethereumAddress(key.publicKey);
      expect<string>(address).toBe(publicKeyToAddress(`0x04${hex(key.publicKey)}`));
      const digest = enclave.keccak256(utf8(`message ${i}`));
      const { signature, parity } = key.signRecoverable(digest);
      expect(hex(signature)).toBe(hex(key.sign(digest)));
      const [r, s] = [Hex.fromBytes(signature.slice(0, 32)), Hex.fromBytes(signature.slice(32))];
      const given = serializeSignature({ r, s, yParity: parity });
      expect(await recoverAddress({ hash: Hex.fromBytes(digest), signature: given })).toBe(address as Hex.Hex);
      const other = serializeSignature({ r, s, yParity: 1 - parity });
      expect(await recoverAddress({ hash: Hex.fromBytes(digest), signature: other })).not.toBe(address as Hex.Hex);
      key.drop();
    }
  });

  test('the parity of a P-256 signature recovers its key too, and Ed25519 has none', () => {
    for (let i = 0; i < 20; i++) {
      const key = enclave.createKey('P-256');
      const digest = enclave.sha256(Uint8Array.of(i));
      const { signature, parity } = key.signRecoverable(digest);
      const [r, s] = [Hex.fromBytes(signature.slice(0, 32)), Hex.fromBytes(signature.slice(32))];
      const recovered = P256.recoverPublicKey({ payload: digest, signature: { r, s, yParity: parity } });
      expect(PublicKey.toHex(recovered, { includePrefix: false })).toBe(`0x${hex(key.publicKey)}`);
      key.drop();
    }
    const key = enclave.createKey('Ed25519');
    expect(reasonOf(() => key.signRecoverable(new Uint8Array(32)))).toBe('CURVE');
    key.drop();
    expect(reasonOf(() => key.signRecoverable(new Uint8Array(32)))).toBe('NO_KEY');
  });

  test('a public key in compressed form is what a did:key is made of', () => {
    for (const curve of ['P-256', 'secp256k1'] as const) {
      const parities = new Set<number>();
      // Of twenty keys all may have one parity.
      for (let i = 0; i < 20 || (parities.size < 2 && i < 200); i++) {
        const key = enclave.createKey(curve);
        const compressed = enclave.compressedKey(key.publicKey);
        const { Point } = (curve === 'P-256' ? P256 : Secp256k1).noble;
        expect(hex(Point.fromHex(hex(compressed)).toBytes(false))).toBe(`04${hex(key.publicKey)}`);
        parities.add(compressed[0] ?? 0);
        key.drop();
      }
      expect([...parities].sort()).toEqual([2, 3]);
    }
    expect(() => enclave.compressedKey(new Uint8Array(32))).toThrow('expected 64 bytes, not 32');
  });

  test('a slot that was given away again is not the old key’s any more', () => {
    const old = enclave.createKey();
    old.drop();
    const next = enclave.createKey();
    expect(reasonOf(() => old.sign(new Uint8Array(32)))).toBe('NO_KEY');
    expect(reasonOf(() => old.drop())).toBe('NO_KEY');
    next.drop();
  });

  test('shares make the box again, too few or damaged ones do not', () => {
    const secret = new Uint8Array(32).fill(9);
    const key = enclave.createKey();
    const box = key.seal(secret);
    key.drop();
    const [a, b, c] = enclave.splitBox(box, 2, 3) as [Uint8Array, Uint8Array, Uint8Array];
    expect(enclave.joinBox([a, c])).toEqual(box);
    expect(enclave.joinBox([c, b])).toEqual(box);
    for (const few of [[a], [a, a], [a, b.map((byte, i) => (i === 30 ? byte ^ 1 : byte))], []])
      expect(['SHARES', 'LENGTH']).toContain(String(reasonOf(() => enclave.joinBox(few))));
    expect(enclave.joinBox(enclave.splitBoxInTwo(box))).toEqual(box);
    expect(reasonOf(() => enclave.splitBox(box, 1, 3))).toBe('LENGTH');
    expect(reasonOf(() => enclave.splitBox(box, 10 ** 9, 10 ** 9))).toBe('LENGTH');
    expect(reasonOf(() => enclave.splitBox(box, 2, 2 ** 32))).toBe('LENGTH');
    expect(reasonOf(() => enclave.splitBox(new Uint8Array(161), 2, 3))).toBe('MALFORMED');
    expect(reasonOf(() => enclave.joinBox([a, b.subarray(1)]))).toBe('SHARES');
    const most = enclave.splitBox(box, 16, 16);
    expect(enclave.joinBox(most)).toEqual(box);
    expect(reasonOf(() => enclave.joinBox(most.slice(1)))).toBe('SHARES');
  });

  test('a forged or damaged share is named where the others are enough, and never joined', () => {
    const key = enclave.createKey('Ed25519');
    const box = key.seal(new Uint8Array(32).fill(9));
    key.drop();
    const shares = enclave.splitBox(box, 3, 6);
    const other = enclave.splitBox(box, 3, 6);
    const refusal = (given: readonly Uint8Array[]): unknown => {
      try {
        return enclave.joinBox(given);
      } catch (error) {
        return error instanceof EnclaveError ? [error.reason, ...error.shares] : error;
      }
    };
    const forge = (share: Uint8Array, at: number) => {
      const forged = share.map((byte, i) => (i === at ? byte ^ 5 : byte));
      forged.set(enclave.sha256(forged.subarray(0, -8)).subarray(0, 8), forged.length - 8);
      return forged;
    };
    const [first, second] = shares as [Uint8Array, Uint8Array];
    const place = (at: number, share: Uint8Array, count = shares.length) =>
      shares.slice(0, count).map((one, i) => (i === at ? share : one));
    expect(refusal(place(2, forge(shares[2] ?? first, 50)))).toEqual(['FORGED', 2]);
    expect(refusal(place(0, forge(first, 50), 4))).toEqual(['FORGED', 0]);
    // As many as are needed: noticed, but it may be any of them.
    expect(refusal(place(0, forge(first, 50), 3))).toEqual(['FORGED']);
    expect(refusal([forge(first, 60), shares[2], forge(second, 70), ...shares.slice(3)] as Uint8Array[])).toEqual([
      ...['FORGED', 0, 2],
    ]);
    // Version, threshold, index, split and mark; a damaged one; one of another split; one cut short.
    for (const at of [3, 5, 7, 9, first.length - 20]) expect(refusal(place(1, forge(second, at)))).toContain(1);
    expect(refusal(place(4, first.with(80, 1 ^ (first[80] ?? 0))))).toEqual(['SHARES', 4]);
    expect(refusal(place(5, other[5] ?? first))).toEqual(['SHARES', 5]);
    expect(refusal(place(5, first.subarray(1)))).toEqual(['SHARES', 5]);
    expect(refusal([...shares, first])).toEqual(['SHARES']);
    expect(refusal([...shares.slice(0, 2), ...other.slice(2, 4)])).toEqual(['SHARES']);
    expect(refusal(Array.from({ length: 17 }, () => first))).toEqual(['LENGTH']);
  });
});
