/** Every limit, window and size of the vault, unit last. The first group is the specification's section 8 and may be overridden by settings of the same name. */

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

/** Windows of the rolling limits. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

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

/** Sessions and registrations. */
export const SESSION_TTL_SECONDS = 86_400;
export const CONFIRMATION_UNSEEN_MS = 15 * MINUTE_MS;
export const CONFIRMATION_POLL_MIN_MS = 1_000;
export const CONFIRMATION_POLL_MAX_MS = 30_000;
/** Longer than a judgement can take, which is two upstream calls in a row. */
export const CONFIRMATION_LEASE_MS = 30_000;
export const CONFIRMATION_BATCH_MAX = 50;
/** Blocks on top of a confirmed registration's own until its block is no longer watched for a re-org. */
export const CONFIRMATION_FINAL_DEPTH_BLOCKS = 64;

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
export const RPC_BATCH_MAX = 100;
/** Calls to one chain that are waiting or under way; how many go at once to a node that takes no batches; when it is tried with a batch again. */
export const RPC_PENDING_MAX = 5_000;
export const RPC_SINGLES_MAX = 8;
export const RPC_BATCH_RETRY_MS = 10 * MINUTE_MS;
/** The most of a node's own words that is logged. */
export const RPC_MESSAGE_CHARS_MAX = 120;

/** Predicted addresses remembered; how many are computed until one is compared with the chain. */
export const PREDICTIONS_CACHED_MAX = 10_000;
export const PREDICTIONS_UNCHECKED_MAX = 1_000;
/** What is shown of the name that a token gives itself. */
export const TOKEN_SYMBOL_CHARS_MAX = 16;
/** Calls to the bundler under way. */
export const BUNDLER_PENDING_MAX = 1_000;

/** The indexer that is asked instead of the vault's own follower. */
export const INDEXER_ANSWER_BYTES_MAX = 64 * 1024;

/** The follower of the chain's events. One process follows as long as it renews its lease; its turns leave time for other work. */
export const FOLLOWER_LEASE_MS = 15_000;
export const FOLLOWER_TURN_MS = 1_000;
export const FOLLOWER_RETRY_MIN_MS = 1_000;
export const FOLLOWER_RETRY_MAX_MS = MINUTE_MS;
/** Blocks read at once: halved when a node refuses, doubled again after so many full ranges that it did not. */
export const FOLLOWER_RANGE_BLOCKS_MAX = 10_000;
export const FOLLOWER_RANGE_ANSWERS_MIN = 16;
/** Blocks read once more, because a node behind a load balancer may answer before it has the newest ones. */
export const FOLLOWER_OVERLAP_BLOCKS = 16;
/** Blocks whose hashes are kept to find where a re-org began, longer than finality takes; and how many of them are asked for at once. */
export const FOLLOWER_KEEP_BLOCKS = 1_024;
export const FOLLOWER_FORK_BLOCKS_MAX = 25;
/** Rows removed at a turn when all has to be read again. */
export const FOLLOWER_CLEAR_ROWS_MAX = 10_000;
/** A look that found nothing new is noted this often; the indexer is well while the last one noted is younger, and the chain's head nearer. */
export const FOLLOWER_SEEN_MS = 10_000;
export const FOLLOWER_SILENT_MS = MINUTE_MS;
export const FOLLOWER_BEHIND_BLOCKS = 150;

/** Relayed registrations: how long a request waits for its receipt, and how often it looks. */
export const RELAY_WAIT_MS = 20_000;
export const RELAY_POLL_MS = 250;
/** The pause between two turns at least, but for what was just queued: each costs the node a batch of calls. */
export const RELAY_PAUSE_MS = 500;
/** No process relays longer than this without asking: short, since a nonce is safe without the lease, and a user waits for another to take over. */
export const RELAY_LEASE_MS = 3_000;
/** Transactions of one signer that are not mined: as many as a node surely keeps (geth's `txpool.accountslots`). */
export const RELAY_IN_FLIGHT_MAX = 16;
export const RELAY_SENT_MAX = 100;
/** Blocks without the transaction until it is sent with a higher fee, and how many such attempts until only its nonce is freed. */
export const RELAY_STUCK_BLOCKS = 5;
export const RELAY_ATTEMPTS_MAX = 12;
/** Blocks on top until a revert, or a nonce that another spent, is believed. */
export const RELAY_SETTLED_BLOCKS = 12;
/** A relay this old that is not mined is told of. */
export const RELAY_STUCK_MS = 2 * MINUTE_MS;
/** How often an idle relay looks at the chain, and while something keeps it from getting on. */
export const RELAY_LOOK_MS = MINUTE_MS;
export const RELAY_TROUBLE_LOOK_MS = 10_000;
/** The least that a block builder is offered, in wei per gas. */
export const RELAY_TIP_WEI_MIN = 1_000_000;
/** The balance is told of while it is under so many times `RELAY_MIN_BALANCE`. */
export const RELAY_LOW_BALANCE_TIMES_MIN = 5;

