import { expect, test } from 'bun:test';
import { codeDigest } from '../../../lib/verification/code.ts';

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
