import { expect, test } from 'bun:test';
import { temporaryFolder } from '../../support/databases.ts';
import { OPERATOR } from '../../support/events.ts';
import { startVault, VAULT_SECRET } from '../../support/vault.ts';

test('a key that is another than at the last start is told of once, however often the vault starts', async () => {
  const folder = temporaryFolder();
  const other = VAULT_SECRET.split('').toReversed().join('');
  const start = async (vars: Readonly<Record<string, string>> = {}) => {
    const t = await startVault(vars, { dir: folder.path });
    await t.work();
    await t.work();
    const rows = await t.rows(`SELECT data FROM events WHERE type = 'key.rotated' ORDER BY id`);
    const marks = JSON.stringify(await t.rows('SELECT * FROM key_marks'));
    await t.stop();
    expect(marks).not.toContain(other.slice(0, 16));
    return rows.map(({ data }) => JSON.parse(String(data)).key);
  };
  expect(await start()).toEqual([]);
  expect(await start()).toEqual([]);
  expect(await start({ ATTESTATION_SIGNING_KEY: `${other},${VAULT_SECRET}` })).toEqual(['attestation']);
  expect(await start({ ATTESTATION_SIGNING_KEY: other, OPERATOR_SECRET: other })).toEqual(['attestation', 'operator']);
  expect(await start({ ATTESTATION_SIGNING_KEY: other, OPERATOR_SECRET: other })).toEqual(['attestation', 'operator']);
  folder.remove();
});

test.each(['ATTESTATION_SIGNING_KEY', 'VAULT_SECRET', 'OPERATOR_SECRET'])(
  'another %s ends the tokens of all operators, and says so; the same one ends none',
  async (setting) => {
    const folder = temporaryFolder();
    const start = async (vars: Readonly<Record<string, string>> = {}) => {
      const t = await startVault(vars, { dir: folder.path });
      await t.work();
      return t;
    };
    const first = await start();
    for (const name of ['ada', 'bob']) {
      const { status } = await first.call('POST /v1/console/operators', { name, role: 'operator' }, OPERATOR);
      expect(status).toBe(200);
    }
    await first.stop();
    const same = await start();
    expect(await same.rows('SELECT name FROM operators')).toHaveLength(2);
    await same.stop();
    const rotated = await start({ [setting]: VAULT_SECRET.split('').toReversed().join('') });
    expect(await rotated.rows('SELECT name FROM operators')).toEqual([]);
    const told = await rotated.rows(`SELECT data FROM events WHERE type = 'operator.all_revoked'`);
    expect(told).toEqual([{ data: '{"reason":"key"}' }]);
    await rotated.stop();
    folder.remove();
  },
);

test('a start with another VAULT_SECRET than the database was used with says so in the log, once', async () => {
  const folder = temporaryFolder();
  const said = async (secret: string) => {
    const t = await startVault({ VAULT_SECRET: secret, ATTESTATION_SIGNING_KEY: VAULT_SECRET }, { dir: folder.path });
    await t.work();
    const found = t.entries.filter(({ event }) => event === 'key_replaced');
    await t.stop();
    return found.map(({ level, key, message }) => [level, key, message]);
  };
  const other = VAULT_SECRET.split('').toReversed().join('');
  expect(await said(VAULT_SECRET)).toEqual([]);
  expect(await said(VAULT_SECRET)).toEqual([]);
  expect(await said(other)).toEqual([['warn', 'vault', expect.stringContaining('VAULT_SECRET is not the one')]]);
  expect(await said(other)).toEqual([]);
  folder.remove();
});
