import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import type { Platform } from '../platform.ts';
import { noteTrouble, selectSigner, toSignerState } from './signer-store.ts';
import { selectAnyRelayDue } from './store.ts';
import { createRelayer, type Relayer } from './transactions.ts';
import { report, type Trouble, type Turn, workOutbox } from './worker.ts';

/** The pause between two turns at least, but for what was just queued: each costs the node a batch of calls. */
const RELAY_PAUSE_MS = 500;
/** No process relays longer than this without asking: short, since a nonce is safe without the lease, and a user waits for another to take over. */
export const RELAY_LEASE_MS = 3_000;
/** How often an idle relay looks at the chain, and while something keeps it from getting on. */
const RELAY_LOOK_MS = MINUTE_MS;
const RELAY_TROUBLE_LOOK_MS = 10_000;

/** The registrar at work: registrations queued in the outbox go on-chain exactly once, whatever dies when. */
export interface Relay {
  /** Does what can be done now, if no other process does; true when something changed, so that there may be more. Never throws. */
  turn(): Promise<boolean>;
  /** Turns until nothing changes: for whoever has just queued something. */
  kick(): Promise<void>;
  /** A turn, unless the last one ended a moment ago: for whoever waits, however many they are. */
  poll(): Promise<void>;
  /** The account that signs, lower-case. */
  address(): Promise<string>;
  /** What keeps the registrar of any process from getting on, null when nothing does. */
  trouble(): Promise<Trouble | null>;
}

/** When the chain is looked at next though nothing is due, and when the last turn ended: remembered over a vault's isolated requests. */
export interface Pace {
  lookAt: number;
  endedAt: number;
}

type Services = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'log' | 'metrics' | 'leases'>;

/** The relay of one vault. Nothing is asked of anyone before the first call. */
export function createRelay(vault: Services & { readonly pace: Pace }, key: `0x${string}`): Relay {
  const { clock, db, leases, config, pace } = vault;
  let loading: Promise<Relayer> | undefined;
  let running: Promise<boolean> | undefined;
  const load = () => {
    loading ??= createRelayer(vault, key);
    return loading;
  };

  async function once(): Promise<boolean> {
    const now = clock.now();
    const isLooking = now >= pace.lookAt;
    if (!isLooking && (await db.read(selectAnyRelayDue(config.chainId, now))).length === 0) return false;
    pace.lookAt = now + RELAY_TROUBLE_LOOK_MS;
    const relayer = await load();
    if (!(await leases.take('relay', RELAY_LEASE_MS))) {
      if (isLooking) await report(relayer, await readTrouble(relayer));
      return false;
    }
    const { trouble, changed } = await work(relayer);
    if (trouble === null || trouble === 'low_balance') pace.lookAt = now + RELAY_LOOK_MS;
    return changed;
  }

  const turn = () => {
    running ??= once()
      .catch((error) => {
        vault.log({ level: 'error', event: 'relay_failed', ...describeError(error) });
        return false;
      })
      .finally(() => {
        running = undefined;
        pace.endedAt = clock.now();
      });
    return running;
  };

  return {
    turn,
    async kick() {
      // A turn that is under way may have read the queue already.
      await running;
      while (await turn());
    },
    async poll() {
      if (running || clock.now() >= pace.endedAt + RELAY_PAUSE_MS) await turn();
    },
    address: async () => (await load()).signer.address,
    trouble: async () => readTrouble(await load()),
  };
}

/**
 * One turn with the lease held, and a note of what is in the way, if that is news. Throws an error of ours, which is no
 * trouble of the chain's.
 */
async function work(relayer: Relayer): Promise<Turn> {
  const { db, log, signer } = relayer;
  const done = await workOutbox(relayer).catch((error): Turn => {
    if (!(error instanceof VaultError)) throw error;
    log({ level: 'debug', event: 'relay_interrupted', ...describeError(error) });
    return { changed: false, trouble: 'unreachable' };
  });
  await report(relayer, done.trouble);
  if ((await readTrouble(relayer)) === done.trouble) return done;
  await db.write(noteTrouble(signer, done.trouble));
  const { address, chainId } = signer;
  if (done.trouble === null) log({ level: 'info', event: 'relay_recovered', address, chainId });
  else log({ level: LEVELS[done.trouble] ?? 'warn', event: 'relay_trouble', trouble: done.trouble, address, chainId });
  return done;
}

async function readTrouble({ db, signer }: Relayer): Promise<Trouble | null> {
  const [row] = await db.read(selectSigner(signer));
  return row ? (toSignerState(row).trouble as Trouble | null) : null;
}

/** What does not pass by itself. */
const LEVELS: { readonly [T in Trouble]?: 'error' } = {
  chain_reset: 'error',
  unfunded: 'error',
  not_registrar: 'error',
};
