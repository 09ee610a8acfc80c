import type { Clock } from '../base/clock.ts';

/** Timers of many streams behind one timer each of the host's: a beat in equal pauses, and an end at a time. */
export interface StreamTimers<T> {
  add(one: T, endsAt: number): void;
  delete(one: T): void;
}

interface Settings<T> {
  readonly clock: Clock;
  readonly beatMs: number;
  readonly onBeat: (one: T) => void;
  readonly onEnd: (one: T) => void;
}

/** Starts without a timer running; there is none while nothing is in it. */
export function createStreamTimers<T>({ clock, beatMs, onBeat, onEnd }: Settings<T>): StreamTimers<T> {
  // All pauses are equal, so the order of insertion is the order of falling due.
  const beats = new Map<T, number>();
  const ends = new Map<number, Set<T>>();
  const endOf = new Map<T, number>();

  // A pause is a duration: a clock that is set back must not silence anybody.
  const beatTimer = createAlarm(clock, clock.monotonic, beatMs, () => {
    const now = clock.monotonic();
    for (const [one, at] of beats) {
      if (at > now) break;
      beats.delete(one);
      beats.set(one, now + beatMs);
      onBeat(one);
    }
    return beats.values().next().value;
  });

  // An end is a time of day, and the host's timers do not notice when the clock is set: it is looked at once a beat at least.
  const endTimer = createAlarm(clock, clock.now, beatMs, () => {
    const now = clock.now();
    for (const [at, due] of ends) {
      if (at > now) continue;
      ends.delete(at);
      for (const one of due) onEnd(one);
    }
    return ends.size === 0 ? undefined : Math.min(...ends.keys());
  });

  return {
    add(one, endsAt) {
      const beatAt = clock.monotonic() + beatMs;
      beats.set(one, beatAt);
      beatTimer.atLatest(beatAt);
      const due = ends.get(endsAt) ?? new Set<T>();
      ends.set(endsAt, due.add(one));
      endOf.set(one, endsAt);
      endTimer.atLatest(endsAt);
    },
    delete(one) {
      beats.delete(one);
      const endsAt = endOf.get(one);
      endOf.delete(one);
      if (endsAt === undefined) return;
      const due = ends.get(endsAt);
      due?.delete(one);
      if (due?.size === 0) ends.delete(endsAt);
      if (beats.size > 0) return;
      beatTimer.stop();
      endTimer.stop();
    },
  };
}

/** One timer that rings at the earliest time asked for, by `read`, and after `mostMs` in any case; `ring` tells when it has to ring next. */
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
