import { describe, expect, test } from 'bun:test';
import * as smtp from '../../commands/mail/smtp.ts';
import * as listen from '../../commands/serve/listen.ts';
import * as serve from '../../commands/serve/serve.ts';
import * as stop from '../../commands/serve/stop.ts';
import * as sqlite from '../../commands/storage/connection.ts';
import * as databaseServer from '../../commands/storage/server.ts';
import * as clock from '../../lib/base/clock.ts';
import * as random from '../../lib/base/random.ts';
import * as bundlerClient from '../../lib/bundler/client.ts';
import * as methods from '../../lib/bundler/methods.ts';
import * as nextCheck from '../../lib/chain/receipts.ts';
import * as rpc from '../../lib/chain/rpc.ts';
import { type Config, readConfig } from '../../lib/config/config.ts';
import * as secretParsers from '../../lib/config/secret-parsers.ts';
import * as constants from '../../lib/constants.ts';
import * as databaseErrors from '../../lib/db/errors.ts';
import * as rowLock from '../../lib/db/row-lock.ts';
import * as smtpProvider from '../../lib/delivery/smtp.ts';
import * as idempotency from '../../lib/idempotency/idempotency.ts';
import * as idempotencyStore from '../../lib/idempotency/store.ts';
import * as did from '../../lib/identity/did.ts';
import * as passkey from '../../lib/identity/passkey.ts';
import * as health from '../../lib/monitoring/health.ts';
import * as confirm from '../../lib/registration/confirm.ts';
import * as relayRequest from '../../lib/registration/relay-request.ts';
import * as nonceAtDepth from '../../lib/relay/nonce-at-depth.ts';
import * as relay from '../../lib/relay/relay.ts';
import * as sign from '../../lib/relay/sign.ts';
import * as track from '../../lib/relay/track.ts';
import * as worker from '../../lib/relay/worker.ts';
import * as pass from '../../lib/verification/pass.ts';
import * as bundlerRoute from '../../routes/bundler.ts';
import * as fields from '../../routes/fields.ts';
import * as body from '../../routes/http/body.ts';
import * as idempotencyRoute from '../../routes/http/idempotency.ts';
import * as response from '../../routes/http/response.ts';
import { VAULT_SECRET } from '../support/vault.ts';

/** The limits that have to agree, from the files that use them. */
const limit = {
  ...constants,
  ...smtp,
  ...listen,
  ...serve,
  ...stop,
  ...databaseServer,
  ...sqlite,
  ...clock,
  ...random,
  ...bundlerClient,
  ...methods,
  ...nextCheck,
  ...rpc,
  ...secretParsers,
  ...databaseErrors,
  ...rowLock,
  ...pass,
  ...smtpProvider,
  ...idempotency,
  ...idempotencyStore,
  ...passkey,
  ...did,
  ...health,
  ...confirm,
  ...relayRequest,
  ...relay,
  ...sign,
  ...nonceAtDepth,
  ...track,
  ...worker,
  ...bundlerRoute,
  ...body,
  ...fields,
  ...idempotencyRoute,
  ...response,
};

const configOf = (vars: Readonly<Record<string, string>>) => readConfig({ VAULT_SECRET, ...vars });