/** Deployment of the contracts: how long a transaction may take, and how often it is looked for. */
export const DEPLOYMENT_WAIT_MS = 3 * MINUTE_MS;
export const DEPLOYMENT_POLL_MS = 250;

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
/** A busy database is tried again after this wait, doubled each time: 0.6 s in all. */
export const BUSY_RETRY_MS = 10;
export const BUSY_RETRIES_MAX = 6;
export const SWEEP_ROWS_MAX = 1_000;
export const READY_CACHE_MS = 2_000;

/** Events: how long they are kept, how many are read at once, and how often other processes' are looked for while anybody listens. */
export const EVENTS_KEEP_MS = 7 * DAY_MS;
export const EVENTS_PAGE_MAX = 200;
export const STREAM_POLL_MS = 500;
/** Open streams of one process; what of a queue is joined into one piece; when a client may come back that could not be served, and one that was superseded. */
export const STREAMS_MAX = 50_000;
export const STREAM_CHUNK_EVENTS_MAX = 200;
export const STREAM_RETRY_MS = 5_000;
export const STREAM_SUPERSEDED_RETRY_MS = 600_000;
/** Between two clocks: how far back revocations are looked for. */
export const STREAM_REVOCATIONS_BACK_MS = MINUTE_MS;
/** Buckets of one limit, and registrations, that the operator is shown. */
export const LIMITS_SHOWN_MAX = 100;
/** Buckets whose refusal is remembered as told. */
export const LIMIT_NOTICES_CACHED_MAX = 10_000;

/** Webhooks: how long an attempt may take, how many go at once, and how long a turn of background work waits for them. */
export const WEBHOOK_TIMEOUT_MS = 10_000;
export const WEBHOOK_BATCH_MAX = 8;
export const WEBHOOK_TURN_MS = 1_000;
/** One process delivers as long as it renews its lease, which outlives an attempt twice. */
export const WEBHOOK_LEASE_MS = 24_000;
/** The pauses between attempts, which grow from the least to the most; and after how long a delivery is given up. */
export const WEBHOOK_RETRY_MIN_MS = 5_000;
export const WEBHOOK_RETRY_MAX_MS = 2 * HOUR_MS;
export const WEBHOOK_GIVE_UP_MS = DAY_MS;
/** Open deliveries: further events wait where they are. How many are copied at once. */
export const WEBHOOK_QUEUE_MAX = 10_000;
export const WEBHOOK_COPY_MAX = 500;
export const WEBHOOK_DELIVERED_KEEP_MS = DAY_MS;
export const WEBHOOK_DEAD_KEEP_MS = 14 * DAY_MS;
/** Deliveries listed at once; addresses of a receiver that are tried; signatures under secrets that are being changed. */
export const WEBHOOK_LIST_MAX = 100;
export const WEBHOOK_ADDRESSES_MAX = 4;
export const WEBHOOK_SECRETS_MAX = 4;

/** Keys. */
export const SECRET_BYTES_MIN = 32;
export const SECRET_DISTINCT_BYTES_MIN = 8;
export const ATTESTATION_KEYS_MAX = 4;

/** The operator's commands: rows read or written at once, the pause between two lines of progress, and how much of a backup is its manifest at most. */
export const COPY_ROWS_MAX = 500;
export const PROGRESS_LINE_MS = 5_000;
export const BACKUP_MANIFEST_BYTES_MAX = 64 * 1024;
export const BACKUP_CHUNK_BYTES = 1024 * 1024;
/** The doctor: how long a check may take, and from when on it tells of clock, node, disk and log. Codes live 90 seconds, tokens are forgiven 60. */
export const DOCTOR_CHECK_TIMEOUT_MS = 25_000;
export const CLOCK_SKEW_WARN_MS = 5_000;
export const CLOCK_SKEW_FAIL_MS = 30_000;
export const CHAIN_SILENT_MS = 10 * MINUTE_MS;
export const DISK_FREE_BYTES_MIN = 64 * 1024 * 1024;
export const DISK_TIGHT_BYTES = 1024 * 1024 * 1024;
export const DISK_SYNC_MS_MAX = 50;
export const DISK_SYNC_ATTEMPTS = 9;
export const WAL_BYTES_MAX = 256 * 1024 * 1024;
export const PROXY_BITS_MIN = 8;

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
