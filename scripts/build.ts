// npm run build [-- --target=TARGET]: the one-file program dist/vault, and the package that others embed, with the
// files it serves.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleAssets } from '../assets/bundle.ts';
import { bundleClientPart, CLIENT_PARTS } from '../assets/client-parts.ts';
import { readCommit } from './commit.ts';
import { keptApart } from './kept-apart.ts';
import { type Assets, packAssets } from './packed-assets.ts';
import { readyMade } from './ready-made.ts';
import { hasRightSignature, signedAdHoc } from './release/mac-signature.ts';
import { leaveRestOut, REST } from './rest.ts';
import { tablesAsConstants } from './tables.ts';
import { programName, readTarget, type Target, USAGE } from './targets.ts';
import { withoutAnswers } from './without-answers.ts';

const ROOT = join(import.meta.dir, '..');

/** How a program is built, where it is not for this machine and of this moment. */
export interface Making {
  /** Without an `executable` of it, Bun's comes from the package registry. */
  readonly target?: Target | undefined;
  readonly executable?: string;
  /**
   * Where the embedded files are made; it must not be there yet. Names in the program depend on its path from the
   * working directory, so a release has one that is always the same.
   */
  readonly folder?: string;
  /** The public key of who signs the release. */
  readonly publicKey?: string | null;
}

