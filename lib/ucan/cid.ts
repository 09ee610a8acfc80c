import { sha256 } from '@noble/hashes/sha2.js';
import * as Base58 from 'ox/Base58';
import { concat } from '../base/bytes.ts';
import { fromBase58 } from './did-key.ts';

/** The binary CIDv1 (dag-cbor, sha2-256) of a token's bytes. */
export function cidBytes(token: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat(HEAD, sha256(token));
}

/** A binary CID as text in base58btc: `zdpu…`, UCAN's normal form. */
export function cidText(cid: Uint8Array): string {
  return `z${Base58.fromBytes(cid)}`;
}

/** Whether a binary CID has the form of a token's: CIDv1, dag-cbor, sha2-256. */
export function isTokenCid(cid: Uint8Array): boolean {
  return cid.length === HEAD.length + 32 && HEAD.every((byte, i) => byte === cid[i]);
}

/** A token's CID in base58btc or base32 (`bafyrei…`) as `zdpu…`; undefined for other text. */
export function parseCid(text: string): string | undefined {
  if (text.length > CID_CHARS_MAX) return undefined;
  const bytes = text.startsWith('z') ? fromBase58(text.slice(1)) : fromBase32(text);
  return isTokenCid(bytes) ? cidText(bytes) : undefined;
}

const HEAD = Uint8Array.of(0x01, 0x71, 0x12, 0x20);
const CID_CHARS_MAX = 64;

/** RFC 4648 base32 in lower case without padding, after multibase's `b`; empty for other text. */
function fromBase32(text: string): Uint8Array {
  if (!/^b[a-z2-7]{58}$/.test(text)) return new Uint8Array();
  const bytes: number[] = [];
  let [bits, count] = [0, 0];
  for (const char of text.slice(1)) {
    bits = ((bits << 5) | 'abcdefghijklmnopqrstuvwxyz234567'.indexOf(char)) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes.push((bits >> count) & 0xff);
  }
  // 58 characters are two bits more than 36 bytes.
  return (bits & 3) === 0 ? Uint8Array.from(bytes) : new Uint8Array();
}
