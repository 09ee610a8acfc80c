import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import {
  draftOf,
  isCode,
  publish,
  replaceKeeping,
  syncDirectory,
  timeInName,
  writeDurably,
} from '../storage/durable.ts';

/** A file of the system that the command writes. */
export interface SystemFile {
  /** Its absolute path on the machine that it is for. */
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** The text to show instead, if the file holds secrets. */
  readonly shown?: string;
  /** Whether it is the operator's once it is there: it is then never replaced. */
  readonly isOperators?: boolean;
}

/** The outcome of writing a file. */
export interface FileOutcome {
  readonly path: string;
  readonly did: 'wrote' | 'updated' | 'unchanged' | 'kept' | 'replaced';
  /** A remark for the operator. */
  readonly remark?: string;
}

/** How files are written. */
export interface WriteMode {
  /** The folder that stands for `/`. */
  readonly root: string;
  /** Replaces what a person changed, and keeps it under another name. */
  readonly isForced: boolean;
  readonly isDryRun: boolean;
}

/** Writes a file, unless a person changed the one that is there. Throws an `Error` that names the path. */
export function writeSystemFile(file: SystemFile, writing: WriteMode): FileOutcome {
  const path = join(writing.root, file.path);
  requireInside(writing.root, path);
  const text = file.isOperators ? file.text : stamped(file.text);
  const there = readIfThere(path);
  if (there === text) return { path, did: 'unchanged' };
  if (there !== undefined && file.isOperators)
    return { path, did: 'unchanged', remark: 'it is yours, and never replaced' };
  if (there !== undefined && !isAsWritten(there) && !writing.isForced)
    return { path, did: 'kept', remark: 'it was not written here, or changed since: --force replaces it' };
  const did = there === undefined ? 'wrote' : isAsWritten(there) ? 'updated' : 'replaced';
  const aside = did === 'replaced' ? `${path}.before-${timeInName(systemClock.now())}` : undefined;
  if (!writing.isDryRun) putInPlace(path, { text, mode: file.mode, isNew: there === undefined, aside });
  return { path, did, ...(aside === undefined ? {} : { remark: `the file of before is ${aside}` }) };
}

/** How many hex digits of a SHA-256 tell that a file is as it was written. */
const DIGITS = 16;
const STAMP = new RegExp(
  `^# vault service install wrote this, ([0-9a-f]{${DIGITS}}): it is left alone once changed\\.\\n$`,
);

function stamped(text: string): string {
  return `${text}# vault service install wrote this, ${digestOf(text)}: it is left alone once changed.\n`;
}

function isAsWritten(there: string): boolean {
  const at = there.lastIndexOf('\n', there.length - 2) + 1;
  return STAMP.exec(there.slice(at))?.[1] === digestOf(there.slice(0, at));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGITS);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw refused(path, error);
  }
}

/** Throws where a link leads out of `root`, as a link of an image that names a place of the image does. */
function requireInside(root: string, path: string): void {
  let folder = dirname(path);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  if (root === '/' || !existsSync(root)) return;
  const [top, place] = [realpathSync(root), realpathSync(folder)];
  if (`${place}/`.startsWith(`${top}/`) || `${top}/`.startsWith(`${place}/`)) return;
  throw new Error(`${path} would be written to ${place}, outside of --root: make that link relative`);
}

interface Place {
  readonly text: string;
  readonly mode: number;
  readonly isNew: boolean;
  readonly aside: string | undefined;
}

function putInPlace(path: string, { text, mode, isNew, aside }: Place): void {
  const draft = draftOf(path);
  const folder = dirname(path);
  try {
    // A folder of its own for a file of its owner's alone.
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: mode === 0o600 ? 0o700 : 0o755 });
    writeDurably(draft, text);
    chmodSync(draft, mode);
    if (isNew) publish(draft, path);
    else if (aside !== undefined) replaceKeeping(draft, path, aside);
    else renameSync(draft, path);
    syncDirectory(folder);
  } catch (error) {
    throw refused(path, error);
  }
}

function refused(path: string, error: unknown): Error {
  if (isCode(error, 'EACCES') || isCode(error, 'EPERM') || isCode(error, 'EROFS'))
    return new Error(`${path} cannot be written: run this as root (sudo), or with --root DIR`, { cause: error });
  return new Error(`${path} cannot be written: ${error instanceof Error ? error.message : error}`, { cause: error });
}
