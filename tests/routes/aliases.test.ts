import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

describe('GET /api/aliases/check', () => {
  test('§4 aliases/check: availability and the canonical alias hash', async () => {
    const aliasHash = '0xde33a594f790944d1951e9c14e0889a38ebe41fc7d52787426fa31071bd1c4bc';
    const free = await t.call('GET /api/aliases/check', { alias: ' Alice ' });
    expect([free.status, free.body]).toEqual([200, { alias: 'alice', available: true, aliasHash }]);
    const claim = {
      credentialId: 'A'.repeat(22),
      handle: 'alice',
      did: 'did:key:zAlice',
      txHash: `0x${'aa'.repeat(32)}`,
    };
    expect((await t.call('POST /api/dids', claim)).status).toBe(200);
    const taken = await t.call('GET /api/aliases/check', { handle: 'alice' });
    expect(taken.body).toEqual({ alias: 'alice', available: false, aliasHash, reason: 'identifier_taken' });
    const reserved = await t.call('GET /api/aliases/check', { name: 'root' });
    expect(reserved.body).toMatchObject({ available: false, reason: 'identifier_reserved' });
  });

  test.each([
    ['Missing query parameters: alias', {}, undefined],
    ['Invalid alias', { alias: '.alice' }, /^Expected 1 to 64 of a-z, 0-9, dot, underscore and hyphen, /],
    ['Invalid alias', { alias: 'a'.repeat(65) }, /^Expected 1 to 64 of/],
  ])('400 %s', async (error, query, hint) => {
    const reply = await t.call('GET /api/aliases/check', query);
    const said = hint && { hint: expect.stringMatching(hint) };
    expect([reply.status, reply.body]).toEqual([400, { error, ...said }]);
  });
});
