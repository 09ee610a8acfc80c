/** What happens later in a run, in order of its step. */
export interface Agenda<T> {
  readonly size: number;
  put(due: number, item: T): void;
  /** The next item that is due. */
  take(now: number): T | undefined;
}

/** An empty agenda. It holds few items: what waits longest is at the front. */
export function openAgenda<T>(): Agenda<T> {
  const items: { due: number; item: T }[] = [];
  return {
    get size() {
      return items.length;
    },
    put(due, item) {
      let at = items.length;
      while (at > 0 && (items[at - 1]?.due ?? 0) > due) at--;
      items.splice(at, 0, { due, item });
    },
    take: (now) => ((items[0]?.due ?? Number.POSITIVE_INFINITY) <= now ? items.shift()?.item : undefined),
  };
}
