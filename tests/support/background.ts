import type { TestVault } from './vault.ts';

/**
 * Has a vault do its background work again and again, as a program does by itself. Answers what ends it, once the work
 * that is under way is done: a database that closes under it would fail whatever test runs then.
 */
export function keepWorking({ work }: Pick<TestVault, 'work'>, pauseMs: number): () => Promise<void> {
  const end = Promise.withResolvers<void>();
  let isOver = false;
  const working = (async () => {
    while (!isOver) {
      await work();
      await Promise.race([end.promise, Bun.sleep(pauseMs)]);
    }
  })();
  return () => {
    isOver = true;
    end.resolve();
    return working;
  };
}
