import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { discard, draftOf, giveToOwnerOf, isCode, publish, writeDurably } from '../storage/durable.ts';

/** Where each generated secret is kept, by its setting. */
export const SECRET_FILES = { VAULT_SECRET: 'vault.secret', OPERATOR_SECRET: 'operator.secret' } as const;

/** Where `vault keys rotate` keeps the attestation keys; absent until then. */
export const ATTESTATION_FILE = 'attestation.keys';

/** Every file of keys that a data directory may hold. */
export const KEY_FILES: readonly string[] = [...Object.values(SECRET_FILES), ATTESTATION_FILE];

/** The stored secret, or undefined; warns if other users can read it. */
export function readSecret(path: string, warnings: string[]): string | undefined {
  try {
    // Asked first, as an error takes longer to make than a file to read.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const text = readFileSync(path, 'utf8').trim();
    if ((found.mode & 0o077) !== 0) warnings.push(`${path} can be read by other users: chmod 600 ${path}`);
    return text;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Stores a secret with mode 0600, for the owner of the directory, unless the file exists, and returns the file's
 * content. Processes that start together agree. If one is interrupted, the file is complete or absent.
 */
export function keepSecret(path: string, proposal: string, warnings: string[]): string {
  const draft = draftOf(path);
  try {
    writeDurably(draft, `${proposal}\n`);
    giveToOwnerOf(draft, dirname(path));
    publish(draft, path);
    return proposal;
  } catch (error) {
    discard(draft);
    if (!isCode(error, 'EEXIST')) throw error;
  }
  return readSecret(path, warnings) ?? proposal;
}

/** Makes the data directory, readable by its owner only, where it is missing. */
export function makeDataDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}
