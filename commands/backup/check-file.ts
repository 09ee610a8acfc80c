import { Database as Connection } from 'bun:sqlite';
import { checkContents } from '../storage/tables.ts';
import type { Manifest } from './backup-file.ts';

/**
 * Checks the database in a backup where it is: SQLite does not look at what stands behind its pages. Throws an `Error`
 * that explains the problem.
 */
export function checkFile(path: string, { rows }: Pick<Manifest, 'rows'>): void {
  const connection = new Connection(path, { readonly: true, strict: true });
  try {
    checkContents(connection, rows);
  } catch (error) {
    throw new Error(`the backup cannot be restored: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  } finally {
    connection.close();
  }
}
