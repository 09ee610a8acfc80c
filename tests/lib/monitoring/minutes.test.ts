import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createMinutes, nextMinute, quantile } from '../../../lib/monitoring/minutes.ts';
import { OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
const others: TestVault[] = [];
beforeEach(async () => {
  t = await startVault();
});
afterEach(async () => {
  for (const one of others.splice(0)) await one.stop();
  await t.stop();
});

const history = async (range = 'hour', vault = t) =>
  (await vault.call('GET /v1/console/history', { range }, OPERATOR)).body;
const send = (name: string, vault = t) =>
  vault.call('POST /api/verify/send', { identifier: `${name}@example.com`, channel: 'email' });
const minute = async (vault = t) => {
  await vault.clock.advance(60_000);
  await vault.work();
};

test('what a minute had is there after a restart, and what the process has not written yet is there at once', async () => {
  await t.work();
  await send('ada');
  await minute();
  await send('eve');
  const now = await history();
  expect(now.points).toHaveLength(60);
  expect(now.step_seconds).toBe(60);
  expect(now.totals['sends.accepted']).toBe(2);
  expect(now.points.map((one: { sends: number | null }) => one.sends).filter((one: number | null) => one)).toEqual([
    1, 1,
  ]);
  expect(now.points.at(-1).p95_ms).toBeGreaterThan(0);
  const other = await startVault({}, { database: t.database, clock: t.clock });
  others.push(other);
  const after = await history('hour', other);
  expect(after.totals['sends.accepted']).toBe(1);
});

test('a minute that no process lived is no zero', async () => {
  await t.work();
  await minute();
  const { points } = await history();
  const requests = points.map((one: { requests: number | null }) => one.requests);
  // It has lived for a minute: the two at the end are known, and nothing happened.
  expect(requests.slice(-2)).toEqual([0, 0]);
  expect(requests.slice(0, -2)).toEqual(Array.from({ length: 58 }, () => null));
  expect(points.at(-1).p95_ms).toBeNull();
});

test('two processes on a database are summed', async () => {
  const other = await startVault({}, { database: t.database, clock: t.clock });
  others.push(other);
  for (const one of [t, other]) await one.work();
  await send('ada');
  await send('eve', other);
  await minute();
  await other.work();
  for (const one of [t, other]) expect((await history('hour', one)).totals['sends.accepted']).toBe(2);
});

test('a day has steps of a quarter of an hour, and older minutes are removed', async () => {
  await t.work();
  await send('ada');
  await minute();
  const { points, step_seconds, totals } = await history('day');
  expect([points.length, step_seconds, totals['sends.accepted']]).toEqual([96, 900, 1]);
  const before = (await t.rows('SELECT count(*) AS n FROM minutes'))[0]?.['n'];
  expect(before).toBe(2);
  await t.clock.advance(25 * 3_600_000);
  await t.work();
  expect((await t.rows('SELECT count(*) AS n FROM minutes'))[0]?.['n']).toBe(1);
  expect((await t.call('GET /v1/console/history', { range: 'year' }, OPERATOR)).status).toBe(400);
});

test('a clean-up that has more to do writes no second minute', async () => {
  await t.work();
  for (let i = 0; i < 3; i++) await t.work();
  expect((await t.rows('SELECT count(*) AS n FROM minutes'))[0]?.['n']).toBe(1);
});

test('a quantile lies inside its bucket, at its bound for one beyond the last, and there is none of nothing', () => {
  expect(quantile({}, 0.95)).toBeNull();
  // All in the bucket from 0.5 to 1 ms.
  expect(quantile({ 'latency.1': 100 }, 0.5)).toBeCloseTo(0.75);
  expect(quantile({ 'latency.14': 1 }, 0.95)).toBe(10_000);
  expect(quantile({ 'latency.0': 50, 'latency.6': 50 }, 0.95)).toBeCloseTo(47.5);
});

test('a minute keeps the hundred most frequent refusals: who asks for everything does not fill the table', () => {
  const metrics = createMetrics();
  const counter = metrics.counter('vault_refusals_total');
  for (let i = 1; i <= 150; i++) counter.add({ route: `/r${i}`, error: 'not_found' }, i);
  metrics.counter('vault_http_requests_total').add({ route: '/api/status', method: 'GET', status: '200' });
  const { statements } = nextMinute({ clock: t.clock, metrics, minutes: createMinutes() });
  const counts = JSON.parse(String(statements[0]?.args['counts']));
  const refused = Object.keys(counts).filter((key) => key.startsWith('refused.'));
  expect([refused.length, counts['refused.not_found /r51'], counts['refused.not_found /r50']]).toEqual([
    100,
    51,
    undefined,
  ]);
  expect(counts['requests.2xx']).toBe(1);
});