describe("the constants of the specification's section 8", () => {
  test.each<[string, number, number, keyof Config]>([
    ['MAX_REGISTRATIONS_PER_IP', limit.MAX_REGISTRATIONS_PER_IP, 3, 'maxRegistrationsPerIp'],
    ['MAX_VERIFY_ATTEMPTS', limit.MAX_VERIFY_ATTEMPTS, 5, 'maxVerifyAttempts'],
    ['EMAIL_CODE_EXPIRY_SECONDS', limit.EMAIL_CODE_EXPIRY_SECONDS, 90, 'emailCodeExpirySeconds'],
    ['RATE_LIMIT_CODES_PER_IDENTIFIER', limit.RATE_LIMIT_CODES_PER_IDENTIFIER, 5, 'rateLimitCodesPerIdentifier'],
    ['MAX_VERIFY_SENDS_PER_IP', limit.MAX_VERIFY_SENDS_PER_IP, 3, 'maxVerifySendsPerIp'],
    ['ATTESTATION_TTL_SECONDS', limit.ATTESTATION_TTL_SECONDS, 300, 'attestationTtlSeconds'],
    ['DATABASE_MAX_CONNECTIONS', limit.DATABASE_MAX_CONNECTIONS, 10, 'databaseMaxConnections'],
    ['STREAM_TOKEN_TTL_SECONDS', limit.STREAM_TOKEN_TTL_SECONDS, 300, 'streamTokenTtlSeconds'],
    ['STREAM_HEARTBEAT_SECONDS', limit.STREAM_HEARTBEAT_SECONDS, 25, 'streamHeartbeatSeconds'],
    ['STREAM_QUEUE_EVENTS_MAX', limit.STREAM_QUEUE_EVENTS_MAX, 1000, 'streamQueueEventsMax'],
    ['SESSION_TTL_SECONDS', limit.SESSION_TTL_SECONDS, 86_400, 'sessionTtlSeconds'],
    ['EMAIL_DAILY_MAX', limit.EMAIL_DAILY_MAX, 20_000, 'emailDailyMax'],
    ['RATE_LIMIT_CODES_PER_NUMBER', limit.RATE_LIMIT_CODES_PER_NUMBER, 5, 'rateLimitCodesPerNumber'],
    ['SMS_DAILY_MAX', limit.SMS_DAILY_MAX, 500, 'smsDailyMax'],
    ['RELAY_DAILY_MAX', limit.RELAY_DAILY_MAX, 100, 'relayDailyMax'],
    ['SPONSOR_DAILY_MAX', limit.SPONSOR_DAILY_MAX, 1000, 'sponsorDailyMax'],
    ['RATE_LIMIT_PROXY_PER_IP', limit.RATE_LIMIT_PROXY_PER_IP, 120, 'rateLimitProxyPerIp'],
    ['RATE_LIMIT_READS_PER_IP', limit.RATE_LIMIT_READS_PER_IP, 300, 'rateLimitReadsPerIp'],
  ])('and of its completions: %s is %i, and can be set', (name, constant, value, member) => {
    expect([constant, configOf({})[member]]).toEqual([value, value]);
    expect(configOf({ [name]: '7' })[member]).toBe(7);
  });

  test.each([
    ['https://vault.example.com', 60],
    ['http://localhost:8787', 6_000],
    ['http://127.0.0.1:8787', 6_000],
  ])('RATE_LIMIT_WRITES_PER_IP with BASE_URL %s is %i, and can be set', (BASE_URL, value) => {
    const vars = { BASE_URL, TRUSTED_PROXIES: 'none', ALLOW_LOG_DELIVERY: 'true' };
    expect(configOf(vars).rateLimitWritesPerIp).toBe(value);
    expect(configOf({ ...vars, RATE_LIMIT_WRITES_PER_IP: '7' }).rateLimitWritesPerIp).toBe(7);
  });
});

test("the completions' sizes, windows and times", () => {
  expect([limit.BODY_BYTES_MAX, limit.BUNDLER_BODY_BYTES_MAX]).toEqual([64 * 1024, 256 * 1024]);
  expect([limit.IDENTIFIER_CHARS_MAX, limit.DID_CHARS_MAX, limit.CREDENTIAL_ID_CHARS_MAX]).toEqual([320, 2048, 1364]);
  expect([limit.CODE_CHARS_MAX, limit.TEXT_CHARS_MAX]).toEqual([32, 1024]);
  expect([limit.CREDENTIAL_ID_BYTES_MIN, limit.CREDENTIAL_ID_BYTES_MAX]).toEqual([16, 1023]);
  expect([limit.REQUEST_ID_CHARS_MAX, limit.IDEMPOTENCY_KEY_CHARS_MAX]).toEqual([128, 255]);
  expect([limit.CODE_DIGITS, limit.WRONG_GUESSES_MAX, limit.STRANGERS_CHECKS_MAX]).toEqual([6, 20, 2]);
  expect([limit.PASS_SENDS_MAX, limit.PASS_GUESSES_MAX, limit.PASS_GRANT_MS]).toEqual([5, 20, 900_000]);
  expect([limit.IDEMPOTENCY_KEEP_MS, limit.PREFLIGHT_MAX_AGE_SECONDS]).toEqual([86_400_000, 86_400]);
  expect([limit.CONFIRMATION_UNSEEN_MS, limit.READY_CACHE_MS]).toEqual([900_000, 2_000]);
  expect([limit.UPSTREAM_TIMEOUT_MS, limit.UPSTREAM_SEND_TIMEOUT_MS]).toEqual([10_000, 20_000]);
  expect([limit.UPSTREAM_ANSWER_BYTES_MAX, limit.SECRET_BYTES_MIN]).toEqual([2 * 1024 * 1024, 32]);
  expect([limit.BUNDLER_BATCH_MAX, limit.RATE_LIMIT_PROXY_PER_IP]).toEqual([10, 120]);
});

