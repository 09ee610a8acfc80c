import type { Row } from './database.ts';
import { areApart } from './leases.ts';

/** A process that runs: when it joined, and how far its clock is ahead of this one's, negative if behind. */
export interface Peer {
  readonly joined: number;
  readonly aheadMs: number;
}

/**
 * How far this process's clock is ahead of the one that counts: that of most processes, and of those of as many the
 * one that has run longest. Pure.
 */
export function offBy(joined: number, others: readonly Peer[]): number {
  const all = [{ joined, aheadMs: 0 }, ...others];
  const agreeing = (one: Peer) => all.filter(({ aheadMs }) => !areApart(aheadMs - one.aheadMs)).length;
  const [right] = all.toSorted((a, b) => agreeing(b) - agreeing(a) || a.joined - b.joined);
  return 0 - (right?.aheadMs ?? 0);
}

interface Seen extends Peer {
  readonly beats: number;
  /** Whether it was seen to change. */
  readonly isLive: boolean;
}

/** What a process knows of its clock: a clock that is off is so by `offMs`, and any other by 0. */
export interface ClockVerdict {
  readonly verdict: 'unknown' | 'agrees' | 'off';
  readonly offMs: number;
}

/** The rows of the other processes, as process `owner` saw them. */
export function createPeers(owner: string) {
  let seen = new Map<string, Seen>();
  let joined = 0;
  // The database's clock has a vote, too, but decides nothing alone: it counts as the one that has joined last.
  let database: Peer = { joined: Number.POSITIVE_INFINITY, aheadMs: 0 };
  return {
    count: () => seen.size,
    clear: () => seen.clear(),
    /** Notes the rows that were read with this process's own, which was just written. */
    note(rows: readonly Row[]): void {
      // A clock's distance from the database's stays the same, however long ago it was written down.
      const distanceOf = (row: Row) => Number(row['at']) - Number(row['written_at']);
      const own = rows.find((row) => row['owner'] === owner) as Row;
      const before = seen;
      seen = new Map();
      for (const row of rows.filter((one) => one !== own)) {
        const [name, beats] = [String(row['owner']), Number(row['beats'])];
        const known = before.get(name);
        const isLive = known !== undefined && (known.isLive || known.beats !== beats);
        const aheadMs = distanceOf(row) - distanceOf(own);
        seen.set(name, { joined: Number(row['joined']), beats, aheadMs, isLive });
      }
      joined = Number(own['joined']);
      database = { ...database, aheadMs: -distanceOf(own) };
    },
    /** Judges this process by the others. */
    judge(before: ClockVerdict['verdict']): ClockVerdict {
      const live = [database, ...[...seen.values()].filter(({ isLive }) => isLive)];
      const ms = offBy(joined, live);
      if (areApart(ms)) return { verdict: 'off', offMs: ms };
      // One that agreed is not made to wait by a newcomer, whose clock may be the wrong one.
      const open = [...seen.values()].filter(({ isLive, aheadMs }) => !isLive && areApart(aheadMs));
      const isOpen = before !== 'agrees' && areApart(offBy(joined, [...live, ...open]));
      return { verdict: isOpen ? 'unknown' : 'agrees', offMs: 0 };
    },
  };
}
