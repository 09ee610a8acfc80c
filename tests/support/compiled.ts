// What the Solidity compiler makes of an input, kept in .world/artifacts as the contracts themselves are.
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Hex } from 'ox';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = `${ROOT}.world/artifacts/inputs/`;

interface Output {
  readonly errors?: readonly { readonly formattedMessage: string; readonly severity: string }[];
  readonly contracts: Readonly<
    Record<string, Readonly<Record<string, { readonly evm: { readonly bytecode: { readonly object: string } } }>>>
  >;
}

/** What the compiler makes of an input: creation codes by `path:name`, and what it warns of. */
interface Compiled {
  readonly codes: Readonly<Record<string, Hex.Hex>>;
  readonly warnings: readonly string[];
}

/**
 * Compiles a standard JSON input, once for the same input and compiler. `load` answers imports of sources that it
 * lacks. Throws what the compiler refuses.
 */
export async function compileOnce(
  input: string,
  load?: (path: string) => { readonly contents: string },
): Promise<Compiled> {
  // The lock file names the compiler and the packages whose sources are loaded.
  const key = createHash('sha256')
    .update(readFileSync(`${ROOT}bun.lock`))
    .update(input)
    .digest('hex');
  const path = `${FOLDER}${key}.json`;
  const known = await readFile(path, 'utf8').catch(() => undefined);
  if (known) return JSON.parse(known);
  const { default: solc } = await import('solc');
  const { contracts, errors = [] }: Output = JSON.parse(solc.compile(input, load && { import: load }));
  const warnings = errors.map(({ formattedMessage }) => formattedMessage);
  if (errors.some(({ severity }) => severity === 'error')) throw new Error(warnings.join('\n'));
  const codes = Object.entries(contracts).flatMap(([path, own]) =>
    Object.entries(own).map(([name, { evm }]) => [`${path}:${name}`, `0x${evm.bytecode.object}`]),
  );
  const text = JSON.stringify({ codes: Object.fromEntries(codes), warnings });
  await mkdir(FOLDER, { recursive: true });
  // Written beside and renamed, since test processes may compile at the same time.
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, text);
  await rename(draft, path);
  return JSON.parse(text);
}
