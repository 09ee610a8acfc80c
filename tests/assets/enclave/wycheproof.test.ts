import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEnclave, REFUSED, WINDOW_BYTES } from '../../support/enclave.ts';

const FOLDER = join(import.meta.dir, '../../../../shared/vectors/wycheproof');

const { call, put, get } = openEnclave();
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');

interface Group {
  readonly tests: readonly Record<string, string>[];
  readonly ivSize?: number;
  readonly tagSize?: number;
  readonly publicKey?: { readonly uncompressed: string };
}

interface Case {
  readonly group: Group;
  readonly name: string;
  readonly valid: boolean;
  /** The bytes of a member. */
  at(member: string): Uint8Array;
}

function readCases(file: string): Case[] {
  const { testGroups } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as { testGroups: readonly Group[] };
  return testGroups.flatMap((group) =>
    group.tests.map((one) => ({
      group,
      name: `${one['tcId']} ${one['comment']}`,
      valid: one['result'] === 'valid',
      at: (member: string) => bytes(one[member] ?? ''),
    })),
  );
}

const suites = () => {
  test('ChaCha20-Poly1305: 316 of 325', () => {
    const cases = readCases('chacha20_poly1305_test.json');
    // A nonce is 12 bytes by its type: the nine cases with one of another length, all of them invalid, cannot be put.
    const others = cases.filter(({ group }) => group.ivSize !== 96);
    expect([cases.length, others.length, others.filter(({ valid }) => valid).length]).toEqual([325, 9, 0]);
    for (const { group, name, valid, at } of cases) {
      if (group.ivSize !== 96) continue;
      const [aad, plain, sealed] = [at('aad'), at('msg'), Buffer.concat([at('ct'), at('tag')])];
      const where = () => [put(0, at('key')), put(32, at('iv')), put(64, aad), aad.length] as const;
      put(2048, sealed);
      const opened = call.chacha20poly1305_open(...where(), 2048, sealed.length, 4096);
      expect([name, opened]).toEqual([name, valid ? plain.length : REFUSED.forged]);
      if (!valid) continue;
      expect([name, hex(get(4096, opened))]).toEqual([name, hex(plain)]);
      put(2048, plain);
      const length = call.chacha20poly1305_seal(...where(), 2048, plain.length, 4096);
      expect([name, hex(get(4096, length))]).toEqual([name, hex(sealed)]);
    }
  });

  test('HKDF-SHA-256: all 86', () => {
    const cases = readCases('hkdf_sha256_test.json');
    expect(cases.length).toBe(86);
    for (const { group, name, valid, at } of cases) {
      const size = Number(group.tests.find((one) => `${one['tcId']} ${one['comment']}` === name)?.['size']);
      const [ikm, salt, info] = [at('ikm'), at('salt'), at('info')];
      // The longest output has room only over salt and info, which HKDF has read by then.
      const from = put(WINDOW_BYTES - ikm.length, ikm);
      const inputs = [from, ikm.length, put(0, salt), salt.length, put(256, info), info.length] as const;
      expect([name, call.hkdf_sha256(...inputs, 0, size)]).toEqual([name, valid ? 0 : REFUSED.length]);
      if (valid) expect([name, hex(get(0, size))]).toEqual([name, hex(at('okm'))]);
    }
  });

  test('HMAC-SHA-256: all 174, tags of 128 bits as the start of the whole', () => {
    const cases = readCases('hmac_sha256_test.json');
    expect(cases.length).toBe(174);
    for (const { group, name, valid, at } of cases) {
      const [key, input] = [at('key'), at('msg')];
      call.hmac_sha256(put(0, key), key.length, put(1024, input), input.length, 4096);
      const mac = hex(get(4096, (group.tagSize ?? 256) / 8));
      expect([name, mac === hex(at('tag'))]).toEqual([name, valid]);
    }
  });

  test('ECDSA P-256 in DER, by der_to_raw and p256_verify: all 484', () => {
    const cases = readCases('ecdsa_secp256r1_sha256_test.json');
    expect(cases.length).toBe(484);
    for (const { group, name, valid, at } of cases) {
      const signature = at('sig');
      put(0, signature);
      put(1024, bytes(group.publicKey?.uncompressed ?? '').subarray(1));
      put(1088, createHash('sha256').update(at('msg')).digest());
      const isVerified = call.der_to_raw(0, signature.length, 1120) >= 0 && call.p256_verify(1024, 1088, 1120) === 1;
      expect([name, isVerified]).toEqual([name, valid]);
      if (isVerified) expect([name, call.p256_is_low_s(1120)]).toEqual([name, 1]);
    }
  });
};

if (existsSync(FOLDER)) describe('Wycheproof', suites);
else test.skip('without ../shared/vectors/wycheproof its test vectors are not run', () => {});
