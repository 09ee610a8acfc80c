import { once } from './once.ts';

/**
 * Adds members to an object that are made at the first look at them: a start neither makes nor loads what it does not
 * use.
 */
export function addLazily<T extends object, More extends object>(
  object: T,
  makers: { readonly [Name in keyof More]: () => More[Name] },
): T & More {
  for (const name in makers) Object.defineProperty(object, name, { enumerable: true, get: once(makers[name]) });
  return object as T & More;
}

/** A copy that makes nothing: what is made at the first look into either is in both. */
export function copyOf<T extends object>(object: T): T {
  return Object.defineProperties({}, Object.getOwnPropertyDescriptors(object)) as T;
}
