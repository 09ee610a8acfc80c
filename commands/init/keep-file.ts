import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import {
  discard,
  draftOf,
  giveToOwnerOf,
  publish,
  replaceKeeping,
  timeInName,
  writeDurably,
} from '../storage/durable.ts';

/**
 * Writes a file of its owner's alone. One that is there is kept under another name, which is returned, and its owner
 * stays. Throws an `Error` that names the path; the file is then as it was.
 */
export function keepFile(path: string, text: string): { readonly aside?: string } {
  const draft = draftOf(path);
  try {
    if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeDurably(draft, text);
    if (!existsSync(path)) {
      publish(draft, path);
      return {};
    }
    const aside = `${path}.before-${timeInName(systemClock.now())}`;
    giveToOwnerOf(draft, path);
    replaceKeeping(draft, path, aside);
    return { aside };
  } catch (error) {
    discard(draft);
    throw new Error(`${path} cannot be written: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
