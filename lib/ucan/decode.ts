// DAG-CBOR (IPLD; RFC 8949 section 4.2): only the one canonical form of a value is read, so that no two texts mean the
// same token.
import { malformed } from './fault.ts';
import { type Ipld, link } from './ipld.ts';

/** The deepest nesting that is read. */
export const UCAN_DEPTH_MAX = 32;

/**
 * Decodes canonical DAG-CBOR. Throws `UcanError` `malformed` for anything else, and for integers beyond 53 bits, NaN
 * and infinities.
 */
export function decode(bytes: Uint8Array): Ipld {
  const reader: Reader = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), at: 0 };
  const value = readValue(reader, 0);
  if (reader.at !== bytes.length) throw malformed('there is something after the end');
  return value;
}

interface Reader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at: number;
}

function readValue(reader: Reader, depth: number): Ipld {
  if (depth > UCAN_DEPTH_MAX) throw malformed('nested too deeply');
  const first = reader.view.getUint8(take(reader, 1));
  const [major, info] = [first >> 5, first & 31];
  if (major === 7) return readSimple(reader, first);
  const size = readSize(reader, info);
  switch (major) {
    case 0:
      return size;
    case 1:
      return negative(size);
    case 2:
      return readBytes(reader, size);
    case 3:
      return readText(reader, size);
    case 4:
      return readList(reader, size, depth);
    case 5:
      return readMap(reader, size, depth);
    default:
      return readLink(reader, size, depth);
  }
}

/** Advances by `length` and returns the old offset. */
function take(reader: Reader, length: number): number {
  const { at } = reader;
  if (length > reader.bytes.length - at) throw malformed('cut off');
  reader.at = at + length;
  return at;
}

/** The argument of a head, which must be in its shortest form. */
function readSize(reader: Reader, info: number): number {
  if (info < 24) return info;
  if (info > 27) throw malformed('indefinite lengths are not canonical');
  const { view } = reader;
  const at = take(reader, 1 << (info - 24));
  if (info === 24) return shortest(view.getUint8(at), 24);
  if (info === 25) return shortest(view.getUint16(at), 2 ** 8);
  if (info === 26) return shortest(view.getUint32(at), 2 ** 16);
  const size = view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4);
  if (!Number.isSafeInteger(size)) throw malformed('an integer past 53 bits');
  return shortest(size, 2 ** 32);
}

function shortest(size: number, least: number): number {
  if (size < least) throw malformed('an integer is not written in its shortest form');
  return size;
}

function negative(size: number): number {
  const value = -1 - size;
  if (!Number.isSafeInteger(value)) throw malformed('an integer past 53 bits');
  return value;
}

function readBytes(reader: Reader, length: number): Uint8Array {
  const at = take(reader, length);
  return reader.bytes.slice(at, at + length);
}

function readText(reader: Reader, length: number): string {
  const at = take(reader, length);
  try {
    return utf8.decode(reader.bytes.subarray(at, at + length));
  } catch {
    throw malformed('text that is not UTF-8');
  }
}

// A byte order mark is content: without it, two texts would decode to the same string.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readList(reader: Reader, length: number, depth: number): Ipld {
  const items: Ipld[] = [];
  // Each item takes a byte at least, so a length that lies ends at "cut off".
  for (let i = 0; i < length; i++) items.push(readValue(reader, depth + 1));
  return items;
}

function readMap(reader: Reader, length: number, depth: number): Ipld {
  const map: Record<string, Ipld> = Object.create(null);
  let last: Uint8Array | undefined;
  for (let i = 0; i < length; i++) {
    const start = reader.at;
    const key = readValue(reader, UCAN_DEPTH_MAX);
    if (typeof key !== 'string') throw malformed('a key that is not text');
    const encoded = reader.bytes.subarray(start, reader.at);
    if (last && compareBytes(last, encoded) >= 0) throw malformed('keys that are not in order, or twice');
    last = encoded;
    map[key] = readValue(reader, depth + 1);
  }
  return map;
}

/** Compares bytewise. Of encoded keys the shorter comes first, since the head holds the length. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function readLink(reader: Reader, tag: number, depth: number): Ipld {
  const bytes = tag === 42 ? readValue(reader, depth + 1) : undefined;
  if (!(bytes instanceof Uint8Array) || bytes[0] !== 0 || bytes.length < 2) throw malformed('a tag that is not a link');
  return link(bytes.slice(1));
}

function readSimple(reader: Reader, first: number): Ipld {
  if (first === 0xf4) return false;
  if (first === 0xf5) return true;
  if (first === 0xf6) return null;
  const value = first === 0xfb ? reader.view.getFloat64(take(reader, 8)) : Number.NaN;
  if (!Number.isFinite(value)) throw malformed('neither false, true, null nor a 64-bit number');
  return value;
}
