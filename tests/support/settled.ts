/**
 * A function that ends as `work` did: `expect(await settled(work)).toThrow(…)`. Bun's `expect(work).rejects` waits in a
 * loop of its own, which a message of a worker does not wake.
 */
export async function settled<T>(work: Promise<T>): Promise<() => T> {
  try {
    const value = await work;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
