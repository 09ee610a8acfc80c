import type { Clock } from './base/clock.ts';
import type { Log } from './base/log.ts';
import type { Metrics } from './base/metrics.ts';
import type { Random } from './base/random.ts';
import type { Rpc } from './chain/rpc.ts';
import type { Witness } from './chain/witness.ts';
import type { Config } from './config/config.ts';
import type { Clocks } from './db/clocks.ts';
import type { Store } from './db/database.ts';
import type { Leases } from './db/leases.ts';
import type { Keys } from './identity/keys.ts';

/** The ground parts of a vault, types only. A service asks for those it needs: `Pick<Platform, 'clock' | 'db'>`. */
export interface Platform {
  readonly config: Config;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly db: Store;
  readonly leases: Leases;
  /** Whether this process's clock is right, by the database's and the newest block. */
  readonly clocks: Clocks;
  readonly rpc: Rpc;
  /** The second node of the chain; undefined without `RPC_WITNESS_URL`. */
  readonly witness: Witness | undefined;
}
