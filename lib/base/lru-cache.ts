/** A bounded cache; both reading and setting a value are its use. */
export interface Cache<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
}

/** An entry's place in the order of use. The list is a ring: between its newest and its oldest entry is its `ends`. */
interface Link {
  older: Link;
  newer: Link;
}

interface Entry<K, V> extends Link {
  readonly key: K;
  value: V;
}

/**
 * Holds at most `max` values and drops the least recently used first. A linked list keeps their order. That of a `Map`
 * would do, but to delete and set a key again and again takes engines the longer the larger the map is.
 */
export function createCache<K, V>(max: number): Cache<K, V> {
  const entries = new Map<K, Entry<K, V>>();
  const ends = emptyRing();
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      unlink(entry);
      linkNewest(ends, entry);
      return entry.value;
    },
    set(key, value) {
      const known = entries.get(key);
      if (known !== undefined) unlink(known);
      const entry = known ?? { key, value, older: ends, newer: ends };
      entry.value = value;
      linkNewest(ends, entry);
      if (known !== undefined) return;
      entries.set(key, entry);
      if (entries.size > max) drop(ends.newer as Entry<K, V>);
    },
    delete(key) {
      const entry = entries.get(key);
      if (entry !== undefined) drop(entry);
    },
  };

  function drop(entry: Entry<K, V>): void {
    unlink(entry);
    entries.delete(entry.key);
  }
}

function emptyRing(): Link {
  const ends = {} as Link;
  ends.older = ends;
  ends.newer = ends;
  return ends;
}

function unlink({ older, newer }: Link): void {
  older.newer = newer;
  newer.older = older;
}

function linkNewest(ends: Link, link: Link): void {
  link.older = ends.older;
  link.newer = ends;
  ends.older.newer = link;
  ends.older = link;
}
