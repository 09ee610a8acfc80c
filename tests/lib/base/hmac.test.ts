import { expect, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { toHex } from '../../../lib/base/bytes.ts';
import { hmacDigest, sha256Digest } from '../../../lib/base/hmac.ts';
import { always } from '../../support/property.ts';

const someBytes = fc.uint8Array({ maxLength: 200 });

test('digests of several keys in turn are those of node:crypto', () => {
  always(fc.tuple(someBytes, someBytes, someBytes), ([key, other, bytes]) => {
    for (const one of [key, other, key]) {
      expect(toHex(hmacDigest(one)(bytes))).toBe(createHmac('sha256', one).update(bytes).digest('hex'));
      expect(toHex(sha256Digest(bytes))).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
  });
});
