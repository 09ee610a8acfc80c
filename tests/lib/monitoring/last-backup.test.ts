import { afterEach, beforeEach, expect, test } from 'bun:test';
import { HOUR_MS, MINUTE_MS } from '../../../lib/base/clock.ts';
import { BACKUP_OLD_MS, noteBackup } from '../../../lib/monitoring/last-backup.ts';
import { OPERATOR } from '../../support/events.ts';
import { writePeople } from '../../support/many-people.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

const MB = 1_000_000;

async function note(madeAt: number, place = 's3://tea/vault'): Promise<void> {
  const { sql, args } = noteBackup({ madeAt, bytes: 12 * MB, place });
  await t.database.execute({ sql, args: { ...args } });
}

/** What the alert, the console and the doctor have of it a minute later. */
async function shown() {
  await t.clock.advance(MINUTE_MS);
  await t.work();
  const { text } = await t.call('GET /metrics');
  const [, seconds] = /^vault_backup_last_success_timestamp_seconds (\S+)$/m.exec(text) ?? [];
  const { body: overview } = await t.call('GET /v1/console/overview', {}, OPERATOR);
  const { body: report } = await t.call('GET /v1/console/doctor', {}, OPERATOR);
  const found = report.checks.find(({ name }: { name: string }) => name === 'backup');
  return { seconds: seconds && Number(seconds), overview: overview.backup, doctor: `${found.state} ${found.text}` };
}

const NONE = { made_at: null, bytes: null, place: null };

test('a vault that nobody has registered at needs none', async () => {
  expect(await shown()).toEqual({
    seconds: undefined,
    overview: { ...NONE, due: false },
    doctor: 'ok none yet, and nobody has registered',
  });
});

test('one is due from the first registration on, and the metric is 0 until there is one', async () => {
  await writePeople(t.database, 1);
  expect(await shown()).toEqual({ seconds: 0, overview: { ...NONE, due: true }, doctor: 'warn none is known' });
});

test('the newest is shown with its age, place and size, and is old after a day and a half', async () => {
  await writePeople(t.database, 1);
  const madeAt = t.clock.now() - 3 * HOUR_MS;
  await note(madeAt - HOUR_MS, '/mnt/before');
  await note(madeAt);
  const made = { made_at: new Date(madeAt).toISOString(), bytes: 12 * MB, place: 's3://tea/vault' };
  expect(await shown()).toEqual({
    seconds: madeAt / 1000,
    overview: { ...made, due: false },
    doctor: 'ok the last one was made 3 h ago, to s3://tea/vault, 12.0 MB',
  });
  await t.clock.advance(madeAt + BACKUP_OLD_MS - MINUTE_MS - t.clock.now());
  expect((await shown()).overview).toEqual({ ...made, due: false });
  expect(await shown()).toEqual({
    seconds: madeAt / 1000,
    overview: { ...made, due: true },
    doctor: 'warn the last one was made 36 h ago, to s3://tea/vault, 12.0 MB',
  });
});
