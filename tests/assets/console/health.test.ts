import { expect, test } from 'bun:test';
import { readHealth } from '../../../assets/console/health.ts';
import type { Overview } from '../../../assets/console/overview.ts';

const AT = '2026-01-15T09:30:00.000Z';
const before = (seconds: number) => new Date(Date.parse(AT) - 1000 * seconds).toISOString();

const QUIET: Overview = {
  at: AT,
  client: '127.0.0.1',
  version: '0',
  live: true,
  apps: [],
  account_kinds: [],
  events: { types: [], channels: [], first_id: 0, last_id: 0 },
  counters: { requests: {}, sends: {}, verifications: {}, sessions: {}, registrations: {} },
  latency: [],
  limits: {},
  guessing: {},
  upstreams: {},
  delivery: { email: { provider: 'smtp', messages: {} }, sms: { provider: 'none', messages: {} } },
  calls: {},
  configured: { registry: true, indexer: false, follower: true, relay: true, webhooks: false },
  database: { state: 'writable', queries: {}, connections: { used: 0, max: 10, waiting: 0 }, log: null },
  doctor: null,
  backup: { made_at: null, bytes: null, place: null, due: false },
  relay: { trouble: null, balance: 1.5, open: {} },
  clock: { off_ms: 0 },
  follower: { block: 15, lag: 0, silent_ms: 1_000 },
};
const FAILING = { ok_at: before(600), failed_at: before(12), fault: 'unreachable (ConnectionRefused)' };
const LOG = { bytes: 4_200_000, checkpoint_age_ms: 59_000 };
const BACK = { ok_at: before(5), failed_at: before(12), fault: 'timeout' };

const CASES: readonly (readonly [string, Partial<Overview>, string, string, RegExp])[] = [
  ['mail that nobody has sent', {}, 'Mail', 'quiet', /nothing sent yet/],
  [
    'mail whose server is away',
    {
      calls: { email: FAILING },
      delivery: { ...QUIET.delivery, email: { provider: 'smtp', messages: { failed: 3 } } },
    },
    'Mail',
    'bad',
    /the last mail failed.*3 failed.*Last failure 12 s ago: unreachable \(ConnectionRefused\).*Last worked 10 min ago/,
  ],
  [
    'mail that works again',
    { calls: { email: BACK } },
    'Mail',
    'good',
    /ok.*Last failure 12 s ago.*Last worked 5 s ago/,
  ],
  ['a vault that nobody has registered at', {}, 'Backup', 'quiet', /none yet.*Nobody has registered/],
  [
    'a vault that was never backed up',
    { backup: { made_at: null, bytes: null, place: null, due: true } },
    'Backup',
    'warn',
    /none is known.*vault backup/,
  ],
  [
    'a backup of today',
    { backup: { made_at: before(3 * 3_600), bytes: 12_300_000, place: 's3://tea/vault', due: false } },
    'Backup',
    'good',
    /ok.*Last backup 3 h ago, to s3:\/\/tea\/vault\..*12\.3 MB/,
  ],
  [
    'a backup of last week',
    { backup: { made_at: before(7 * 86_400), bytes: 12_300_000, place: '/mnt/kept', due: true } },
    'Backup',
    'warn',
    /old.*Last backup 7 d ago, to \/mnt\/kept/,
  ],
  [
    'backups while the database is away',
    { backup: null, database: { ...QUIET.database, state: 'unavailable' } },
    'Backup',
    'warn',
    /unknown.*does not answer/,
  ],
  ['a log that is in the file', { database: { ...QUIET.database, log: LOG } }, 'Database', 'good', /writable/],
  [
    'a log whose checkpoints fail',
    { database: { ...QUIET.database, log: { ...LOG, checkpoint_age_ms: 361_000 } } },
    'Database',
    'warn',
    /its log grows.*has 4\.2 MB, and was last in the file 6 min ago/,
  ],
  [
    'a long log that another program is to bring into the file',
    { database: { ...QUIET.database, log: { bytes: 80_000_000, checkpoint_age_ms: null } } },
    'Database',
    'warn',
    /its log grows.*has 80 MB/,
  ],
  ['SMS that is switched off', {}, 'SMS', 'unused', /not in use.*SMS_PROVIDER is none/],
  [
    'codes that go to the log',
    { calls: { email: BACK }, delivery: { ...QUIET.delivery, email: { provider: 'log', messages: {} } } },
    'Mail',
    'warn',
    /nothing is sent.*printed to the log: 0 .*Set EMAIL_PROVIDER/,
  ],
  ['a follower that reads', {}, 'Follower', 'good', /up to date.*Block 15/],
  [
    'a follower whose node is away from the start',
    { follower: null, calls: { rpc: { ...FAILING, ok_at: null } } },
    'Follower',
    'bad',
    /node does not answer.*None has worked since the start/,
  ],
  ['a follower that has just started', { follower: null }, 'Follower', 'quiet', /starting/],
  [
    'a follower without a registry',
    { follower: null, configured: { ...QUIET.configured, follower: false, registry: false } },
    'Follower',
    'unused',
    /not in use.*DID_REGISTRY_ADDRESS/,
  ],
  [
    'a relay that has never seen its node',
    { relay: { trouble: null, balance: null, open: {} }, calls: { rpc: FAILING } },
    'Relay',
    'bad',
    /node does not answer/,
  ],
  [
    'a database that is away',
    { database: { ...QUIET.database, state: 'unavailable' }, relay: null, follower: null },
    'Relay',
    'warn',
    /unknown/,
  ],
  [
    'an upstream that fails',
    { upstreams: { rpc: { ok: 5, unreachable: 1 } }, calls: { rpc: FAILING } },
    'Upstreams',
    'bad',
    /failing: rpc.*Last failure 12 s ago/,
  ],
  [
    'an upstream that is back',
    { upstreams: { rpc: { ok: 6, timeout: 1 } }, calls: { rpc: BACK } },
    'Upstreams',
    'good',
    /ok/,
  ],
];

test.each(CASES)('%s', (_, more, name, state, words) => {
  const part = readHealth({ ...QUIET, ...more }).find((one) => one.name === name);
  expect(part?.state).toBe(state as never);
  expect([part?.word, ...(part?.details ?? [])].join(' ')).toMatch(words);
});
