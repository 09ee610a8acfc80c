import { createHash } from 'node:crypto';
import { hasRightSignature } from '../build/mac-signature.ts';

/** The target that a program's headers name. */
export interface Image {
  readonly format: 'ELF' | 'Mach-O' | 'PE';
  readonly processor: string;
  /** The loader that an ELF file asks for: of glibc or of musl. */
  readonly loader?: string;
  /** Whether a Mach-O file has a signature that is right: a Mac with Apple's processor starts none without. */
  readonly isSigned?: boolean;
}

const ELF_MACHINES: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' };
const MACH_MACHINES: Readonly<Record<number, string>> = { 16777223: 'x64', 16777228: 'arm64' };
const PE_MACHINES: Readonly<Record<number, string>> = { 34404: 'x64', 43620: 'arm64' };

const MACH_O_64 = 0xfeedfacf;
const PT_INTERP = 3;

/** Reads the headers of a program. Throws if it is of no kind that is released. */
export function readImage(bytes: Buffer): Image {
  if (bytes.subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1'))) return readElf(bytes);
  if (bytes.readUInt32LE(0) === MACH_O_64) return readMachO(bytes);
  if (bytes.toString('latin1', 0, 2) === 'MZ') return readPe(bytes);
  throw new Error('this is not a program');
}

function readElf(bytes: Buffer): Image {
  const [at, size, count] = [Number(bytes.readBigUInt64LE(32)), bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  const headers = Array.from({ length: count }, (_, i) => at + i * size);
  const interpreter = headers.find((header) => bytes.readUInt32LE(header) === PT_INTERP) ?? 0;
  const from = Number(bytes.readBigUInt64LE(interpreter + 8));
  const length = Number(bytes.readBigUInt64LE(interpreter + 32));
  const loader = bytes.toString('latin1', from, from + length - 1);
  return { format: 'ELF', processor: ELF_MACHINES[bytes.readUInt16LE(18)] ?? 'unknown', loader };
}

function readMachO(bytes: Buffer): Image {
  const processor = MACH_MACHINES[bytes.readUInt32LE(4)] ?? 'unknown';
  return { format: 'Mach-O', processor, isSigned: hasRightSignature(bytes) };
}

function readPe(bytes: Buffer): Image {
  const at = bytes.readUInt32LE(60);
  if (bytes.toString('latin1', at, at + 4) !== 'PE\0\0') throw new Error('this is not a program');
  return { format: 'PE', processor: PE_MACHINES[bytes.readUInt16LE(at + 4)] ?? 'unknown' };
}

/** The bytes that Bun writes behind the files in a program, and the size of the table before them. */
const END = Buffer.from('\n---- Bun! ----\n');
const TABLE_BYTES = 32;

/** The SHA-256 of the files embedded in a program: all that is not Bun, nor Bun's table of where they are. */
export function embeddedSha256(program: Buffer): string {
  const end = program.lastIndexOf(END);
  const table = end - TABLE_BYTES;
  const from = table < 0 ? -1 : table - Number(program.readBigUInt64LE(table));
  if (from < 0) throw new Error('nothing is embedded in this program');
  return createHash('sha256').update(program.subarray(from, table)).digest('hex');
}
