import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** How long a command whose reader is slower than it waits until it goes on printing. */
const PRINT_RETRY_MS = 5;

/** A unique name beside `path`, for a file that becomes `path` when it is complete. */
export function draftOf(path: string): string {
  return `${path}.${process.pid}.${crypto.randomUUID()}`;
}

/** Makes a new file of its owner's alone and resolves nothing before it is on the disk. Throws when there is one. */
export function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeAll(file, Buffer.from(text));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Writes all bytes, over several system calls if needed, and waits for a full pipe. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(file, bytes, at);
    } catch (error) {
      if (!isCode(error, 'EAGAIN')) throw error;
      Bun.sleepSync(PRINT_RETRY_MS);
    }
  }
}

/** Runs `work`, which makes the draft. Removes what is left of it afterwards, or if a signal ends the process. */
export async function whileDrafting<T>(draft: string, work: () => Promise<T>): Promise<T> {
  const clear = () => {
    // SQLite's own is left when it could not even undo, on a full disk.
    for (const path of [draft, `${draft}-journal`]) discard(path);
  };
  const onSignal = (_: NodeJS.Signals, number: number) => process.exit(128 + number);
  // At the exit: a draft may be made while another is.
  process.on('exit', clear);
  for (const signal of ENDING) process.on(signal, onSignal);
  try {
    return await work();
  } finally {
    for (const signal of ENDING) process.off(signal, onSignal);
    process.off('exit', clear);
    clear();
  }
}

/** A signal is noticed between two steps of the work: at this point, for one. */
export function noticeSignals(): Promise<void> {
  return Bun.sleep(0);
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Gives a file that is on the disk its name, unless there is one of that name already: then throws `EEXIST`. */
export function publish(draft: string, path: string): void {
  try {
    // Unlike a rename, a link never replaces what another process has put there meanwhile.
    linkSync(draft, path);
    discard(draft);
  } catch (error) {
    // Some file systems, of memory cards or of other machines, have no links.
    if (isCode(error, 'EEXIST') || existsSync(path)) throw error;
    renameSync(draft, path);
  }
  syncDirectory(dirname(path));
}

/**
 * Replaces `path` with a durable file and keeps the old file as `aside`. One of the two is at `path` at every moment.
 */
export function replaceKeeping(draft: string, path: string, aside: string): void {
  linkSync(path, aside);
  renameSync(draft, path);
  syncDirectory(dirname(path));
}

/** Brings a file to the disk that somebody else wrote. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes new names durable; some systems do not open directories. */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Removes a file where there is one. */
export function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}

/** Whether the system's word for the failure is this one. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** A time as it may stand in a file's name. */
export function timeInName(now: number): string {
  return new Date(now).toISOString().replaceAll(':', '');
}

/** Chowns a file created by root to the owner of another file, so that the vault's user can open it. */
export function giveToOwnerOf(path: string, model: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(model);
  try {
    chownSync(path, uid, gid);
  } catch (error) {
    // The superuser of a container or of a network's disk may not, and is then the one who runs the vault.
    if (!['EPERM', 'EINVAL', 'ENOTSUP'].some((code) => isCode(error, code))) throw error;
  }
}
