import { afterEach, beforeEach, expect, test } from 'bun:test';
import { recheckSessions, unlinkAskedSession } from '../../../lib/sessions/link-store.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({});
});
afterEach(() => t.stop());

const ALIAS = `0x${'a1'.repeat(32)}`;
const ALWAYS = { sql: 'true', args: {} };

test.each<[string, string, number, number | null]>([
  ['freed in the first block of the range', 'AliasFreed', 10, 7],
  ['freed after it', 'AliasFreed', 11, 7],
  ['freed before', 'AliasFreed', 9, null],
  ['registered', 'AliasRegistered', 10, null],
])('the chain is asked about a linked session only where its alias was freed: %s', async (_, kind, block, askAt) => {
  await t.rows(
    `INSERT INTO sessions (identifier, did, ip, created_at, expires_at, linked, alias_hash)
      VALUES ('handle:alice', 'did:key:zAlice', '203.0.113.7', 1, 2, 1, :alias)`,
    { alias: ALIAS },
  );
  await t.rows(`INSERT INTO chain_events VALUES (:block, 0, '0x', '0x', :kind, :alias, NULL, NULL)`, {
    block,
    kind,
    alias: ALIAS,
  });
  await t.database.batch([recheckSessions(10, 7, ALWAYS)], 'write');
  expect((await t.rows('SELECT ask_at FROM sessions'))[0]?.['ask_at'] ?? null).toBe(askAt);
});

test('a session whose alias leads nowhere any more stays linked while a registration of its DID holds the handle', async () => {
  const who = { identifier: 'alice', channel: 'handle', did: 'did:key:zAlice' };
  const claim = { ...who, credentialId: 'A'.repeat(22), txHash: `0x${'7e'.repeat(32)}` };
  expect((await t.call('POST /api/dids', claim)).status).toBe(200);
  const unlink = async () => {
    const [row] = await t.rows('UPDATE sessions SET ask_at = 5 RETURNING did_hash');
    const asked = { identifier: 'handle:alice', aliasHash: '', didHash: String(row?.['did_hash']), linked: true };
    await t.database.batch([...unlinkAskedSession({ ...asked, askAt: 5 }, 9, t.clock.now())], 'write');
    return (await t.rows('SELECT linked FROM sessions'))[0]?.['linked'];
  };
  expect(await unlink()).toBe(1);
  await t.rows('UPDATE registrations SET holds = 0');
  expect(await unlink()).toBe(0);
});
