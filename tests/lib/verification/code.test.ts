import { expect, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import { codeDigest, passDigest } from '../../../lib/verification/code.ts';

const pepper = Uint8Array.from({ length: 32 }, (_, i) => i);
const id = `${'0'.repeat(31)}1`;

test('a code is stored as HMAC-SHA256 under the pepper over channel, identifier, id and code', () => {
  expect(codeDigest(pepper, 'email:alice@example.com', id, '042137')).toBe(
    'ae475009743a06af141148048f137ee53717dbe7b095b77bef26f22cd2af8fb6',
  );
});

test('another pepper, channel, identifier, id or code gives another digest, also where their texts run together', () => {
  const digests = [
    codeDigest(pepper, 'email:alice@example.com', id, '042137'),
    codeDigest(pepper.toReversed(), 'email:alice@example.com', id, '042137'),
    codeDigest(pepper, 'sms:alice@example.com', id, '042137'),
    codeDigest(pepper, 'email:alice@example.co', id, '042137'),
    codeDigest(pepper, 'email:alice@example.co', `m${id}`, '042137'),
    codeDigest(pepper, 'email:alice@example.com', `${id}0`, '42137'),
    codeDigest(pepper, 'email:alice@example.com', id, '042138'),
    codeDigest(pepper, 'email:alice@example.com', id, '42137'),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});

test('a digest does not depend on those before it', () => {
  const other = pepper.toReversed();
  const digests = () => [
    codeDigest(pepper, 'email:alice@example.com', id, '042137'),
    passDigest('m5d3k9ab-0123456789abcdef0123456789abcdef'),
    codeDigest(other, 'sms:+14155550100', id, '1'),
    codeDigest(pepper, `email:${'a'.repeat(200)}@example.com`, id, '042137'),
  ];
  const text = (rest: string) => `vault/code/v1\0${rest}`;
  const hmac = (key: Uint8Array, rest: string) => createHmac('sha256', key).update(text(rest)).digest('hex');
  const expected = [
    hmac(pepper, `email:alice@example.com\0${id}\x00042137`),
    createHash('sha256').update('vault/pass/v1\0m5d3k9ab-0123456789abcdef0123456789abcdef').digest('hex').slice(0, 32),
    hmac(other, `sms:+14155550100\0${id}\x001`),
    hmac(pepper, `email:${'a'.repeat(200)}@example.com\0${id}\x00042137`),
  ];
  expect([digests(), digests().toReversed()]).toEqual([expected, expected.toReversed()]);
});
