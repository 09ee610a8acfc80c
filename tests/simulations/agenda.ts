/** What happens later in a run, in order of its step. */
export interface Agenda<T> {
  readonly size: number;
  put(due: number, item: T): void;
  /** The next item that is due. */
  take(now: number): T | undefined;
}

/** An empty agenda: what falls due first is at the front, and of those that fall due together what was put first. */
export function openAgenda<T>(): Agenda<T> {
  const items: { due: number; item: T }[] = [];
  return {
    get size() {
      return items.length;
    },
    put(due, item) {
      let [from, to] = [0, items.length];
      while (from < to) {
        const middle = (from + to) >>> 1;
        if ((items[middle]?.due ?? 0) > due) to = middle;
        else from = middle + 1;
      }
      items.splice(from, 0, { due, item });
    },
    take: (now) => ((items[0]?.due ?? Number.POSITIVE_INFINITY) <= now ? items.shift()?.item : undefined),
  };
}
