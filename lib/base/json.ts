/** The value of a JSON text; undefined if it is not JSON, or nested too deep for the parser. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object, neither null nor an array; its members are unchecked. */
export function isObject<T extends object = Record<string, unknown>>(value: unknown): value is T {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
