import { Database as Connection } from 'bun:sqlite';
import { noticeSignals } from '../storage/durable.ts';
import { checkContents } from '../storage/tables.ts';
import { type Manifest, unseal } from './backup-file.ts';

/**
 * Copies the SQLite file of a backup that was checked before to `draft` and checks it there. Throws if the path leads
 * to another backup by now: on a shared folder somebody can replace a file between two reads.
 */
export async function unsealAgain(path: string, checked: Manifest, draft: string): Promise<void> {
  const { manifest } = unseal(path, undefined, draft);
  if (manifest.sha256 !== checked.sha256)
    throw new Error('the backup is another file than the one that was checked: somebody replaced it');
  await noticeSignals();
  const connection = new Connection(draft, { readonly: true, strict: true });
  try {
    checkContents(connection, checked.rows);
  } finally {
    connection.close();
  }
}
