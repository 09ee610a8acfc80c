import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type CompiledEnclave, compileEnclave, ENCLAVE_ARGUMENTS } from '../../scripts/enclave.ts';
import { oncePerRun } from './once.ts';

const FOLDER = join(import.meta.dir, '../../assets/enclave');
const ARTIFACTS = join(import.meta.dir, '../../.world/artifacts');

/** What reaches behind the enclave's interface: integers as limbs, scalars and seeds as they are. */
const SOURCE = `
import { enter, invert, leave, multiply, setModulus } from './field.ts';
import { add, fromBytes, subtract, toBytes } from './limbs.ts';
import { reduceMontgomery } from './montgomery.ts';
import { product, productMinus, productPlus, square } from './product.ts';
import { reduce25519, reduceP256, reduceSecp256k1 } from './reduce.ts';
import { ecdsaPublicKey, ecdsaSign } from './ecdsa.ts';
import { p256 } from './p256.ts';
import { secp256k1 } from './secp256k1.ts';
import { ed25519PublicKey, ed25519Sign } from './ed25519.ts';
import { sha512Final, sha512Init, sha512Update } from './sha512.ts';
const WINDOW = memory.data(8192);
const M = memory.data(160);
const A = memory.data(40);
const B = memory.data(40);
export function write(at: usize, word: u32): void { store<u32>(WINDOW + at, word); }
export function read(at: usize): u32 { return load<u32>(WINDOW + at); }
export function modulus(at: usize, reduction: i32): void {
  let index: u32 = reduceMontgomery.index;
  if (reduction === 1) index = reduceP256.index;
  if (reduction === 2) index = reduceSecp256k1.index;
  if (reduction === 3) index = reduce25519.index;
  setModulus(M, WINDOW + at, index, reduction < 2 ? 260 : 0);
}
function open(a: usize, b: usize): void {
  fromBytes(A, WINDOW + a);
  fromBytes(B, WINDOW + b);
  enter(A, A, M);
  enter(B, B, M);
}
function close(out: usize): void {
  leave(A, A, M);
  toBytes(WINDOW + out, A);
}
export function times(a: usize, b: usize, out: usize): void { open(a, b); multiply(A, A, B, M); close(out); }
export function plus(a: usize, b: usize, out: usize): void { open(a, b); add(A, A, B); close(out); }
export function minus(a: usize, b: usize, out: usize): void { open(a, b); subtract(A, A, B); close(out); }
export function inverse(a: usize, out: usize): void { open(a, a); invert(A, A, M); close(out); }
// Ten limbs each, as they stand: a · b, a², a · b + c · d and a · b - c · d.
function reduced(out: usize): void {
  call_indirect<void>(load<u32>(M, 156), A, M);
  memory.copy(WINDOW + out, A, 40);
}
export function raw(a: usize, b: usize, out: usize): void { product(WINDOW + a, WINDOW + b); reduced(out); }
export function raw_square(a: usize, out: usize): void { square(WINDOW + a); reduced(out); }
export function raw_plus(a: usize, b: usize, c: usize, d: usize, out: usize): void {
  product(WINDOW + a, WINDOW + b);
  productPlus(WINDOW + c, WINDOW + d);
  reduced(out);
}
export function raw_minus(a: usize, b: usize, c: usize, d: usize, out: usize): void {
  product(WINDOW + a, WINDOW + b);
  productMinus(WINDOW + c, WINDOW + d);
  reduced(out);
}
export function public_key(curve: i32, secret: usize, out: usize): bool {
  if (curve === 0) return ecdsaPublicKey(WINDOW + secret, WINDOW + out, p256());
  if (curve === 1) return ecdsaPublicKey(WINDOW + secret, WINDOW + out, secp256k1());
  ed25519PublicKey(WINDOW + secret, WINDOW + out);
  return true;
}
export function sign(curve: i32, secret: usize, p: usize, n: usize, out: usize): i32 {
  if (curve === 0) return ecdsaSign(WINDOW + secret, WINDOW + p, WINDOW + out, p256());
  if (curve === 1) return ecdsaSign(WINDOW + secret, WINDOW + p, WINDOW + out, secp256k1());
  ed25519Sign(WINDOW + secret, WINDOW + p, n, WINDOW + out);
  return 0;
}
export function sha512(p: usize, n: usize, first: usize, out: usize): void {
  sha512Init();
  sha512Update(WINDOW + p, first);
  sha512Update(WINDOW + p + first, n - first);
  sha512Final(WINDOW + out);
}
export function memory_word(at: usize): u32 { return load<u32>(at); }
export function memory_bytes(): usize { return <usize>memory.size() << 16; }
export function window_at(): usize { return WINDOW; }
`;

