import { afterEach, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { insertRow } from '../../support/person-rows.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
afterEach(() => t.stop());

async function fill(): Promise<void> {
  await t.call('GET /readyz');
  const now = t.clock.now();
  for (let i = 0; i < 250; i++) {
    const identifier = `email:ada${i}@example.com`;
    await insertRow(t.database, 'verifications', { identifier, verified_at: now + (i % 2) });
    await insertRow(t.database, 'registrations', {
      identifier,
      id: i + 1,
      status: 'failed',
      registered_at: now + (i % 2),
    });
  }
  await insertRow(t.database, 'verifications', {
    identifier: 'email:guessed@example.com',
    verified_at: now,
    wrong_guesses: 3,
  });
  for (const registration_id of [1, 2])
    await insertRow(t.database, 'relays', {
      registration_id,
      created_at: now + registration_id,
      network: '203.0.113.7',
    });
  for (const [i, linked] of [1, 0].entries())
    await insertRow(t.database, 'sessions', {
      identifier: `email:ada${i}@example.com`,
      linked,
      ip: '203.0.113.7',
      created_at: now,
      expires_at: now + 1000 * DAY_MS,
    });
  await insertRow(t.database, 'events', { type: 'code.sent', channel: 'audit', app: 'default', at: now, data: '{}' });
}

const count = async (sql: string) => Number((await t.rows(`SELECT count(*) AS n FROM ${sql}`))[0]?.['n']);
const state = async () => ({
  verifications: await count('verifications'),
  registrations: await count('registrations'),
  ips: await count(`sessions WHERE ip <> ''`),
  networks: await count(`relays WHERE network <> ''`),
  events: await count('events'),
});

test('each is forgotten at its day, to the millisecond, and what something needs stays', async () => {
  t = await startVault({
    KEEP_VERIFICATIONS_DAYS: '2',
    KEEP_IPS_DAYS: '2',
    KEEP_EVENTS_DAYS: '40',
    REGISTRATIONS_PER_IP_WINDOW_SECONDS: String(4 * 86_400),
  });
  await fill();
  const all = { verifications: 251, registrations: 250, ips: 2, networks: 2, events: 1 };
  await t.clock.advance(2 * DAY_MS - 1);
  await t.work();
  expect(await state()).toEqual(all);
  await t.clock.advance(DAY_MS);
  await t.work();
  const third = { ...all, verifications: 1, networks: 0 };
  expect(await state()).toEqual(third);
  // The rows of even numbers are a millisecond older. A relay needs the first two.
  await t.clock.advance(2 * DAY_MS);
  await t.work();
  expect(await state()).toEqual({ ...third, ips: 1 });
  await t.clock.advance(25 * DAY_MS);
  await t.work();
  expect(await state()).toEqual({ ...third, ips: 1 });
  await t.clock.advance(DAY_MS);
  await t.work();
  expect(await state()).toEqual({ ...third, ips: 1, registrations: 2 });
});

test('without the settings all is kept for good, but events and registrations that failed', async () => {
  t = await startVault();
  await fill();
  await t.clock.advance(1000 * DAY_MS - 1);
  await t.work();
  expect(await state()).toEqual({ verifications: 251, registrations: 2, ips: 2, networks: 2, events: 0 });
});
