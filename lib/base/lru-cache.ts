/** A bounded memory of values that never change. */
export interface Cache<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

/** Holds at most `max` values; the one not asked for the longest is forgotten first. */
export function createCache<K, V>(max: number): Cache<K, V> {
  const values = new Map<K, V>();
  const put = (key: K, value: V) => {
    // Put back at the end, so that the map's order is the order of last use.
    values.delete(key);
    values.set(key, value);
  };
  return {
    get(key) {
      const value = values.get(key);
      if (value !== undefined) put(key, value);
      return value;
    },
    set(key, value) {
      put(key, value);
      if (values.size > max) values.delete(values.keys().next().value as K);
    },
  };
}
