import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError } from '../cli/arguments.ts';
import { discard, publish, syncDirectory } from '../storage/durable.ts';
import type { BackupPlace } from './place.ts';

/** A folder that keeps backups. It is not made: an empty mount point would take its place unseen. */
export function openFolder(path: string): BackupPlace {
  const folder = resolve(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`there is no folder ${folder}.`);
  return {
    shown: folder,
    draftFolder: folder,
    pathOf: (name) => join(folder, name),
    list: async () => readdirSync(folder),
    put: async (draft, name) => publish(draft, join(folder, name)),
    async sizeOf(name) {
      const facts = statSync(join(folder, name));
      // A pipe would be waited for.
      if (!facts.isFile()) throw new Error(`${name} is not a file`);
      return facts.size;
    },
    async read(name, start, end) {
      const file = openSync(join(folder, name), 'r');
      try {
        const bytes = Buffer.alloc(end - start);
        return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
      } finally {
        closeSync(file);
      }
    },
    async remove(name) {
      discard(join(folder, name));
      syncDirectory(folder);
    },
  };
}
