// Preloaded by `bun test` (bunfig.toml): an RSA key takes a tenth of a second of processor time to make. The first,
// second, … that a test process asks for are those of the run (`scripts/testing/run.ts`): of one process no two are the
// same.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './once.ts';

const folder = process.env['TEST_RUN_DIR'];
const plain = SubtleCrypto.prototype.generateKey as (...args: unknown[]) => Promise<CryptoKeyPair>;
let asked = 0;

interface Making {
  readonly name?: string;
  readonly hash?: string;
  readonly modulusLength?: number;
}

async function generateKey(this: SubtleCrypto, ...args: [Making, boolean, KeyUsage[]]): Promise<CryptoKeyPair> {
  const [making, extractable, usages] = args;
  const isKept = folder !== undefined && making.name === 'RSASSA-PKCS1-v1_5' && making.modulusLength === 2048;
  if (!isKept || !extractable) return plain.apply(this, args);
  const path = join(folder, `rsa-${asked++}.json`);
  const { name, hash } = making as { name: string; hash: string };
  if (existsSync(path)) {
    const [publicKey, privateKey] = JSON.parse(readFileSync(path, 'utf8')) as [JsonWebKey, JsonWebKey];
    const read = (jwk: JsonWebKey, use: KeyUsage) =>
      this.importKey('jwk', jwk, { name, hash }, extractable, usages.includes(use) ? [use] : []);
    return { publicKey: await read(publicKey, 'verify'), privateKey: await read(privateKey, 'sign') };
  }
  const made = await plain.apply(this, args);
  const both = await Promise.all([made.publicKey, made.privateKey].map((key) => this.exportKey('jwk', key)));
  writeWhole(path, JSON.stringify(both));
  return made;
}

SubtleCrypto.prototype.generateKey = generateKey as typeof SubtleCrypto.prototype.generateKey;