/** The program as one file without anything it would look for at run time. */
export async function buildProgram(outfile: string, making: Making = {}): Promise<void> {
  const folder = making.folder ?? (await mkdtemp(join(tmpdir(), 'vault-assets-')));
  if (making.folder !== undefined) await mkdir(folder);
  try {
    const plugins = [
      tablesAsConstants,
      await leaveRestOut(),
      withoutAnswers,
      embed(await packAssets(await writeAssets(folder))),
      await embedReadyMade(folder),
      ...(await keptApart(folder)),
    ];
    await compile(outfile, making, plugins);
    if (isForMac(making.target)) await mendSignature(outfile);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function isForMac(target: Target | undefined): boolean {
  return target === undefined ? process.platform === 'darwin' : target.startsWith('bun-darwin');
}

/** Bun leaves its own signature in a program for Intel's Macs, which what is embedded makes wrong. */
async function mendSignature(outfile: string): Promise<void> {
  const program = await readFile(outfile);
  if (!hasRightSignature(program)) await writeFile(outfile, signedAdHoc(program));
}

/** The program, the thread that writes, and what a start leaves out. */
const ENTRIES = ['server.ts', 'commands/storage/writer.ts', REST];

async function compile(outfile: string, making: Making, plugins: Bun.BunPlugin[]): Promise<void> {
  const { target, executable, publicKey = null } = making;
  const built = { ...readCommit(), publicKey };
  await Bun.build({
    // The thread that writes has an entry of its own. It shares the chunks of the program, so it costs 20 kB.
    entrypoints: ENTRIES.map((path) => join(ROOT, path)),
    root: ROOT,
    target: 'bun',
    format: 'esm',
    // Names stay, so that a stack in a log can be read; a map would cost five times as much.
    minify: { whitespace: true, syntax: true, identifiers: false },
    bytecode: true,
    sourcemap: 'none',
    // What is imported on demand (SMTP, the libSQL client) is then not loaded at the start.
    splitting: true,
    // What cannot be bundled would fail only at the user's. The empty pattern stands for the modules kept apart, which
    // are found by a path.
    allowUnresolved: [''],
    plugins,
    define: { 'process.env.NODE_ENV': '"production"', VAULT_BUILT: JSON.stringify(built) },
    compile: {
      outfile,
      // Else the program would run code and take settings from the directory it is started in.
      autoloadDotenv: false,
      autoloadBunfig: false,
      ...(target === undefined ? {} : { target }),
      ...(executable === undefined ? {} : { executablePath: executable }),
    },
  });
}

async function writeAssets(folder: string): Promise<Assets> {
  const written: Record<string, Assets[string]> = {};
  for (const [path, content] of Object.entries(await bundleAssets())) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await Bun.write(file, content);
    const bytes = await Bun.file(file).bytes();
    written[path] = { file, sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('base64') };
  }
  return written;
}

/** Puts the files into the program: `commands/serve/embedded.ts` then imports each of them. */
function embed(assets: Assets): Bun.BunPlugin {
  const all = Object.entries(assets);
  const imports = all.map(([, { file }], i) => `import file${i} from ${JSON.stringify(file)} with { type: 'file' };`);
  const entries = all.map(
    ([path, { sha256 }], i) => `${JSON.stringify(path)}: { content: file${i}, sha256: "${sha256}" }`,
  );
  const contents = `${imports.join('\n')}\nexport const findAssets = async () => ({ ${entries.join(', ')} });`;
  return {
    name: 'embed',
    setup(build) {
      build.onLoad({ filter: /commands[\\/]serve[\\/]embedded\.ts$/ }, () => ({ contents, loader: 'js' }));
    },
  };
}

/** Puts the database that a first start begins with into the program. */
async function embedReadyMade(folder: string): Promise<Bun.BunPlugin> {
  const file = join(folder, 'vault.db.zst');
  await Bun.write(file, await readyMade());
  const contents = `import file from ${JSON.stringify(file)} with { type: 'file' };\nexport const READY_MADE = file;`;
  return {
    name: 'embed the ready-made database',
    setup(build) {
      build.onLoad({ filter: /commands[\\/]storage[\\/]ready-made-file\.ts$/ }, () => ({ contents, loader: 'js' }));
    },
  };
}

/**
 * The vault, its client, the enclave's client and the check of payments as modules for any Fetch runtime, their
 * dependencies left outside, with their types.
 */
export async function buildPackage(folder: string): Promise<void> {
  for (const entry of ['routes/index.ts', 'client/enclave.ts']) {
    await Bun.build({
      entrypoints: [join(ROOT, entry)],
      outdir: folder,
      target: 'browser',
      format: 'esm',
      packages: 'external',
      sourcemap: 'none',
      plugins: [withoutAnswers],
    });
  }
  for (const [part, path] of Object.entries(CLIENT_PARTS)) {
    await Bun.write(join(folder, path), await bundleClientPart(part, false));
  }
  for (const name of ['types', 'assets']) await rm(join(folder, name), { recursive: true, force: true });
  await writeAssets(join(folder, 'assets'));
  await run(
    process.execPath,
    'node_modules/typescript/bin/tsc',
    ...TYPES,
    '--outDir',
    join(folder, 'types'),
    ...MODULES,
  );
  await nameModules(join(folder, 'types'));
}

/** What the package exports: `vault`, `vault/client`, `vault/enclave` and `vault/payments`. */
const MODULES = ['routes/index.ts', 'client/vault/index.ts', 'client/enclave.ts', 'client/payments.ts'];

const TYPES = [
  '--ignoreConfig --declaration --emitDeclarationOnly --allowImportingTsExtensions --skipLibCheck --strict',
  '--exactOptionalPropertyTypes --target ES2023 --lib ES2023,ES2024.String,DOM,DOM.Iterable --module Preserve --moduleResolution bundler --rootDir .',
].flatMap((flags) => flags.split(' '));

/** Declarations name each other as `.js`: that is what every resolver of a consumer looks up as `.d.ts`. */
async function nameModules(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const file = Bun.file(join(folder, name));
    await Bun.write(file, (await file.text()).replace(/((?:from |import\()["']\.[^"']*)\.ts(["'])/g, '$1.js$2'));
  }
}

async function run(...command: string[]): Promise<void> {
  const { exited } = Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if ((await exited) !== 0) throw new Error(`${command[1]} failed`);
}

async function main(words: readonly string[]): Promise<void> {
  if (words.includes('--help')) return console.log(USAGE);
  let target: Target | undefined;
  try {
    target = readTarget(words);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
  const dist = join(ROOT, 'dist');
  await mkdir(dist, { recursive: true });
  const name = programName(target);
  await buildProgram(join(dist, name), { target });
  if (target === undefined) await buildPackage(dist);
  for (const file of target === undefined ? [name, 'index.js'] : [name]) {
    const { size } = await stat(join(dist, file));
    console.log(`dist/${file}  ${(size / 1e6).toFixed(2)} MB`);
  }
}

if (import.meta.main) await main(process.argv.slice(2));
