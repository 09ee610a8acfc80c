import { DAY_MS, HOUR_MS, MINUTE_MS } from './base/clock.ts';

export { DAY_MS, HOUR_MS, MINUTE_MS } from './base/clock.ts';
export * from './constants-chain.ts';
export * from './constants-operator.ts';

// Every limit, window and size of the vault, unit last, is imported from here. The first group is the specification's section 8 and may be overridden by
// settings of the same name. By subject they are written in
//   constants.ts           requests, codes, sessions, upstreams, messages, storage, keys, the process
//   constants-chain.ts     nodes, bundler, indexer, follower, relay, deployment
//   constants-operator.ts  events and streams, webhooks, commands, the doctor
//   clock.ts               windows

/** The specification's section 8. */
export const MAX_REGISTRATIONS_PER_IP = 3;
export const MAX_VERIFY_ATTEMPTS = 5;
export const EMAIL_CODE_EXPIRY_SECONDS = 90;
export const RATE_LIMIT_CODES_PER_IDENTIFIER = 5;
export const MAX_VERIFY_SENDS_PER_IP = 3;
export const ATTESTATION_TTL_SECONDS = 300;
export const DATABASE_MAX_CONNECTIONS = 10;
export const STREAM_TOKEN_TTL_SECONDS = 300;
export const STREAM_HEARTBEAT_SECONDS = 25;
export const STREAM_QUEUE_EVENTS_MAX = 1000;

/** Requests: sizes in bytes, lengths in UTF-16 code units. */
export const BODY_BYTES_MAX = 64 * 1024;
export const BUNDLER_BODY_BYTES_MAX = 256 * 1024;
export const BUNDLER_BATCH_MAX = 10;
export const IDENTIFIER_CHARS_MAX = 320;
export const DID_CHARS_MAX = 2048;
export const CREDENTIAL_ID_CHARS_MAX = 1364;
export const CREDENTIAL_ID_BYTES_MIN = 16;
export const CREDENTIAL_ID_BYTES_MAX = 1023;
export const CODE_CHARS_MAX = 32;
export const TEXT_CHARS_MAX = 1024;
export const REQUEST_ID_CHARS_MAX = 128;
export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
export const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** In-memory request limits (per client and rolling minute). */
export const RATE_LIMIT_PROXY_PER_IP = 120;
export const RATE_LIMIT_READS_PER_IP = 300;
export const REQUEST_LIMIT_CLIENTS_MAX = 20_000;
/** Wrong operator secrets of one client in a minute. */
export const OPERATOR_FAILURES_MAX = 10;

/** One-time codes. */
export const CODE_DIGITS = 6;
export const SMS_CODE_EXPIRY_SECONDS = 600;
export const WRONG_GUESSES_MAX = 100;
export const WRONG_GUESSES_BLOCK_MS = HOUR_MS;
export const SMS_DAILY_MAX = 500;

/** What the operator pays for besides SMS. */
export const RELAY_DAILY_MAX = 100;
export const SPONSOR_DAILY_MAX = 1_000;

/** Sessions. */
export const SESSION_TTL_SECONDS = 86_400;
/** How far an IP's sessions are counted for whoever asks, where its limit is less. */
export const SESSIONS_COUNTED_MAX = 100;

/** Idempotency keys. */
export const IDEMPOTENCY_KEEP_MS = DAY_MS;
export const IDEMPOTENCY_LEASE_MS = MINUTE_MS;

/** The row lock: a lease outlives the longest upstream call made under it. */
export const ROW_LEASE_MS = 30_000;
export const ROW_WAIT_MS = 2_000;
export const ROW_RETRY_MS = 25;
export const ROW_WAITERS_MAX = 100;

/** Upstream calls. */
export const UPSTREAM_TIMEOUT_MS = 10_000;
export const UPSTREAM_SEND_TIMEOUT_MS = 20_000;
export const UPSTREAM_ANSWER_BYTES_MAX = 2 * 1024 * 1024;

/** The log: causes told of one failure. */
export const LOG_CAUSES_MAX = 5;

/** Messages: their providers' answers, the mail server's, and the mails on their way to it. */
export const MESSAGE_ANSWER_BYTES_MAX = 64 * 1024;
/** One segment in the GSM 7-bit alphabet. */
export const SMS_CHARS_MAX = 160;
export const MAIL_SEND_TIMEOUT_MS = 20_000;
export const SMTP_STEP_TIMEOUT_MS = 10_000;
export const SMTP_CONNECTIONS_MAX = 5;
export const SMTP_RETRIES_MAX = 2;
export const SMTP_QUEUE_MAX = 1_000;
export const SMTP_REPLY_BYTES_MAX = 64 * 1024;

/** Storage. */
export const DATABASE_TIMEOUT_MS = 10_000;
export const DATABASE_ANSWER_BYTES_MAX = 32 * 1024 * 1024;
export const DATABASE_QUEUE_MAX = 20_000;
export const DATABASE_LOCK_TIMEOUT_MS = 5_000;
export const SQL_TEXTS_MAX = 1_000;
export const COMMIT_STATEMENTS_MAX = 1_000;
export const COMMIT_QUEUE_MAX = 20_000;
/** SQLite itself waits this long for another process's lock: it sleeps on the event loop's thread, and covers the usual commit. */
export const SQLITE_BUSY_WAIT_MS = 10;
/** A database that is busy longer is tried again after this pause, doubled each time up to the longest, until `DATABASE_LOCK_TIMEOUT_MS` is over. */
export const BUSY_RETRY_MS = 10;
export const BUSY_RETRY_MAX_MS = 100;
export const SWEEP_ROWS_MAX = 1_000;
export const READY_CACHE_MS = 2_000;

/** Keys. */
export const SECRET_BYTES_MIN = 32;
export const SECRET_DISTINCT_BYTES_MIN = 8;
export const ATTESTATION_KEYS_MAX = 4;

/** UCAN tokens: what is read at all, how far two clocks may be apart, and the most steps a policy may take. */
export const UCAN_TOKEN_CHARS_MAX = 8 * 1024;
export const UCAN_PROOFS_MAX = 8;
export const UCAN_DEPTH_MAX = 32;
export const UCAN_SKEW_SECONDS = 60;
export const UCAN_NONCE_BYTES = 12;
export const UCAN_POLICY_STEPS_MAX = 10_000;
export const UCAN_KEYS_CACHED_MAX = 1_000;

/** Settings. */
export const SETTING_CHARS_MAX = 65_536;

/** The process: a stop signal is followed to its end within the sum of the three, under the five seconds that were promised. */
export const WORK_INTERVAL_MS = 1_000;
export const WORK_TURN_MS = 5_000;
export const STOP_ANSWER_MS = 3_900;
export const STOP_FLUSH_MS = 250;
export const STOP_CLOSE_MS = 500;
/** A connection may be silent this long: longer than the longest upstream call, and at least two heartbeats of a stream. */
export const CONNECTION_IDLE_SECONDS_MIN = 60;
