import { expect, test } from 'bun:test';
import { planOf, refusedScans, refusingScans, scanIn } from './plans.ts';
import { settled } from './settled.ts';
import { startVault } from './vault.ts';

test('a scan of a growing table is found under any name, and by any index that holds all rows', () => {
  const one = `SELECT did FROM registrations AS one WHERE one.status = 'confirmed'`;
  expect(planOf(one)).toEqual(['SCAN one']);
  expect(scanIn(one, planOf(one))).toBe('SCAN one');
  expect(scanIn('SELECT 1 FROM codes', ['SCAN codes USING COVERING INDEX codes_by_ip'])).toContain('codes_by_ip');
  expect(scanIn('DELETE FROM events WHERE at < 1', ['SCAN events'])).toBe('SCAN events');
});

test('small tables, open rows and a few rows from an end are no finding', () => {
  expect(scanIn('SELECT * FROM follower', ['SCAN follower'])).toBeUndefined();
  expect(scanIn('SELECT 1 FROM payments', ['SCAN payments USING INDEX payments_open'])).toBeUndefined();
  const newest = 'SELECT * FROM recoveries ORDER BY id DESC LIMIT :limit';
  expect(scanIn(newest, ['SCAN recoveries'])).toBeUndefined();
});

test('a test vault refuses a statement that reads a growing table from end to end', async () => {
  const t = await startVault();
  const sql = `SELECT controller FROM registrations WHERE identifier = :identifier AND status = 'confirmed'`;
  await t.call('GET /api/status');
  await t.call('GET /api/sessions/status');
  const statement = { sql, args: { identifier: 'email:a@b.de' } };
  expect(await settled(refusingScans(t.database).execute(statement))).toThrow('SCAN registrations');
  expect(refusedScans()).toHaveLength(1);
  await t.stop();
});
