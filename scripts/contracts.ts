import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Abi } from 'ox';

/** The compiler's output for a contract; bytecodes are 0x-hex, the deployed one with its immutables still zero. */
export interface Artifact {
  readonly abi: Abi.Abi;
  readonly bytecode: `0x${string}`;
  readonly deployedBytecode: `0x${string}`;
  /** Of a deployed contract: the sources and the settings that it was made from, as the compiler says (JSON). */
  readonly metadata?: string;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ARTIFACTS = join(ROOT, '.world/artifacts');
const ABI_MODULE = join(ROOT, 'contracts/abi.ts');
const CREATION_CODE = join(ROOT, 'contracts/creation-code.json');
/** It holds OpenZeppelin's sources, so it is made and released, not committed. */
const STANDARD_INPUT = join(ROOT, 'dist/contracts/standard-input.json');

/** The product's contracts, the parts of its second edition, and those of its tests. */
const PRODUCT = ['contracts', 'contracts/account2', 'contracts/registry2', 'contracts/test'];
/** The contracts of the dev stack, which import none of the others: `npm start` compiles only these. */
const WORLD = ['contracts/world'];
/** The sources of the deployed contracts. */
const PUBLISHED = ['contracts', 'contracts/account2', 'contracts/registry2'];
/** The contracts that are deployed themselves: an account's implementation comes with its factory. */
const DEPLOYED = ['AccountFactory', 'AccountFactory2', 'AccountHelper', 'DIDRegistry', 'DIDRegistry2'];

/** Without metadata a comment changes no bytecode, so a contract's CREATE2 address stays. */
const SETTINGS = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
};
/** The same, and what the compiler says that the deployed contracts were made from. */
const OWN_SETTINGS = {
  ...SETTINGS,
  outputSelection: {
    ...SETTINGS.outputSelection,
    ...Object.fromEntries(DEPLOYED.map((name) => [`contracts/${name}.sol`, { [name]: ['metadata'] }])),
  },
};

/**
 * Every contract by name, one per file and named after it (`Account.t.sol` holds `AccountTest`). Compiles (some
 * seconds) only what `.world/artifacts` does not hold for these sources.
 */
export async function compileContracts(): Promise<Record<string, Artifact>> {
  return { ...(await compileFolders(PRODUCT)), ...(await compileWorld()) };
}

/** Compiles only the dev stack's contracts, in a tenth of the time. */
export function compileWorld(): Promise<Record<string, Artifact>> {
  return compileFolders(WORLD);
}

async function compileFolders(folders: readonly string[]): Promise<Record<string, Artifact>> {
  const sources = await readSources(folders);
  const key = createHash('sha256')
    .update(JSON.stringify([sources, OWN_SETTINGS]))
    .update(await readFile(join(ROOT, 'bun.lock')))
    .digest('hex');
  const names = Object.keys(sources).map(contractName);
  const cached = await Promise.all(names.map((name) => readCached(name, key)));
  if (cached.every((artifact) => artifact !== undefined)) {
    return Object.fromEntries(cached.map((artifact, i) => [names[i], artifact]));
  }
  const artifacts = await compile(sources);
  await Promise.all(Object.entries(artifacts).map(([name, artifact]) => writeCached(name, key, artifact)));
  return artifacts;
}

/** The text of `contracts/abi.ts`: the ABI of every contract of the product, one entry a line. */
export async function abiModule(): Promise<string> {
  const artifacts = await compileContracts();
  const names = await solidityFiles('contracts');
  const abis = names.map((path) => {
    const name = contractName(path);
    const lines = artifacts[name]?.abi.map((entry) => `  ${JSON.stringify(entry, withoutInternalTypes)},\n`).join('');
    return `\nexport const ${camelCase(name)}Abi = [\n${lines}] as const;\n`;
  });
  return `// Written by scripts/contracts.ts from contracts/*.sol: run \`bun run contracts\` after a change there.\n${abis.join('')}`;
}

/**
 * The text of `contracts/creation-code.json`: the code that `vault contracts deploy` deploys, without constructor
 * arguments.
 */
export async function creationCodeFile(): Promise<string> {
  const artifacts = await compileContracts();
  const codes = DEPLOYED.map((name) => [name, artifacts[name]?.bytecode]);
  return `${JSON.stringify(Object.fromEntries(codes), null, 2)}\n`;
}

