import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** Where each generated secret is kept, by its setting. */
export const SECRET_FILES = { VAULT_SECRET: 'vault.secret', OPERATOR_SECRET: 'operator.secret' } as const;

/** The kept secret, or undefined where there is none yet; warns when others than its owner can read it. */
export function readSecret(path: string, warnings: string[]): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if ((statSync(path).mode & 0o077) !== 0) warnings.push(`${path} can be read by others: chmod 600 ${path}`);
    return text;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Keeps a secret with mode 0600 unless the file is there, and returns what it holds then: processes that start at once agree,
 * and whatever dies when, the file is whole or not there.
 */
export function keepSecret(path: string, proposal: string, warnings: string[]): string {
  const draft = `${path}.${process.pid}.${crypto.randomUUID()}`;
  writeDurably(draft, `${proposal}\n`);
  try {
    // Unlike a rename, a link never replaces what another process has put there meanwhile.
    linkSync(draft, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
  syncDirectory(join(path, '..'));
  return readSecret(path, warnings) ?? proposal;
}

/** Makes the data directory, readable by its owner only, where it is missing. */
export function makeDataDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the new name durable; some systems do not open directories. */
function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
