import type { OpenFile } from './connection.ts';
import { type Failure, fromFailure } from './writer-messages.ts';
import { type ToWriter, WRITER_ENTRY } from './writer-thread.ts';

/** The result of a check: `damage` is undefined if the file is whole. */
export type Checked = { readonly damage: string | undefined } | { readonly failure: Failure };

/**
 * Reads a whole file, on a thread that ends with it. Resolves with its damage, undefined if there is none. Meanwhile
 * the log grows, since the check reads one moment of the file. Throws if it cannot be read.
 */
export async function checkBeside(file: OpenFile): Promise<string | undefined> {
  const worker = new Worker(WRITER_ENTRY);
  try {
    const checked = await new Promise<Checked>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<Checked>) => resolve(data));
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      worker.postMessage({ check: file } satisfies ToWriter);
    });
    if ('failure' in checked) throw fromFailure(checked.failure);
    return checked.damage;
  } finally {
    worker.terminate();
  }
}
