import type { Database } from '../../../lib/db/database.ts';
import type { Trouble } from '../forwarder.ts';
import type { Receiver } from '../receiver.ts';

// What clients, faults and the audit see of a world, whether its vaults are processes or run in this one.

/** The time of whoever is not a vault: a torture's is the machine's, a simulation's is its own. */
export interface Time {
  /** Milliseconds from any fixed point. */
  now(): number;
  /** The time of day in milliseconds, as a right clock shows it. */
  wall(): number;
  sleep(ms: number): Promise<void>;
}

/** The machine's time. */
export const MACHINE_TIME: Time = { now: () => performance.now(), wall: () => Date.now(), sleep: Bun.sleep };

/** A vault process that comes back whenever it ends, as under any service manager. */
export interface Member {
  readonly name: string;
  /** A request to where it listens. Rejects where nothing does, and when it has no answer in so many milliseconds. */
  fetch(path: string, init?: RequestInit, limitMs?: number): Promise<Response>;
  /** Another one after each start; undefined while it is down. */
  pid(): number | undefined;
  /** How often it ended without a signal of ours. */
  ownEndings(): number;
  /** Whether it was stopped with SIGSTOP. */
  isPaused: boolean;
  /** Whether its clock is off, or was within the last seconds. */
  isOff(): boolean;
  /** Sends a signal; resolves with the exit code when the process has ended. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | undefined>;
  /** Down until the returned function is called. */
  hold(): () => void;
  pause(): void;
  resume(): void;
  turnClock(ms: number): void;
  /** So much time passes, as for all others: its clock is not off. */
  passTime(ms: number): void;
  /** The lines of its log that have a word. */
  said(word: string): string;
  /** Ends it for good; the exit code of the last process. */
  stop(): Promise<number | undefined>;
}

/** How the road to the mail server is: `hang` takes mails and says nothing, `lose` loses the last answers. */
export type Road = 'open' | 'hang' | 'drop' | 'lose';

/** A mail server behind a road that can be blocked. */
export interface Post {
  readonly catcher: {
    readonly messages: readonly { readonly to: string | readonly string[]; readonly text: string }[];
  };
  setRoad(road: Road): void;
  /** How often a road that was not open was met. */
  met(): number;
}

/** A receiver of webhooks that lies. */
export interface LyingReceiver extends Pick<Receiver, 'received'> {
  /** How many of a thousand first and second attempts go wrong. */
  rate: number;
  lies(): Readonly<Record<string, number>>;
}

/** Vaults, and all that they depend on. */
export interface Place {
  readonly time: Time;
  readonly members: readonly Member[];
  readonly chain: {
    register(what: { readonly did: string }): Promise<{ readonly txHash: string }>;
    /** How many DIDs were registered twice. */
    registered(): Promise<{ readonly twice: number }>;
    /** Where the vaults may register others' DIDs; undefined where they cannot. */
    readonly relay: RelayPlace | undefined;
  };
  readonly node: { trouble: Trouble | undefined; readonly methods: readonly string[] };
  readonly post: Post;
  readonly receiver: LyingReceiver;
  /** Whether the database is a file that is to be checked. */
  readonly hasFile: boolean;
  /** The database, for the audit. */
  open(): Promise<Database & { close(): void }>;
}

/** What a client's registration that the vault sends names. */
export interface RelayPlace {
  readonly registrar: string;
  readonly registry: `0x${string}`;
  /** The account of a passkey. */
  accountOf(x: bigint, y: bigint): Promise<string>;
}

/** Settings under which nothing but the limits that are asked for says no. */
export const GENEROUS: Readonly<Record<string, string>> = {
  LOG_LEVEL: 'error',
  EMAIL_PROVIDER: 'smtp',
  EMAIL_FROM: 'vault@example.net',
  EMAIL_DAILY_MAX: '1000000000',
  // Long enough for a check that waits for a process which was stopped.
  EMAIL_CODE_EXPIRY_SECONDS: '300',
  MAX_REGISTRATIONS_PER_IP: '3',
  MAX_VERIFY_SENDS_PER_IP: '3',
  RATE_LIMIT_CODES_PER_IDENTIFIER: '5',
  RATE_LIMIT_READS_PER_IP: '1000000000',
  RATE_LIMIT_WRITES_PER_IP: '1000000000',
  RATE_LIMIT_PROXY_PER_IP: '1000000000',
};
