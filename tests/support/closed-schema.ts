/**
 * The document as a test reads it: an object has no other members than those that are described, unless the schema says
 * `additionalProperties`. To clients it stays open, so that a release may add members.
 */
export function closed<T>(document: T): T {
  return close(document, false) as T;
}

/** Keywords whose values are schemas of something that is in an answer, in place or by name. */
const PLACES = ['schema', 'items', 'contains', 'additionalProperties'];
const BY_NAME = ['properties'];

/** Without any of them a schema says nothing of members: anything goes, such as what an upstream answered. */
const SHAPES = ['type', '$ref', 'allOf', 'anyOf', 'properties'];

/** A place is closed as a whole: with `$ref`, `allOf` and `anyOf`, what these describe counts too. */
function close(part: unknown, isPlace: boolean): unknown {
  if (Array.isArray(part)) return part.map((one) => close(one, false));
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([name, value]) => {
    if (BY_NAME.includes(name) && typeof value === 'object')
      return [name, Object.fromEntries(Object.entries(value).map(([key, one]) => [key, close(one, true)]))];
    return [name, close(value, PLACES.includes(name))];
  });
  const isOpen = 'additionalProperties' in part || !SHAPES.some((name) => name in part);
  return Object.fromEntries(isPlace && !isOpen ? [...entries, ['unevaluatedProperties', false]] : entries);
}
