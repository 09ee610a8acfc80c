import { readFileSync, statSync } from 'node:fs';
import { VERSION } from '../../lib/base/version.ts';
import { nameOf, OWN_BYTES_MAX, type Target } from '../build/targets.ts';
import { embeddedSha256, readImage } from './image.ts';
import { run } from './run.ts';
import type { Runtime } from './runtimes.ts';

/** A program that was checked, and how far. */
export interface Checked {
  readonly bytes: number;
  readonly embedded: string;
  /** How it was run, or why it was not. */
  readonly ran: string;
}

/** The loader that a program's headers must name. */
const LOADERS: Readonly<Record<string, string>> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
  'linux-x64-musl': '/lib/ld-musl-x86_64.so.1',
  'linux-arm64-musl': '/lib/ld-musl-aarch64.so.1',
};

/** Where Debian's libc6-arm64-cross has the libraries of that processor. */
const ARM64_LIBRARIES = '/usr/aarch64-linux-gnu';

/** Checks what a program is, and runs it as far as this machine can. Throws if it is not what it should be. */
export async function checkProgram(
  path: string,
  { target, runtime, folder }: { target: Target; runtime: Runtime; folder: string },
): Promise<Checked> {
  const bytes = readFileSync(path);
  const own = bytes.length - statSync(runtime.path).size;
  const image = readImage(bytes);
  const name = nameOf(target);
  const problem = problemOf(image, name);
  if (problem !== undefined) throw new Error(`${name}: ${problem}`);
  if (own > OWN_BYTES_MAX) throw new Error(`${name}: it has ${own} bytes beside Bun, more than ${OWN_BYTES_MAX}`);
  const starter = starterOf(name);
  const ran = starter === undefined ? 'not run: headers alone' : await runs([...starter, path], name, folder);
  return { bytes: bytes.length, embedded: embeddedSha256(bytes), ran };
}

function problemOf(image: ReturnType<typeof readImage>, name: string): string | undefined {
  const format = name.startsWith('linux') ? 'ELF' : name.startsWith('darwin') ? 'Mach-O' : 'PE';
  if (image.format !== format) return `it is ${image.format}, not ${format}`;
  if (!name.split('-').includes(image.processor)) return `it is for the processor ${image.processor}`;
  if (image.format === 'ELF' && image.loader !== LOADERS[name]) return `its loader is ${image.loader}`;
  if (image.format === 'Mach-O' && image.isSigned !== true) return 'its signature is wrong';
  return undefined;
}

/** The command that runs a program of this target here; undefined if there is none. */
function starterOf(name: string): readonly string[] | undefined {
  if (name === `${process.platform}-${process.arch}`) return [];
  const qemu = Bun.which('qemu-aarch64-static') ?? Bun.which('qemu-aarch64');
  const hasLibraries = Bun.file(`${ARM64_LIBRARIES}/lib/libc.so.6`).size > 0;
  if (name === 'linux-arm64' && qemu !== null && hasLibraries) return [qemu, '-L', ARM64_LIBRARIES];
  return undefined;
}

/** Asks it for its release, then makes and checks a database: that loads most of the program. */
async function runs(command: readonly string[], name: string, folder: string): Promise<string> {
  const said = JSON.parse(await run([...command, 'version', '--json'], { cwd: folder }));
  if (said.version !== VERSION || said.target !== name) throw new Error(`${name}: it says ${JSON.stringify(said)}`);
  await run([...command, 'migrate', '--data-dir', folder], { cwd: folder });
  return command.length > 1 ? `version and migrate, by ${command[0]?.replace(/.*\//, '')}` : 'version and migrate';
}
