import { MINUTE_MS } from '../base/clock.ts';
import { DatabaseUnavailable, VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import type { Platform } from '../platform.ts';
import { recordBlocker, selectSigner, toStoredSigner } from './signer-store.ts';
import { type RelayRole, selectAnyRelayDue } from './store.ts';
import { createRelayer, type Relayer } from './transactions.ts';
import { type RelayBlocker, recordRelayState, runTurn, type Turn } from './worker.ts';

/** The least pause between two turns of `runIfDue`: each costs the node a batch of calls. */
const RELAY_PAUSE_MS = 500;
/**
 * How long a process relays before it takes the lease again. Short: a nonce is safe without the lease, and a user
 * waits while another process takes over.
 */
export const RELAY_LEASE_MS = 3_000;
/** How often the chain is checked while nothing is due, and while something blocks relaying. */
const RELAY_CHECK_MS = MINUTE_MS;
const RELAY_BLOCKED_CHECK_MS = 10_000;

/** The outbox of one key: makes queued calls on-chain exactly once, even if the process dies at any point. */
export interface Relay {
  /**
   * One turn, if no other process holds the lease. True when something changed, so that there may be more. Never
   * throws.
   */
  turn(): Promise<boolean>;
  /** Turns until nothing changes. For a caller that has just queued a relay. */
  runNow(): Promise<void>;
  /** A turn, unless the last one has just ended. For callers that wait for a relay, however many there are. */
  runIfDue(): Promise<void>;
  /** The address of the account that signs, lower-case. */
  address(): Promise<string>;
  /** The condition that blocks relaying, in any process; null when nothing does. */
  blocker(): Promise<RelayBlocker | null>;
}

/**
 * When the chain is checked next although nothing is due, and when the last turn ended, both by the monotonic clock.
 * Shared by isolated requests.
 */
export interface RelaySchedule {
  nextCheckAt: number;
  endedAt: number;
}

/** Due at once. */
export function createSchedule(): RelaySchedule {
  return { nextCheckAt: 0, endedAt: Number.NEGATIVE_INFINITY };
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics' | 'leases'>;

/** The key's role, its own schedule, and where accounts of the factories are. */
type Own = Ctx & { readonly role: RelayRole; readonly schedule: RelaySchedule; readonly predict: PredictAddress };

/** The relay of one vault and one key. Asks nothing of the chain or the database before the first call. */
export function createRelay(ctx: Own, key: `0x${string}`): Relay {
  const { clock, db, leases, config, schedule, role } = ctx;
  let loading: Promise<Relayer> | undefined;
  let running: Promise<boolean> | undefined;
  const load = () => {
    loading ??= createRelayer(ctx, key);
    return loading;
  };

  async function once(): Promise<boolean> {
    const now = clock.monotonic();
    const isChecking = now >= schedule.nextCheckAt;
    if (!isChecking && (await db.read(selectAnyRelayDue({ chainId: config.chainId, role }, clock.now()))).length === 0)
      return false;
    schedule.nextCheckAt = now + RELAY_BLOCKED_CHECK_MS;
    const relayer = await load();
    if (!(await leases.take(LEASES[role], RELAY_LEASE_MS))) {
      if (isChecking) await recordRelayState(relayer, await readBlocker(relayer));
      return false;
    }
    const { blocker, changed } = await runAndRecord(relayer);
    if (blocker === null || blocker === 'low_balance') schedule.nextCheckAt = now + RELAY_CHECK_MS;
    return changed;
  }

  const turn = () => {
    running ??= once()
      .catch((error) => {
        // The store says that the database is away; the next turn tries again.
        if (!(error instanceof DatabaseUnavailable))
          ctx.log({ level: 'error', event: 'relay_failed', ...describeError(error) });
        return false;
      })
      .finally(() => {
        running = undefined;
        schedule.endedAt = clock.monotonic();
      });
    return running;
  };

  return {
    turn,
    async runNow() {
      // A turn that is under way may have read the queue already.
      await running;
      while (await turn());
    },
    async runIfDue() {
      if (running || clock.monotonic() >= schedule.endedAt + RELAY_PAUSE_MS) await turn();
    },
    address: async () => (await load()).signer.address,
    blocker: async () => readBlocker(await load()),
  };
}

/**
 * One turn with the lease held; records the condition that blocks relaying when it changes. Throws errors other than
 * `VaultError`, which are faults of ours and not of the chain.
 */
async function runAndRecord(relayer: Relayer): Promise<Turn> {
  const { db, log, signer } = relayer;
  const done = await runTurn(relayer).catch((error): Turn => {
    if (!(error instanceof VaultError)) throw error;
    log({ level: 'debug', event: 'relay_interrupted', ...describeError(error) });
    return { changed: false, blocker: 'unreachable' };
  });
  await recordRelayState(relayer, done.blocker);
  if ((await readBlocker(relayer)) === done.blocker) return done;
  await db.write(recordBlocker(signer, done.blocker));
  const of = { signer: signer.role, address: signer.address, chainId: signer.chainId };
  if (done.blocker === null) log({ level: 'info', event: 'relay_recovered', ...of });
  else log({ level: LEVELS[done.blocker] ?? 'warn', event: 'relay_trouble', trouble: done.blocker, ...of });
  return done;
}

async function readBlocker({ db, signer }: Relayer): Promise<RelayBlocker | null> {
  const [row] = await db.read(selectSigner(signer));
  return row ? (toStoredSigner(row).blocker as RelayBlocker | null) : null;
}

/** The leases' names: each key is worked with by one process at a time. */
const LEASES: Readonly<Record<RelayRole, string>> = { registrar: 'relay', guardian: 'guardian' };
/** The blockers that need the operator. */
const LEVELS: { readonly [T in RelayBlocker]?: 'error' } = {
  chain_reset: 'error',
  unfunded: 'error',
  not_registrar: 'error',
  nonce_jump: 'error',
  no_registry: 'error',
};
