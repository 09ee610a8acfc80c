import { expect, test } from 'bun:test';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { rawSignature } from '../../../client/wallet/der.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const sign = (text: string, dsaEncoding: 'der' | 'ieee-p1363') =>
  createSign('sha256').update(text).sign({ key: privateKey, dsaEncoding });

test('r and s are those of the signature, whatever their length', () => {
  for (let i = 0; i < 300; i++) {
    const der = sign(String(i), 'der');
    const raw = Buffer.from(rawSignature(der));
    const [r, s] = [raw.subarray(0, 32), raw.subarray(32)];
    // DER has each of them once, as its last bytes.
    const integer = (bytes: Buffer) => bytes.toString('hex').replace(/^(?:00)+/, '');
    expect(der.toString('hex').endsWith(integer(s))).toBe(true);
    expect(der.toString('hex')).toContain(integer(r));
  }
});

test.each([
  ['nothing', ''],
  ['another length of the whole', '3007020101020101'],
  ['what is no sequence', '31060201010201 01'],
  ['an integer that is longer than the rest', '300602010102ff01'],
  ['something behind it', '300602010102010100'],
  ['another type', '3006030101020101'],
  ['33 bytes', `3026022201${'01'.repeat(33)}020101`],
])('%s is no signature', (_, hex) => {
  expect(() => rawSignature(Buffer.from(hex.replaceAll(' ', ''), 'hex'))).toThrow(TypeError);
});
