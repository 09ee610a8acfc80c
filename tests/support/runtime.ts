import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { toolPath } from '../../scripts/testing/tools.ts';
import { temporaryFolder } from './databases.ts';
import { packageOfRun } from './package.ts';
import { type Program, startListening } from './program.ts';
import { VAULT_SECRET } from './vault.ts';

const ROOT = join(import.meta.dir, '../..');

/**
 * A project of somebody who embeds the vault: a folder with the package and what the examples need beside it, and one
 * example.
 */
export interface Project {
  readonly path: string;
  /** Settings of a vault in it, on a port of its own. */
  readonly vars: Readonly<Record<string, string>>;
  /** Writes a file of the project; gives its path. */
  write(name: string, text: string): string;
  remove(): void;
}

/** Makes the project with the example as `main.ts`. The package is built of the sources as they are now, once a run. */
export async function makeProject(example: string): Promise<Project> {
  await packageOfRun();
  const folder = temporaryFolder();
  const link = (name: string, target: string) => {
    mkdirSync(join(folder.path, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(join(ROOT, target), join(folder.path, 'node_modules', name));
  };
  link('vault', '.');
  for (const name of ['@libsql', 'srvx', 'nodemailer', 'bun-types']) link(name, join('node_modules', name));
  const write = (name: string, text: string) => {
    writeFileSync(join(folder.path, name), text);
    return join(folder.path, name);
  };
  write('package.json', '{ "name": "project", "type": "module", "private": true }');
  copyFileSync(join(ROOT, 'examples', `${example}.ts`), join(folder.path, 'main.ts'));
  const port = String(freePort());
  const vars = {
    PORT: port,
    BASE_URL: `http://localhost:${port}`,
    DATABASE_URL: `file:${join(folder.path, 'vault.db')}`,
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
  };
  return { path: folder.path, vars, write, remove: folder.remove };
}

/** Runs a command in the project until it listens; a home of its own keeps caches out of the user's. */
export function runProject(
  project: Project,
  command: readonly string[],
  vars: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: project.path, ...project.vars, ...vars };
  return startListening(command, { cwd: project.path, env });
}

/** A program that a development dependency brings, undefined where it has none for this machine. */
export function programOf(path: string): string | undefined {
  const program = toolPath(path);
  return existsSync(program) ? program : undefined;
}

/** The project's `main.ts` as JavaScript: Node 20 does not take TypeScript. */
export function transpile(project: Project): string {
  const source = readFileSync(join(project.path, 'main.ts'), 'utf8');
  return project.write('main.mjs', new Bun.Transpiler({ loader: 'ts', target: 'node' }).transformSync(source));
}