/** What has to hold between constants, each with its reason. */
const RELATIONS: readonly (readonly [why: string, smaller: number, larger: number])[] = [
  // A claim's receipt, then its owner's key: two calls behind each other.
  ['a row lease outlives the upstream calls under it', 2 * limit.UPSTREAM_TIMEOUT_MS, limit.ROW_LEASE_MS],
  ['a row lease outlives one write to a slow database', limit.DATABASE_TIMEOUT_MS, limit.ROW_LEASE_MS],
  ['who waits for a row gives up before its lease lapses', limit.ROW_WAIT_MS, limit.ROW_LEASE_MS],
  ['a judgement is noted before its lease lapses', 2 * limit.UPSTREAM_TIMEOUT_MS, limit.CONFIRMATION_LEASE_MS],
  ['a row is asked for more than once', 2 * limit.ROW_RETRY_MS, limit.ROW_WAIT_MS],
  [
    'an idempotency key is held through the longest request',
    limit.ROW_WAIT_MS + limit.ROW_LEASE_MS,
    limit.IDEMPOTENCY_LEASE_MS,
  ],
  [
    'an idempotency key is held through a relay',
    limit.ROW_WAIT_MS + limit.ROW_LEASE_MS + limit.RELAY_WAIT_MS,
    limit.IDEMPOTENCY_LEASE_MS,
  ],
  ['another process takes over while a request waits', 2 * limit.RELAY_LEASE_MS, limit.RELAY_WAIT_MS],
  ['a relay is looked for more than once', 2 * limit.RELAY_POLL_MS, limit.RELAY_WAIT_MS],
  ['a relay is replaced before a revert of it would be believed', limit.RELAY_STUCK_BLOCKS, limit.RELAY_SETTLED_BLOCKS],
  [
    'a revert is believed while re-orgs are watched for',
    limit.RELAY_SETTLED_BLOCKS,
    limit.CONFIRMATION_FINAL_DEPTH_BLOCKS,
  ],
  ['what is under way is looked at in one turn', limit.RELAY_IN_FLIGHT_MAX, limit.RELAY_SENT_MAX],
  [
    'a connection outlives a relay',
    limit.RELAY_WAIT_MS + limit.UPSTREAM_TIMEOUT_MS,
    limit.CONNECTION_IDLE_SECONDS_MIN * 1000,
  ],
  ['an idempotency key is held through a send', limit.MAIL_SEND_TIMEOUT_MS, limit.IDEMPOTENCY_LEASE_MS],
  ['a kept answer outlives its request', limit.IDEMPOTENCY_LEASE_MS, limit.IDEMPOTENCY_KEEP_MS],
  ['a code outlives its mail', limit.MAIL_SEND_TIMEOUT_MS, limit.EMAIL_CODE_EXPIRY_SECONDS * 1000],
  ['a code outlives its SMS', limit.UPSTREAM_TIMEOUT_MS, limit.SMS_CODE_EXPIRY_SECONDS * 1000],
  ['a code lapses before its row is swept', limit.SMS_CODE_EXPIRY_SECONDS * 1000, limit.DAY_MS],
  ['a mail has time for one step with the server', limit.SMTP_STEP_TIMEOUT_MS, limit.MAIL_SEND_TIMEOUT_MS],
  [
    'an attestation lives longer than a registration takes',
    limit.ROW_WAIT_MS + limit.ROW_LEASE_MS,
    limit.ATTESTATION_TTL_SECONDS * 1000,
  ],
  ['an attestation is younger than the session it serves', limit.ATTESTATION_TTL_SECONDS, limit.SESSION_TTL_SECONDS],
  ['a block comes before a thousandth of all codes was tried', limit.WRONG_GUESSES_MAX, 10 ** limit.CODE_DIGITS / 1000],
  ['a draw of 32 bits holds every code', 10 ** limit.CODE_DIGITS, 2 ** 32],
  ['one code takes a few of the guesses', limit.MAX_VERIFY_ATTEMPTS, limit.WRONG_GUESSES_MAX],
  ['one client does not spend the SMS of all', limit.MAX_VERIFY_SENDS_PER_IP, limit.SMS_DAILY_MAX],
  ['a lock is given up before the request', limit.DATABASE_LOCK_TIMEOUT_MS, limit.DATABASE_TIMEOUT_MS],
  ['SQLite sleeps no longer than the pauses between its sleeps', limit.SQLITE_BUSY_WAIT_MS, limit.BUSY_RETRY_MS + 1],
  ['pauses of a busy database grow', limit.BUSY_RETRY_MS, limit.BUSY_RETRY_MAX_MS],
  ['a busy database is tried many times', 10 * limit.BUSY_RETRY_MAX_MS, limit.DATABASE_LOCK_TIMEOUT_MS],
  ['pauses between looks at the chain grow', limit.CONFIRMATION_POLL_MIN_MS, limit.CONFIRMATION_POLL_MAX_MS],
  ['a transaction is looked for more than once', limit.CONFIRMATION_POLL_MAX_MS, limit.CONFIRMATION_UNSEEN_MS],
  ['a batch of confirmations fits one call', limit.CONFIRMATION_BATCH_MAX, limit.RPC_BATCH_MAX],
  ['a batch is a part of what may wait', limit.RPC_BATCH_MAX, limit.RPC_PENDING_MAX],
  ['a batch for the bundler is a part of what may be under way', limit.BUNDLER_BATCH_MAX, limit.BUNDLER_PENDING_MAX],
  ['one client sends several batches a minute', limit.BUNDLER_BATCH_MAX, limit.RATE_LIMIT_PROXY_PER_IP],
  ['work is called before its turn is over', limit.WORK_INTERVAL_MS, limit.WORK_TURN_MS],
  ['a body holds the longest fields', 8 * limit.TEXT_CHARS_MAX + 4 * limit.DID_CHARS_MAX, limit.BODY_BYTES_MAX],
  [
    'a connection outlives the longest upstream call',
    limit.UPSTREAM_SEND_TIMEOUT_MS,
    limit.CONNECTION_IDLE_SECONDS_MIN * 1000,
  ],
  ['a connection outlives two heartbeats', 2 * limit.STREAM_HEARTBEAT_SECONDS, limit.CONNECTION_IDLE_SECONDS_MIN],
  [
    'a stop ends within five seconds',
    limit.STOP_LAST_MS + limit.STOP_ANSWER_MS + limit.STOP_FLUSH_MS + limit.STOP_CLOSE_MS,
    5_000,
  ],
];

