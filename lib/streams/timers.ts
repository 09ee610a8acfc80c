import type { Clock } from '../base/clock.ts';

/** Heartbeats and expiry of many streams, on two timers of the host. */
export interface StreamTimers<T> {
  add(item: T, endsAt: number): void;
  delete(item: T): void;
}

interface Settings<T> {
  readonly clock: Clock;
  readonly beatMs: number;
  readonly onBeat: (item: T) => void;
  readonly onEnd: (item: T) => void;
}

/** Calls `onBeat` every `beatMs` and `onEnd` at the end of each item. No timer runs while there are no items. */
export function createStreamTimers<T>({ clock, beatMs, onBeat, onEnd }: Settings<T>): StreamTimers<T> {
  // All pauses are equal, so the order of insertion is the order in which they are due.
  const beats = new Map<T, number>();
  const ends = new Map<number, Set<T>>();
  const endOf = new Map<T, number>();

  // A pause is a duration: a clock that is set back must not stop heartbeats.
  const beatTimer = createAlarm(clock, clock.monotonic, beatMs, () => {
    const now = clock.monotonic();
    for (const [item, at] of beats) {
      if (at > now) break;
      beats.delete(item);
      beats.set(item, now + beatMs);
      onBeat(item);
    }
    return beats.values().next().value;
  });

  // An end is a time of day, and timers do not notice when the clock is set: it is checked at least once per beat.
  const endTimer = createAlarm(clock, clock.now, beatMs, () => {
    const now = clock.now();
    for (const [at, due] of ends) {
      if (at > now) continue;
      ends.delete(at);
      for (const item of due) onEnd(item);
    }
    return ends.size === 0 ? undefined : Math.min(...ends.keys());
  });

  return {
    add(item, endsAt) {
      const beatAt = clock.monotonic() + beatMs;
      beats.set(item, beatAt);
      beatTimer.atLatest(beatAt);
      const due = ends.get(endsAt) ?? new Set<T>();
      ends.set(endsAt, due.add(item));
      endOf.set(item, endsAt);
      endTimer.atLatest(endsAt);
    },
    delete(item) {
      beats.delete(item);
      const endsAt = endOf.get(item);
      endOf.delete(item);
      if (endsAt === undefined) return;
      const due = ends.get(endsAt);
      due?.delete(item);
      if (due?.size === 0) ends.delete(endsAt);
      if (beats.size > 0) return;
      beatTimer.stop();
      endTimer.stop();
    },
  };
}

/**
 * One timer. It calls `ring` at the earliest requested time of the clock `read`, and after `mostMs` at the latest;
 * `ring` returns its next time.
 */
function createAlarm(clock: Clock, read: () => number, mostMs: number, ring: () => number | undefined) {
  let setFor = Number.POSITIVE_INFINITY;
  let cancel = () => {};
  const stop = () => {
    cancel();
    setFor = Number.POSITIVE_INFINITY;
  };
  const atLatest = (at: number) => {
    if (at >= setFor) return;
    cancel();
    setFor = at;
    cancel = clock.after(Math.max(1, Math.min(mostMs, Math.ceil(at - read()))), () => {
      setFor = Number.POSITIVE_INFINITY;
      const next = ring();
      if (next !== undefined) atLatest(next);
    });
  };
  return { atLatest, stop };
}
