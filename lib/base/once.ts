/** Makes a value at the first call and keeps it, so that a start that does not need it is not slower. */
export function once<T>(make: () => T): () => T {
  let kept: { readonly value: T } | undefined;
  return () => {
    kept ??= { value: make() };
    return kept.value;
  };
}
