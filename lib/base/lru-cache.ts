/** A bounded cache of values that never change. */
export interface Cache<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

/** Holds at most `max` values and drops the least recently used first. */
export function createCache<K, V>(max: number): Cache<K, V> {
  const values = new Map<K, V>();
  return {
    get(key) {
      const value = values.get(key);
      if (value !== undefined) touch(values, key, value, max);
      return value;
    },
    set: (key, value) => touch(values, key, value, max),
  };
}

/** Puts a value at the end of a map, which then is in order of last use, and drops the first beyond `max`. */
export function touch<K, V>(values: Map<K, V>, key: K, value: V, max: number): void {
  values.delete(key);
  values.set(key, value);
  if (values.size > max) values.delete(values.keys().next().value as K);
}
