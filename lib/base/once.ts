/** Makes a value at the first call and keeps it: what few starts need must not make every start slower. */
export function once<T>(make: () => T): () => T {
  let kept: { readonly value: T } | undefined;
  return () => {
    kept ??= { value: make() };
    return kept.value;
  };
}