/**
 * The standard JSON input of the deployed contracts, with every source that they import: from it alone anybody compiles
 * what is deployed, and block explorers verify it.
 */
export async function standardInput(): Promise<string> {
  const sources = await readSources(PUBLISHED);
  const paths = Object.keys(sources);
  for (const path of paths)
    for (const [, named = ''] of sources[path]?.content.matchAll(/^import [^"]*"([^"]+)";/gm) ?? []) {
      const imported = named.startsWith('.') ? posix.join(posix.dirname(path), named) : named;
      if (sources[imported]) continue;
      sources[imported] = { content: loadImport(imported).contents };
      paths.push(imported);
    }
  const sorted = Object.fromEntries(Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ language: 'Solidity', sources: sorted, settings: SETTINGS }, null, 2)}\n`;
}

/** Sources of packages are found by their path. */
function loadImport(path: string): { readonly contents: string } {
  return { contents: readFileSync(join(ROOT, 'node_modules', path), 'utf8') };
}

async function readSources(folders: readonly string[]): Promise<Record<string, { content: string }>> {
  const paths = (await Promise.all(folders.map(solidityFiles))).flat();
  const contents = await Promise.all(paths.map((path) => readFile(join(ROOT, path), 'utf8')));
  return Object.fromEntries(paths.map((path, i) => [path, { content: contents[i] ?? '' }]));
}

async function solidityFiles(folder: string): Promise<string[]> {
  const names = await readdir(join(ROOT, folder));
  return names
    .filter((name) => name.endsWith('.sol'))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function contractName(path: string): string {
  return basename(path, '.sol').replace(/\.t$/, 'Test');
}

async function readCached(name: string, key: string): Promise<Artifact | undefined> {
  const text = await readFile(join(ARTIFACTS, `${name}.json`), 'utf8').catch(() => '{}');
  const { key: known, ...artifact } = JSON.parse(text);
  return known === key ? artifact : undefined;
}

/** Written beside and renamed, since test processes may compile at the same time. */
async function writeCached(name: string, key: string, artifact: Artifact): Promise<void> {
  const path = join(ARTIFACTS, `${name}.json`);
  const draft = `${path}.${randomUUID()}`;
  await mkdir(ARTIFACTS, { recursive: true });
  await writeFile(draft, JSON.stringify({ key, ...artifact }));
  await rename(draft, path);
}

interface CompilerOutput {
  readonly errors?: readonly { severity: string; formattedMessage: string }[];
  readonly contracts?: Record<string, Record<string, CompiledContract>>;
}

interface CompiledContract {
  readonly abi: Abi.Abi;
  readonly metadata?: string;
  readonly evm: { readonly bytecode: { object: string }; readonly deployedBytecode: { object: string } };
}

async function compile(sources: Record<string, { content: string }>): Promise<Record<string, Artifact>> {
  // Imported here because loading the compiler takes longer than everything else.
  const { default: solc } = await import('solc');
  const input = JSON.stringify({ language: 'Solidity', sources, settings: OWN_SETTINGS });
  const output: CompilerOutput = JSON.parse(solc.compile(input, { import: loadImport }));
  if (output.errors?.length) throw new Error(output.errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const artifacts: Record<string, Artifact> = {};
  for (const path of Object.keys(sources)) {
    const name = contractName(path);
    const contract = output.contracts?.[path]?.[name];
    if (!contract) throw new Error(`${path} holds no contract ${name}`);
    const { abi, evm, metadata } = contract;
    artifacts[name] = {
      abi,
      bytecode: `0x${evm.bytecode.object}`,
      deployedBytecode: `0x${evm.deployedBytecode.object}`,
      ...(metadata ? { metadata } : {}),
    };
  }
  return artifacts;
}

/** They repeat the type, or name a Solidity struct that no client knows. */
function withoutInternalTypes(key: string, value: unknown): unknown {
  return key === 'internalType' ? undefined : value;
}

/** `DIDRegistry` → `didRegistry`. */
function camelCase(name: string): string {
  return name.replace(/^(?:[A-Z]+(?=[A-Z])|[A-Z])/, (start) => start.toLowerCase());
}

if (import.meta.main) {
  await writeFile(ABI_MODULE, await abiModule());
  await writeFile(CREATION_CODE, await creationCodeFile());
  await mkdir(dirname(STANDARD_INPUT), { recursive: true });
  await writeFile(STANDARD_INPUT, await standardInput());
}
