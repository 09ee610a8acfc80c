import { MINUTE_MS } from './base/clock.ts';

/** Calls to a chain's node: how many go in one batch. */
export const RPC_BATCH_MAX = 100;
/** Calls to one chain that are waiting or under way; how many go at once to a node that takes no batches; when it is tried with a batch again. */
export const RPC_PENDING_MAX = 5_000;
export const RPC_SINGLES_MAX = 8;
export const RPC_BATCH_RETRY_MS = 10 * MINUTE_MS;
/** The most of a node's own words that is logged. */
export const RPC_MESSAGE_CHARS_MAX = 120;

/** Registrations that were sent and wait for their block. */
export const CONFIRMATION_UNSEEN_MS = 15 * MINUTE_MS;
/** Longer than a judgement can take, which is two upstream calls in a row. */
export const CONFIRMATION_LEASE_MS = 30_000;
export const CONFIRMATION_BATCH_MAX = 50;
/** Blocks on top of a confirmed registration's own until its block is no longer watched for a re-org. */
export const CONFIRMATION_FINAL_DEPTH_BLOCKS = 64;

/** Predicted addresses remembered; how many are computed until one is compared with the chain. */
export const PREDICTIONS_CACHED_MAX = 10_000;
export const PREDICTIONS_UNCHECKED_MAX = 1_000;
/** What is shown of the name that a token gives itself. */
export const TOKEN_SYMBOL_CHARS_MAX = 16;
/** Calls to the bundler under way. */
export const BUNDLER_PENDING_MAX = 1_000;

/** The indexer that is asked instead of the vault's own follower. */
export const INDEXER_ANSWER_BYTES_MAX = 64 * 1024;

/** The follower of the chain's events. One process follows as long as it renews its lease. */
export const FOLLOWER_LEASE_MS = 15_000;
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
