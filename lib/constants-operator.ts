import { DAY_MS, HOUR_MS, MINUTE_MS } from './base/clock.ts';

/** Events: how long they are kept, how many are read at once, and how often other processes' are looked for while anybody listens. */
export const EVENTS_KEEP_MS = 7 * DAY_MS;
export const EVENTS_PAGE_MAX = 200;
/** Ids that one page looks through for a stream of few channels, which holds up the process meanwhile. */
export const EVENTS_SCANNED_MAX = 20_000;
export const STREAM_POLL_MS = 500;
/** Open streams of one process; what of a queue is joined into one piece; when a client may come back that could not be served, and one that was superseded. */
export const STREAMS_MAX = 50_000;
export const STREAM_CHUNK_EVENTS_MAX = 200;
export const STREAM_RETRY_MS = 5_000;
export const STREAM_SUPERSEDED_RETRY_MS = 600_000;
/** Between two clocks: how far back revocations are looked for. */
export const STREAM_REVOCATIONS_BACK_MS = MINUTE_MS;
/** Buckets of one limit, and registrations, that the operator is shown; and of how many buckets the fullest are looked for at once. */
export const LIMITS_SHOWN_MAX = 100;
export const LIMITS_PAGE_MAX = 1_000;
/** Buckets whose refusal is remembered as told. */
export const LIMIT_NOTICES_CACHED_MAX = 10_000;

/** Webhooks: how long an attempt may take and how many go at once. */
export const WEBHOOK_TIMEOUT_MS = 10_000;
export const WEBHOOK_BATCH_MAX = 8;
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
/** How long a command whose reader is slower than it waits until it goes on printing. */
export const PRINT_RETRY_MS = 5;
