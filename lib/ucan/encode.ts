import { concat, utf8 } from '../base/bytes.ts';
import { compareBytes } from './decode.ts';
import { malformed } from './fault.ts';
import { cidOf, type Ipld, type IpldMap, isList } from './ipld.ts';

/**
 * Canonical DAG-CBOR: shortest heads, keys sorted by length and then bytewise, whole numbers as integers. Throws
 * `UcanError` for unsafe integers, NaN, infinities and ill-formed text.
 */
export function encode(value: Ipld): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  write(parts, value);
  return concat(...parts);
}

function write(parts: Uint8Array[], value: Ipld): void {
  if (value === null) parts.push(NULL);
  else if (typeof value === 'boolean') parts.push(value ? TRUE : FALSE);
  else if (typeof value === 'number') parts.push(number(value));
  else if (typeof value === 'string') parts.push(text(value));
  else if (value instanceof Uint8Array) parts.push(head(2, value.length), value);
  else if (isList(value)) {
    parts.push(head(4, value.length));
    for (const item of value) write(parts, item);
  } else writeObject(parts, value as IpldMap);
}

const NULL = Uint8Array.of(0xf6);
const TRUE = Uint8Array.of(0xf5);
const FALSE = Uint8Array.of(0xf4);

function writeObject(parts: Uint8Array[], value: IpldMap): void {
  const cid = cidOf(value);
  // Tag 42, and the zero byte before a binary CID.
  if (cid) return void parts.push(Uint8Array.of(0xd8, 42), head(2, cid.length + 1), Uint8Array.of(0), cid);
  const entries = Object.keys(value).map((key): [Uint8Array, Ipld] => [text(key), value[key] as Ipld]);
  parts.push(head(5, entries.length));
  for (const [key, item] of entries.sort(([a], [b]) => compareBytes(a, b))) {
    parts.push(key);
    write(parts, item);
  }
}

function number(value: number): Uint8Array {
  if (Number.isSafeInteger(value)) return value < 0 ? head(1, -1 - value) : head(0, value);
  if (!Number.isFinite(value) || Number.isInteger(value)) throw malformed('a number that is not safe to write');
  const bytes = new Uint8Array(9);
  bytes[0] = 0xfb;
  new DataView(bytes.buffer).setFloat64(1, value);
  return bytes;
}

function text(value: string): Uint8Array {
  if (!value.isWellFormed()) throw malformed('text with half a character');
  const bytes = utf8(value);
  return concat(head(3, bytes.length), bytes);
}

function head(major: number, size: number): Uint8Array {
  const type = major << 5;
  if (size < 24) return Uint8Array.of(type | size);
  if (size < 2 ** 8) return Uint8Array.of(type | 24, size);
  const bytes = new Uint8Array(size < 2 ** 16 ? 3 : size < 2 ** 32 ? 5 : 9);
  const view = new DataView(bytes.buffer);
  bytes[0] = type | (bytes.length === 3 ? 25 : bytes.length === 5 ? 26 : 27);
  if (bytes.length === 3) view.setUint16(1, size);
  else if (bytes.length === 5) view.setUint32(1, size);
  else {
    view.setUint32(1, Math.floor(size / 2 ** 32));
    view.setUint32(5, size >>> 0);
  }
  return bytes;
}
