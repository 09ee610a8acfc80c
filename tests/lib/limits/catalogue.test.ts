import { expect, test } from 'bun:test';
import { LIMITS, type LimitName, limitOf } from '../../../lib/limits/catalogue.ts';

/** Each limit of the whole vault, with its share as its row says, in one line. */
const ofVault = Object.keys(LIMITS)
  .map((name) => [name, limitOf(name as LimitName)] as const)
  .filter(([, { bucket }]) => bucket === 'vault');

test('§5.1 every limit that counts for the whole vault has a share per network, or says why it has none', () => {
  for (const [name, limit] of ofVault) {
    const { share, unshared } = { share: undefined, unshared: undefined, ...limit };
    if (share === undefined) expect([name, (unshared ?? '').length > 10]).toEqual([name, true]);
    else {
      const { bucket, max, windowSeconds } = limitOf(share as LimitName);
      expect<unknown>([name, bucket, max, windowSeconds]).toEqual([
        name,
        'network',
        expect.objectContaining({ of: limit.max, share: true }),
        limit.windowSeconds,
      ]);
    }
  }
  expect(ofVault.flatMap(([name, limit]) => ('unshared' in limit ? [name] : []))).toEqual([
    'test-messages',
    'sms-countries',
  ]);
});

test('each share is of a limit of the whole vault', () => {
  const shares = Object.entries(LIMITS).flatMap(([name, { max, bucket }]) =>
    typeof max === 'object' && 'share' in max && bucket === 'network' ? [name] : [],
  );
  expect(shares.sort()).toEqual(ofVault.flatMap(([, limit]) => ('share' in limit ? [limit.share] : [])).sort());
});
