// minisign's files (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b-512 digest of a file.
import { createHash, createPublicKey, verify } from 'node:crypto';

/** A public key: the eight bytes that name it, and the 32 of Ed25519. */
export interface MinisignKey {
  readonly id: Buffer;
  readonly point: Buffer;
}

/** A signature file: the key's id, the signature of the digest, and the comment that the second signature covers. */
export interface MinisignSignature {
  readonly id: Buffer;
  readonly bytes: Buffer;
  readonly comment: string;
  readonly commentBytes: Buffer;
}

const ID_BYTES = 8;
const SIGNATURE_BYTES = 64;
/** Before the 32 bytes of a public key in a SubjectPublicKeyInfo (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** The key of a line `RW…`, or of a `.pub` file with its comment. Undefined for anything else. */
export function parseMinisignKey(text: string): MinisignKey | undefined {
  const line = text.trim().split('\n').at(-1) ?? '';
  const bytes = decoded(line, 2 + ID_BYTES + 32);
  if (bytes?.subarray(0, 2).toString('latin1') !== 'Ed') return undefined;
  return { id: bytes.subarray(2, 2 + ID_BYTES), point: bytes.subarray(2 + ID_BYTES) };
}

/** The parts of a `.minisig` file. Undefined for any other text, and for the old kind that signs the file itself. */
export function parseSignature(text: string): MinisignSignature | undefined {
  const [untrusted = '', signature = '', comment = '', ofComment = ''] = text.split('\n').map((line) => line.trimEnd());
  const bytes = decoded(signature, 2 + ID_BYTES + SIGNATURE_BYTES);
  const commentBytes = decoded(ofComment, SIGNATURE_BYTES);
  const isWhole = untrusted.startsWith('untrusted comment: ') && comment.startsWith(TRUSTED);
  if (!isWhole || commentBytes === undefined || bytes?.subarray(0, 2).toString('latin1') !== 'ED') return undefined;
  return {
    id: bytes.subarray(2, 2 + ID_BYTES),
    bytes: bytes.subarray(2 + ID_BYTES),
    comment: comment.slice(TRUSTED.length),
    commentBytes,
  };
}

/** The first words of a trusted comment. */
export const TRUSTED = 'trusted comment: ';

/** Whether `key` signed the file's content and the comment. */
export function isSignedBy(key: MinisignKey, content: Uint8Array, signature: MinisignSignature): boolean {
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI, key.point]), format: 'der', type: 'spki' });
  const comment = Buffer.concat([signature.bytes, Buffer.from(signature.comment)]);
  return (
    key.id.equals(signature.id) &&
    verify(null, prehashed(content), publicKey, signature.bytes) &&
    verify(null, comment, publicKey, signature.commentBytes)
  );
}

/** The digest that is signed. */
export function prehashed(content: Uint8Array): Buffer {
  return createHash('blake2b512').update(content).digest();
}

/** A key's name as minisign prints it: a number in hexadecimal, without leading zeros. */
export function keyName(id: Buffer): string {
  return id.readBigUInt64LE().toString(16).toUpperCase();
}

/** The bytes of canonical base64 of exactly that length. */
function decoded(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined;
}
