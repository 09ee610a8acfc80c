import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { manyTimes } from '../../support/draw.ts';
import { bytes, CURVES, hex, publicKey, sha256, sign, verifies } from '../../support/enclave-ecdsa.ts';
import { isLong } from '../../support/long.ts';

const SIGNATURES = isLong ? 2_000 : 400;

/** Verifies in node:crypto of Node, because that of Bun has no secp256k1. */
const IN_NODE = `
  const { createPublicKey, verify } = require('node:crypto');
  const cases = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
  const encoded = (hex) => Buffer.from(hex, 'hex').toString('base64url');
  console.log(JSON.stringify(cases.map(([crv, key, message, signature]) => {
    const jwk = { kty: 'EC', crv, x: encoded(key.slice(0, 64)), y: encoded(key.slice(64)) };
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    return verify('sha256', Buffer.from(message, 'hex'), { key: publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'hex'));
  })));`;

test.skipIf(!Bun.which('node'))(
  `${SIGNATURES} signatures of messages, half of them changed: node:crypto gives the same answers`,
  async () => {
    const cases: [crv: string, key: string, message: string, signature: string][] = [];
    const answers: boolean[] = [];
    manyTimes(SIGNATURES, (draw) => {
      const curve = CURVES[draw.below(2)] ?? CURVES[0];
      const [message, secret] = [draw.upTo(100), hex(curve.group.utils.randomSecretKey(draw.bytes(48)))];
      const key = publicKey(curve, secret) ?? '';
      const signature = bytes(sign(curve, secret, sha256(message))[1]);
      if (draw.below(2)) signature[draw.below(64)] = draw.below(256);
      cases.push([curve.name, key, hex(message), hex(signature)]);
      answers.push(verifies(curve, key, sha256(message), hex(signature)));
    });
    const child = Bun.spawn(['node', '-e', IN_NODE], { stdin: Buffer.from(JSON.stringify(cases)), stdout: 'pipe' });
    expect(await new Response(child.stdout).json()).toEqual(answers);
    expect(new Set(answers).size).toBe(2);
  },
);

const VECTORS = join(import.meta.dir, '../../../../shared/vectors/wycheproof/ecdsa_secp256r1_sha256_p1363_test.json');

interface Vectors {
  readonly testGroups: readonly {
    readonly publicKey: { readonly uncompressed: string };
    readonly tests: readonly { tcId: number; comment: string; msg: string; sig: string; result: string }[];
  }[];
}

test.skipIf(!existsSync(VECTORS))('Wycheproof, ECDSA P-256 as r‖s: all 262, 21 of them by their length', () => {
  const { testGroups } = JSON.parse(readFileSync(VECTORS, 'utf8')) as Vectors;
  let count = 0;
  let short = 0;
  for (const { publicKey: key, tests } of testGroups) {
    for (const { tcId, comment, msg, sig, result } of tests) {
      count++;
      // The interface takes 64 bytes: 21 signatures of another length cannot be put, and none of those is valid.
      const isWhole = sig.length === 128;
      if (!isWhole) short++;
      const valid = isWhole && verifies(CURVES[0], key.uncompressed.slice(2), sha256(bytes(msg)), sig);
      expect([tcId, comment, valid]).toEqual([tcId, comment, result === 'valid']);
    }
  }
  expect([count, short]).toEqual([262, 21]);
});