const NUMBERS = Object.entries(limit).flatMap(([name, value]) =>
  typeof value === 'number' ? [[name, value] as const] : [],
);

describe('between constants', () => {
  test.each(RELATIONS)('%s: %i < %i', (_, smaller, larger) => {
    expect(smaller).toBeLessThan(larger);
  });

  test('a credential id of so many bytes has so many characters', () => {
    expect(Math.ceil((limit.CREDENTIAL_ID_BYTES_MAX * 4) / 3)).toBe(limit.CREDENTIAL_ID_CHARS_MAX);
  });

  test('every one is a whole number above zero', () => {
    expect(NUMBERS.length).toBeGreaterThan(80);
    expect(NUMBERS.filter(([, value]) => !Number.isSafeInteger(value) || value <= 0)).toEqual([]);
  });

  test('every one ends in its unit, or in what it counts', () => {
    const end =
      /_(?:MS|SECONDS|HOURS|BYTES|MB|CHARS|DIGITS|BLOCKS|ATTEMPTS|CONNECTIONS|PER_IP|PER_CLIENT|PER_IDENTIFIER|PER_NUMBER|PERCENT|MAX|MIN)$/;
    expect(NUMBERS.map(([name]) => name).filter((name) => !end.test(name))).toEqual([]);
  });
});
