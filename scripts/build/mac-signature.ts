// The signature in a Mach-O file: a SuperBlob with a CodeDirectory, which has the SHA-256 of each page (xnu's
// cs_blobs.h). Bun signs what it makes for Apple's processors; in a program for Intel's it leaves its own signature,
// which what is embedded makes wrong.
import { createHash } from 'node:crypto';

const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const HEADER_BYTES = 32;

const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
/** The version whose directory says where the executable segment is. */
const DIRECTORY_VERSION = 0x20400;
const DIRECTORY_BYTES = 88;
/** Signed by no authority: the hashes alone. */
const AD_HOC = 2;
const SHA256 = 2;
const SHA256_BYTES = 32;
const PAGE_BITS = 12;
const PAGE_BYTES = 1 << PAGE_BITS;
const MAIN_BINARY = 1n;
const IDENTIFIER = Buffer.from('vault\0');
/** A SuperBlob's head, and its list of one. */
const HEAD_BYTES = 20;
/** The multiple to which a segment's memory is rounded up. */
const SEGMENT_BYTES = 0x4000n;

/** Whether the signature has the hashes that the file has. */
export function hasRightSignature(bytes: Buffer): boolean {
  const { signature } = commandsOf(bytes);
  if (signature === undefined) return false;
  const blob = bytes.readUInt32LE(signature + 8);
  const directory = directoryIn(bytes, blob);
  if (directory === undefined) return false;
  const at = (field: number) => bytes.readUInt32BE(directory + field);
  const [hashes, count, end, pageBits] = [directory + at(16), at(28), at(32), bytes.readUInt8(directory + 39)];
  const isWhole = end === blob && bytes.readUInt8(directory + 37) === SHA256;
  const found = pageHashes(bytes, end, 1 << pageBits);
  return (
    isWhole && count * SHA256_BYTES === found.length && found.equals(bytes.subarray(hashes, hashes + found.length))
  );
}

/** The file with an ad-hoc signature in place of the one that it has. Throws if it has none. */
export function signedAdHoc(file: Buffer): Buffer {
  const { signature, segments } = commandsOf(file);
  const [text, last] = [segments.get('__TEXT'), segments.get('__LINKEDIT')];
  if (signature === undefined || text === undefined || last === undefined) throw new Error('no signature to replace');
  const end = file.readUInt32LE(signature + 8);
  const pages = Math.ceil(end / PAGE_BYTES);
  const hashesAt = DIRECTORY_BYTES + IDENTIFIER.length;
  const directory = Buffer.alloc(hashesAt + pages * SHA256_BYTES);
  const length = HEAD_BYTES + directory.length;
  const content = Buffer.from(file.subarray(0, end));
  // The head of the file is signed too, so it says first what the file will be.
  content.writeUInt32LE(length, signature + 12);
  const size = BigInt(end + length) - content.readBigUInt64LE(last + 40);
  content.writeBigUInt64LE(size, last + 48);
  content.writeBigUInt64LE(((size + SEGMENT_BYTES - 1n) / SEGMENT_BYTES) * SEGMENT_BYTES, last + 32);
  const words = [CODE_DIRECTORY, directory.length, DIRECTORY_VERSION, AD_HOC, hashesAt, DIRECTORY_BYTES, 0, pages, end];
  for (const [i, word] of words.entries()) directory.writeUInt32BE(word, i * 4);
  for (const [i, byte] of [SHA256_BYTES, SHA256, 0, PAGE_BITS].entries()) directory.writeUInt8(byte, 36 + i);
  directory.writeBigUInt64BE(content.readBigUInt64LE(text + 40), 64);
  directory.writeBigUInt64BE(content.readBigUInt64LE(text + 48), 72);
  directory.writeBigUInt64BE(MAIN_BINARY, 80);
  IDENTIFIER.copy(directory, DIRECTORY_BYTES);
  pageHashes(content, end, PAGE_BYTES).copy(directory, hashesAt);
  const head = Buffer.alloc(HEAD_BYTES);
  for (const [i, word] of [SUPER_BLOB, length, 1, 0, HEAD_BYTES].entries()) head.writeUInt32BE(word, i * 4);
  return Buffer.concat([content, head, directory]);
}

/** Where the load command of the signature is, and those of the segments by their names. */
function commandsOf(bytes: Buffer): { signature: number | undefined; segments: ReadonlyMap<string, number> } {
  const segments = new Map<string, number>();
  let [at, signature]: [number, number | undefined] = [HEADER_BYTES, undefined];
  for (let left = bytes.readUInt32LE(16); left > 0; left--) {
    const command = bytes.readUInt32LE(at);
    if (command === LC_CODE_SIGNATURE) signature = at;
    if (command === LC_SEGMENT_64) segments.set(bytes.toString('latin1', at + 8, at + 24).replace(/\0.*$/s, ''), at);
    at += bytes.readUInt32LE(at + 4);
  }
  return { signature, segments };
}

function directoryIn(bytes: Buffer, blob: number): number | undefined {
  if (blob + HEAD_BYTES > bytes.length || bytes.readUInt32BE(blob) !== SUPER_BLOB) return undefined;
  const offsets = Array.from({ length: bytes.readUInt32BE(blob + 8) }, (_, i) => bytes.readUInt32BE(blob + 16 + i * 8));
  return offsets.map((offset) => blob + offset).find((at) => bytes.readUInt32BE(at) === CODE_DIRECTORY);
}

function pageHashes(bytes: Buffer, end: number, page: number): Buffer {
  const count = Math.ceil(end / page);
  return Buffer.concat(
    Array.from({ length: count }, (_, i) =>
      createHash('sha256')
        .update(bytes.subarray(i * page, Math.min((i + 1) * page, end)))
        .digest(),
    ),
  );
}
