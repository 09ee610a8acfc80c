import { expect, test } from 'bun:test';
import { temporaryFolder } from '../../support/databases.ts';
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
