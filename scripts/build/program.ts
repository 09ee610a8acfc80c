import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embedAssets } from './embed-assets.ts';
import { hasRightSignature, signedAdHoc } from './mac-signature.ts';
import { nodemailerAsSource } from './nodemailer-as-source.ts';
import { readCommit } from './read-commit.ts';
import type { Target } from './targets.ts';

const ROOT = join(import.meta.dir, '../..');

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
  /** The public key of the releases' signer. */
  readonly publicKey?: string | null;
}

/** The program as one file without anything it would look for at run time. */
export async function buildProgram(outfile: string, making: Making = {}): Promise<void> {
  const folder = making.folder ?? (await mkdtemp(join(tmpdir(), 'vault-assets-')));
  if (making.folder !== undefined) await mkdir(folder);
  try {
    const plugins = [await embedAssets(folder), await nodemailerAsSource(folder)];
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

/** The program, and the thread that writes. */
const ENTRIES = ['server.ts', 'commands/storage/writer.ts'];

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
    // Modules imported on demand (SMTP, the libSQL client) are then not loaded at the start.
    splitting: true,
    // An import that cannot be bundled would fail only at the user's. The empty pattern allows nodemailer, which is
    // found by a path.
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