type Call = (...numbers: number[]) => number;

/** The enclave's parts, compiled for the test from the sources as they are, with bytes in and out. */
export interface Inside {
  readonly call: Readonly<Record<string, Call>>;
  put(at: number, bytes: Uint8Array): number;
  get(at: number, n: number): Uint8Array;
}

/** Opens the parts, compiled of the sources as they are. */
export async function openInside(): Promise<Inside> {
  const module = new WebAssembly.Module(await (await readCompiled()).inside.bytes());
  const call = new WebAssembly.Instance(module).exports as unknown as Inside['call'];
  const of = (name: string): Call => call[name] ?? (() => Number.NaN);
  const [write, read] = [of('write'), of('read')];
  return {
    call,
    put(at, bytes) {
      const view = new DataView(Uint8Array.from([...bytes, 0, 0, 0]).buffer);
      for (let i = 0; i < bytes.length; i += 4) write(at + i, view.getUint32(i, true));
      return at;
    },
    get(at, n) {
      const words = Uint32Array.from({ length: (n + 3) >> 2 }, (_, i) => read(at + 4 * i));
      return new Uint8Array(words.buffer, 0, n);
    },
  };
}

const FILES = { module: 'enclave.wasm', text: 'enclave.wat', inside: 'inside.wasm' } as const;

/** The enclave itself, compiled of the sources as they are. */
export async function compiledEnclave(): Promise<CompiledEnclave> {
  const { module, text } = await readCompiled();
  return { module: await module.bytes(), text: await text.text() };
}

/**
 * Both modules, compiled once for these sources and kept in `.world/artifacts`, as contracts are: it takes seconds, and
 * the second module half as long as the first.
 */
async function readCompiled(): Promise<Readonly<Record<keyof typeof FILES, Bun.BunFile>>> {
  const folder = join(ARTIFACTS, `enclave-${keyOfSources()}`);
  if (!existsSync(folder)) await oncePerRun(basename(folder), () => compileTo(folder));
  const file = (name: keyof typeof FILES) => Bun.file(join(folder, FILES[name]));
  return { module: file('module'), text: file('text'), inside: file('inside') };
}

/** The lock file names the compiler. */
function keyOfSources(): string {
  const hash = createHash('sha256').update(JSON.stringify([SOURCE, ENCLAVE_ARGUMENTS]));
  for (const name of [...new Bun.Glob('**/*').scanSync(FOLDER)].sort()) hash.update(name).update(readIn(FOLDER, name));
  return hash.update(readIn(import.meta.dir, '../tools/bun.lock')).digest('hex');
}

const readIn = (folder: string, name: string) => readFileSync(join(folder, name));

async function compileTo(folder: string): Promise<void> {
  const made = { ...(await compileEnclave()), inside: await compile() };
  const draft = `${folder}.${randomUUID()}`;
  for (const name of ['module', 'text', 'inside'] as const) await Bun.write(join(draft, FILES[name]), made[name]);
  // Another run may have been faster: its folder is the same, and a reader never sees half of one.
  await rename(draft, folder).catch((error) => {
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  });
}

/** Throws what the compiler says. */
async function compile(): Promise<Uint8Array<ArrayBuffer>> {
  const { createMemoryStream, main } = await import('../tools/node_modules/assemblyscript/dist/asc.js');
  const stderr = createMemoryStream();
  let made: Uint8Array<ArrayBuffer> | undefined;
  const { error } = await main(
    ['inside.ts', '--config', 'asconfig.json', '--baseDir', FOLDER, '--outFile', 'inside.wasm'],
    {
      stderr,
      readFile: async (name: string) => {
        if (name === 'inside.ts') return SOURCE;
        const file = Bun.file(join(FOLDER, name));
        return (await file.exists()) ? file.text() : null;
      },
      writeFile: (_name: string, contents: Uint8Array | string) => {
        if (typeof contents !== 'string') made = Uint8Array.from(contents);
      },
    },
  );
  if (error || !made) throw new Error(`${error?.message ?? 'The compiler made nothing'}\n${stderr.toString()}`);
  return made;
}
