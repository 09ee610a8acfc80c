import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../cli/arguments.ts';
import { isSignedBy, keyName, type MinisignKey, parseMinisignKey, parseSignature } from './minisign.ts';

/** The verdict on a download. `problem` says why it must not be used. */
export interface DownloadVerdict {
  readonly ok: boolean;
  readonly file: string;
  readonly sha256: string | null;
  /** Its name in the release, if it is one of its files. */
  readonly name: string | null;
  /** The signer's comment in the signature. */
  readonly comment: string | null;
  readonly problem: string | null;
}

/** Where the parts of a check are; those left out are beside the file. */
export interface DownloadParts {
  readonly file: string;
  readonly sums?: string | undefined;
  readonly signature?: string | undefined;
  /** The public key, or a file that has it. */
  readonly key: string;
}

/** A list of sums, or a signature, is shorter by far. */
const TEXT_BYTES_MAX = 64 * 1024;

/**
 * Checks the signature of the list of sums, then the file against the list. Throws `UsageError` for a part that cannot
 * be read.
 */
export async function verifyDownload(parts: DownloadParts): Promise<DownloadVerdict> {
  const { file } = parts;
  const sumsPath = parts.sums ?? join(dirname(file), 'SHA256SUMS');
  const sums = readSmall(sumsPath);
  const signatureText = readSmall(parts.signature ?? `${sumsPath}.minisig`).toString();
  const key = readKey(parts.key);
  const signature = parseSignature(signatureText);
  const refused = (problem: string, found: Partial<DownloadVerdict> = {}) =>
    ({ ok: false, file, sha256: null, name: null, comment: null, ...found, problem }) as const;
  if (!signature) return refused('the signature is not one of minisign, or is damaged');
  if (!signature.id.equals(key.id))
    return refused(`the signature is of the key ${keyName(signature.id)}, not of ${keyName(key.id)}`);
  if (!isSignedBy(key, sums, signature))
    return refused(`${basename(sumsPath)} is not what the key ${keyName(key.id)} signed`);
  const sha256 = await sha256Of(file);
  const found = { sha256, comment: signature.comment };
  const entries = parseSums(sums.toString());
  const expected = entries.get(basename(file));
  if (expected === sha256) return { ok: true, file, ...found, name: basename(file), problem: null };
  if (expected !== undefined)
    return refused(`its SHA-256 is ${sha256}, the release's is ${expected}: it is damaged, or another file`, found);
  const name = [...entries].find(([, sum]) => sum === sha256)?.[0];
  if (name === undefined) return refused(`${basename(sumsPath)} lists neither its name nor its SHA-256`, found);
  return { ok: true, file, ...found, name, problem: null };
}

/** Sums by name, of lines as sha256sum writes them. */
export function parseSums(text: string): ReadonlyMap<string, string> {
  const lines = text.matchAll(/^([0-9a-f]{64}) [ *]([^\n]+)$/gm);
  return new Map(Array.from(lines, ([, sum = '', name = '']) => [name, sum]));
}

function readKey(given: string): MinisignKey {
  const key = parseMinisignKey(given) ?? (given.startsWith('RW') ? undefined : keyOfFile(given));
  if (!key)
    throw new UsageError('--public-key is not a public key of minisign: it begins with RW and has 56 characters.');
  return key;
}

function keyOfFile(path: string): MinisignKey | undefined {
  return parseMinisignKey(readSmall(path).toString());
}

function readSmall(path: string): Buffer {
  try {
    if (statSync(path).size > TEXT_BYTES_MAX) throw new UsageError(`${path} is too large for such a file.`);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read: it belongs beside the download, or is named by a flag.`);
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } catch {
    throw new UsageError(`${path} cannot be read.`);
  }
  return hash.digest('hex');
}
