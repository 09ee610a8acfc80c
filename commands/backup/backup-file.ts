// A backup is a SQLite file that any SQLite opens, and behind it a trailer: the manifest as JSON, a line feed, and one
// line of fixed length with the manifest's length, its HMAC under a key of VAULT_SECRET, and the SHA-256 of both. The
// manifest holds the SHA-256 of the SQLite file.
import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import * as v from 'valibot';
import { equalText, toHex, utf8 } from '../../lib/base/bytes.ts';
import { syncFile, writeAll } from '../storage/durable.ts';

/** How much of a backup is its manifest at most, and how much is read at once. */
const BACKUP_MANIFEST_BYTES_MAX = 64 * 1024;
const BACKUP_CHUNK_BYTES = 1024 * 1024;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const MANIFEST = v.strictObject({
  format: v.literal(1),
  /** Counts the backups in a place; one that was made as a file of its own has none. */
  number: v.optional(count),
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
  vault: v.string(),
  schema: count,
  rows: v.record(v.string(), count),
  bytes: count,
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  secrets: v.optional(v.record(v.string(), v.string())),
});

/** A backup's manifest: number, time, release, schema version, rows of each table, and the file's length and hash. */
export type Manifest = v.InferOutput<typeof MANIFEST>;

/** A backup that is not damaged. `isMac`: whether the MAC was made with the key; undefined without a key. */
export interface Sealed {
  readonly manifest: Manifest;
  readonly isMac: boolean | undefined;
}

/** A backup that this release does not understand. */
export class NewerBackup extends Error {
  override readonly name = 'NewerBackup';
}

/** Turns a SQLite file into a backup and writes it durably. */
export function seal(path: string, facts: Omit<Manifest, 'bytes' | 'sha256' | 'format'>, key: Uint8Array): Manifest {
  const file = openSync(path, 'r');
  const bytes = fstatSync(file).size;
  const manifest: Manifest = { format: 1, ...facts, bytes, sha256: closing(file, () => readThrough(file, bytes)) };
  const text = JSON.stringify(manifest);
  const mac = macOf(text, key);
  const length = String(utf8(text).length).padStart(LENGTH_DIGITS, '0');
  appendFileSync(path, `${text}\n${LABEL} ${length} ${mac} ${digestOf(text, mac)}\n`);
  syncFile(path);
  return manifest;
}

/**
 * Reads and checks a whole backup. Copies the SQLite file in it to `target`, if given. Throws an `Error` that explains
 * the problem if it is not a backup or is damaged. The caller judges a MAC of another key.
 */
export function unseal(path: string, key: Uint8Array | undefined, target?: string): Sealed {
  const file = openSync(path, 'r');
  return closing(file, () => {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file`);
    const { size } = fstatSync(file);
    const start = Math.max(0, size - BACKUP_TAIL_BYTES_MAX);
    const sealed = readTail(readBytes(file, start, size - start), size, key);
    const { manifest } = sealed;
    const digest = readThrough(file, manifest.bytes, target);
    if (digest !== manifest.sha256) throw new Error('the backup is damaged: its contents have changed');
    return sealed;
  });
}

const LABEL = 'vault-backup-1';
const LENGTH_DIGITS = 8;
const FOOTER = new RegExp(`^\\n${LABEL} (\\d{${LENGTH_DIGITS}}) ([0-9a-f]{64}) ([0-9a-f]{64})\\n$`);
const FOOTER_BYTES = `\n${LABEL} `.length + LENGTH_DIGITS + 1 + 64 + 1 + 64 + 1;

/** How much of a backup's end holds its manifest, whichever length that has. */
export const BACKUP_TAIL_BYTES_MAX = BACKUP_MANIFEST_BYTES_MAX + FOOTER_BYTES;

/**
 * Reads the manifest from the end of a backup of this size: its last `BACKUP_TAIL_BYTES_MAX` bytes, or all. Throws an
 * `Error` as `unseal` does. The SQLite file before it is not looked at.
 */
export function readTail(tail: Uint8Array, size: number, key: Uint8Array | undefined): Sealed {
  const footer = Math.max(0, tail.length - FOOTER_BYTES);
  const [, length, mac = '', digest = ''] = FOOTER.exec(textOf(tail.subarray(footer))) ?? [];
  if (length === undefined) throw new Error('this is not a backup of a vault, or its end is missing or damaged');
  const start = size - FOOTER_BYTES - Number(length);
  const isPlausible = start > 0 && Number(length) <= Math.min(footer, BACKUP_MANIFEST_BYTES_MAX);
  const text = isPlausible ? textOf(tail.subarray(footer - Number(length), footer)) : '';
  if (!isPlausible || !equalText(digest, digestOf(text, mac)))
    throw new Error('the backup is damaged: its description has changed');
  const read = v.safeParse(MANIFEST, JSON.parse(text));
  if (!read.success) throw new NewerBackup('this vault does not know the format of the backup: a newer vault may');
  if (read.output.bytes !== start) throw new Error('the backup is damaged: its length is wrong');
  return { manifest: read.output, isMac: key && equalText(mac, macOf(text, key)) };
}

function macOf(text: string, key: Uint8Array): string {
  return toHex(hmac(sha256, key, utf8(text)));
}

function digestOf(text: string, mac: string): string {
  return toHex(sha256(utf8(`${text}\n${mac}`)));
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

function readBytes(file: number, start: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, start));
}

/** SHA-256 of the file's first bytes, which go into `target` too. */
function readThrough(file: number, length: number, target?: string): string {
  const hash = new Bun.CryptoHasher('sha256');
  const copy = target === undefined ? undefined : openSync(target, 'wx', 0o600);
  try {
    const chunk = Buffer.alloc(BACKUP_CHUNK_BYTES);
    for (let at = 0; at < length; ) {
      const read = readSync(file, chunk, 0, Math.min(chunk.length, length - at), at);
      if (read === 0) throw new Error('the file is shorter than expected');
      const part = chunk.subarray(0, read);
      hash.update(part);
      if (copy !== undefined) writeAll(copy, part);
      at += read;
    }
    return hash.digest('hex');
  } finally {
    if (copy !== undefined) closeSync(copy);
  }
}

function closing<T>(file: number, work: () => T): T {
  try {
    return work();
  } finally {
    closeSync(file);
  }
}
