// Preloaded by `bun test` (bunfig.toml): what a test process draws by chance follows from SEED and the test file, in
// the order in which it is asked for. So `SEED=… npm test -- file` draws it again. Keys that the runtime itself makes
// (`generateKeyPair`, `crypto.subtle.generateKey`) and other processes stay random.
import { mock } from 'bun:test';
import nodeCrypto from 'node:crypto';
import { relative } from 'node:path';
import { type Draw, openDraw } from './draw.ts';
import { SEED } from './seed.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
let draw: Draw = openDraw(SEED);

/** Begins the draws of a test file. Each test file calls it (`each-file.ts`). */
export function seedFile(path: string): void {
  draw = openDraw(SEED ^ Bun.hash.crc32(relative(ROOT, path)));
}

function fill<T extends NodeJS.ArrayBufferView>(view: T): T {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  bytes.set(draw.bytes(bytes.length));
  return view;
}

/** Version 4, as RFC 9562 writes it. */
function uuid(): `${string}-${string}-${string}-${string}-${string}` {
  const bytes = draw.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

type BytesTaker = (error: Error | null, bytes: Buffer) => void;

function randomBytes(size: number, taker?: BytesTaker): Buffer | undefined {
  const bytes = Buffer.from(draw.bytes(size));
  if (taker === undefined) return bytes;
  setImmediate(taker, null, bytes);
  return undefined;
}

Math.random = () => Number(draw.bits(53)) / 2 ** 53;
Object.defineProperty(crypto, 'getRandomValues', { value: fill, writable: true, configurable: true });
Object.defineProperty(crypto, 'randomUUID', { value: uuid, writable: true, configurable: true });

const seeded = { ...nodeCrypto, randomBytes, randomUUID: uuid };
for (const name of ['node:crypto', 'crypto']) mock.module(name, () => ({ ...seeded, default: seeded }));
