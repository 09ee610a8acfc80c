import type { Draw } from '../draw.ts';

/** The addresses of the clients, by a pattern of SQL: every claim of one has an attestation of its own. */
export const CLIENTS_LIKE = `identifier GLOB 'email:t[0-9]*'`;

/** The DIDs of the clients' sessions, each of which is opened once. */
export const SESSIONS_LIKE = `did GLOB 'did:key:z*' AND did <> 'did:key:zMonitor'`;
/** By a clock that is so far ahead a session has lapsed, and its handle is free. */
export const LAPSED_MS = 12 * 3_600_000;

/** What must hold, each seen to fail with a planted bug (`plants.ts`). */
export const INVARIANTS = [
  'an acknowledged write is there',
  'no process answers older than what was acknowledged',
  'each code verifies once',
  'no limit is exceeded',
  'no attestation is used twice',
  'no registration is doubled',
  'webhooks arrive at least once, as they were signed',
  'streams have no gap',
  'streams repeat nothing',
  'no answer is a lie',
  'it recovers without a human',
  'the database is whole',
] as const;

export type Invariant = (typeof INVARIANTS)[number];

/** Something that must not have happened. */
export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
}

/** A registration that was acknowledged. */
export interface Registered {
  readonly did: string;
  readonly identifier: string;
}

/** What the vaults of a world acknowledged, and what was found wrong. */
export interface Ledger {
  /** The DID by the handle whose session was opened. */
  readonly sessions: Map<string, string>;
  /** Addresses that were answered to be verified, and how often each. */
  readonly verified: Map<string, number>;
  /** By credential id. */
  readonly registrations: Map<string, Registered>;
  /** How many answers there were of each status; 0 is none. */
  readonly statuses: Map<number, number>;
  /** How often each check of an answer was made. */
  readonly checks: Map<string, number>;
  readonly violations: Violation[];
  count(status: number): void;
  checked(what: string): void;
  violate(invariant: Invariant, detail: string): void;
}

const VIOLATIONS_KEPT_MAX = 200;

/** An empty one. */
export function openLedger(): Ledger {
  const add = <K>(map: Map<K, number>, key: K) => void map.set(key, (map.get(key) ?? 0) + 1);
  const ledger: Ledger = {
    sessions: new Map(),
    verified: new Map(),
    registrations: new Map(),
    statuses: new Map(),
    checks: new Map(),
    violations: [],
    count: (status) => add(ledger.statuses, status),
    checked: (what) => add(ledger.checks, what),
    violate(invariant, detail) {
      if (ledger.violations.length < VIOLATIONS_KEPT_MAX) ledger.violations.push({ invariant, detail });
    },
  };
  return ledger;
}

/** One of them, by the draw. */
export function pick<T>(draw: Draw, from: readonly T[]): T {
  const one = from[draw.below(from.length)];
  if (one === undefined) throw new Error('nothing to pick from');
  return one;
}
