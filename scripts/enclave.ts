// bun scripts/enclave.ts: compiles assets/enclave/ (AssemblyScript) to assets/enclave.wasm; a test says when that is
// stale.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { installTools } from './testing/tools.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Where the module is kept. */
export const ENCLAVE_FILE = join(ROOT, 'assets/enclave.wasm');

/**
 * The compiler's arguments, in every runtime. Paths are relative to the root, so that no machine's are in the module.
 */
export const ENCLAVE_ARGUMENTS = ['assets/enclave/index.ts', '--config', 'assets/enclave/asconfig.json'] as const;

/** The module, and its text in WebAssembly's own language. */
export interface CompiledEnclave {
  readonly module: Uint8Array;
  readonly text: string;
}

/** Compiles the sources as they are; some seconds. Throws what the compiler says. */
export async function compileEnclave(): Promise<CompiledEnclave> {
  // Imported here because loading the compiler takes a while.
  const { createMemoryStream, main } = await import('../tests/tools/node_modules/assemblyscript/dist/asc.js');
  const stderr = createMemoryStream();
  let module: Uint8Array | undefined;
  let text = '';
  const write = (_name: string, contents: Uint8Array | string) => {
    if (typeof contents === 'string') text = contents;
    else module = Uint8Array.from(contents);
  };
  const outputs = ['--outFile', 'enclave.wasm', '--textFile', 'enclave.wat'];
  const { error } = await main([...ENCLAVE_ARGUMENTS, '--baseDir', ROOT, ...outputs], { stderr, writeFile: write });
  if (error || !module) throw new Error(`${error?.message ?? 'The compiler made nothing'}\n${stderr.toString()}`);
  return { module, text };
}

/** Bytes, bytes when compressed, and hash. */
function describe(module: Uint8Array): string {
  const hash = createHash('sha256').update(module).digest('hex');
  return `${module.length} bytes, ${gzipSync(module, { level: 9 }).length} with gzip, SHA-256 ${hash}`;
}

if (import.meta.main) {
  installTools();
  const { module } = await compileEnclave();
  await writeFile(ENCLAVE_FILE, module);
  console.log(`assets/enclave.wasm: ${describe(module)}`);
}
