// Numbers that the specification fixes, and numbers that several subjects share; unit last. Every other limit, window
// and size stands in the file that uses it.

/** The specification's section 8, which settings of the same name override. */
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

/**
 * Limits of its completions, which can be set as well: requests of one client in a minute, and the most of a day and of
 * a session.
 */
export const RATE_LIMIT_PROXY_PER_IP = 120;
export const RATE_LIMIT_CODES_PER_NUMBER = 5;
export const RATE_LIMIT_READS_PER_IP = 300;
export const RATE_LIMIT_PER_CLIENT = 6_000;
export const RATE_LIMIT_WRITES_PER_IP = 60;
export const NETWORK_SHARE_PERCENT = 5;
export const EMAIL_DAILY_MAX = 20_000;
export const SMS_DAILY_MAX = 500;
export const RELAY_DAILY_MAX = 100;
export const SPONSOR_DAILY_MAX = 1_000;
export const RECOVERIES_DAILY_MAX = 20;
export const SESSION_TTL_SECONDS = 86_400;
export const ADDRESS_MOVE_HOURS = 72;
export const REGISTRATIONS_PER_IP_WINDOW_SECONDS = 2_592_000;

/** One-time codes. */
export const SMS_CODE_EXPIRY_SECONDS = 600;
/** The checks of a code that are shared by all clients that did not ask for it. */
export const STRANGERS_CHECKS_MAX = 2;
/** Wrong guesses in a row, from which on an identifier's codes need a pass; and those that end a pass. */
export const WRONG_GUESSES_MAX = 20;
export const PASS_GUESSES_MAX = 20;
/** Codes of one identifier that passes may send in an hour. */
export const PASS_SENDS_MAX = 5;
/** Codes that the holder of a claimed address gets by its passkey in an hour. */
export const KEEP_SENDS_MAX = 3;
/** Codes that passes may send for one client in a day: passes for many mailboxes of one's own do not get around it. */
export const PASS_SENDS_PER_IP_MAX = 50;

/** The longest text of a request that has no length of its own, in UTF-16 code units. */
export const TEXT_CHARS_MAX = 1024;

/** Upstream calls; an answer of a message's provider is short. */
export const UPSTREAM_TIMEOUT_MS = 10_000;
export const UPSTREAM_ANSWER_BYTES_MAX = 2 * 1024 * 1024;
export const MESSAGE_ANSWER_BYTES_MAX = 64 * 1024;

/** Storage: statements that are kept prepared, and rows of each table that one commit of a sweep removes. */
export const SQL_TEXTS_MAX = 1_000;
export const SWEEP_ROWS_MAX = 100;

/** Attestation keys in force: the current one and those before it. */
export const ATTESTATION_KEYS_MAX = 4;
/** The registrar's balance is low while it is under so many times `RELAY_MIN_BALANCE`. */
export const RELAY_LOW_BALANCE_TIMES_MIN = 5;
/** Buckets of one limit, and registrations, that the operator is shown. */
export const LIMITS_SHOWN_MAX = 100;
/** Rows in one answer of a list that continues. */
export const PAGE_ROWS_MAX = 200;
