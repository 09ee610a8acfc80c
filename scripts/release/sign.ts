// The other half of commands/release/minisign.ts: secret keys and signatures. Only releases sign.
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { keyName, prehashed, TRUSTED } from '../../commands/release/minisign.ts';

/** A secret key: its name, the seed of Ed25519, and the public key that belongs to it as minisign writes it. */
export interface SecretKey {
  readonly id: Buffer;
  readonly seed: Buffer;
  readonly publicKey: string;
}

/** Before the 32 bytes of a seed in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const PLAIN = Buffer.from([0, 0]);

/**
 * Reads the file of a secret key that has no password (`minisign -G -W`). Throws for others: `minisign -S` asks for the
 * password, and `npm run release` then leaves the signing to it.
 */
export function readSecretKey(text: string): SecretKey {
  const bytes = Buffer.from(text.trim().split('\n').at(-1) ?? '', 'base64');
  if (bytes.length !== 158 || bytes.subarray(0, 2).toString('latin1') !== 'Ed')
    throw new Error('this is not a secret key of minisign');
  if (!bytes.subarray(2, 4).equals(PLAIN))
    throw new Error('this secret key has a password: release without --secret-key, and sign SHA256SUMS by minisign -S');
  // Its checksum is zero: minisign writes one only with a password.
  const [id, seed, point] = [bytes.subarray(54, 62), bytes.subarray(62, 94), bytes.subarray(94, 126)];
  const { x = '' } = createPublicKey(privateKeyOf(seed)).export({ format: 'jwk' });
  if (!point.equals(Buffer.from(x, 'base64url'))) throw new Error('this secret key is damaged');
  return { id, seed, publicKey: publicKeyOf(id, point) };
}

/** A new pair, as minisign writes them; `secretKey` has no password. */
export function makeKeys(): { publicKey: string; secretKey: string } {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [id, point] = [randomBytes(8), Buffer.from(x, 'base64url')];
  const bytes = Buffer.concat([
    ...[Buffer.from('Ed'), PLAIN, Buffer.from('B2'), Buffer.alloc(48)],
    ...[id, Buffer.from(d, 'base64url'), point, Buffer.alloc(32)],
  ]);
  return {
    publicKey: publicKeyOf(id, point),
    secretKey: `untrusted comment: minisign secret key ${keyName(id)}\n${bytes.toString('base64')}\n`,
  };
}

/** The `.minisig` file of `content`. The comment is one line; minisign prints it once the signature is right. */
export function signFile({ id, seed }: SecretKey, content: Uint8Array, comment: string): string {
  const key = privateKeyOf(seed);
  const signature = sign(null, prehashed(content), key);
  const ofComment = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key);
  return [
    `untrusted comment: signature from minisign secret key ${keyName(id)}`,
    Buffer.concat([Buffer.from('ED'), id, signature]).toString('base64'),
    `${TRUSTED}${comment}`,
    `${ofComment.toString('base64')}\n`,
  ].join('\n');
}

function publicKeyOf(id: Buffer, point: Buffer): string {
  return Buffer.concat([Buffer.from('Ed'), id, point]).toString('base64');
}

function privateKeyOf(seed: Buffer) {
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}
