import { afterAll, beforeAll, describe } from 'bun:test';
import { join } from 'node:path';
import { type LibsqlServer, libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import type { Program } from '../support/program.ts';
import { makeProject, type Project, programOf, runProject } from '../support/runtime.ts';
import { until } from '../support/until.ts';
import { addTests } from './tests.ts';

// Not the package's own script, which would be ended in place of the program it runs.
const workerd = programOf('@cloudflare/workerd-linux-64/bin/workerd');

describe.skipIf(!workerd || !libsqlProgram())('in workerd, on a libSQL server', () => {
  let project: Project;
  let program: Program;
  let database: LibsqlServer | undefined;
  beforeAll(async () => {
    project = await makeProject('workerd');
    database = await startLibsql({ dir: join(project.path, 'libsql') });
    await bundle(project);
    const config = configOf({ ...project.vars, DATABASE_URL: database?.url ?? '' });
    // It says nothing by itself once it listens.
    const script = `echo "listening on http://127.0.0.1:${project.vars['PORT']}"; exec "$0" serve "$1" --verbose`;
    program = await runProject(project, ['sh', '-c', script, workerd ?? '', project.write('config.capnp', config)]);
    await until('it listens', () => fetch(`${program.url}/healthz`).catch(() => undefined));
  });
  afterAll(async () => {
    await program.stop();
    await database?.stop();
    project.remove();
  });

  addTests('workerd', () => program);
});

async function bundle({ path }: Project): Promise<void> {
  await Bun.build({
    entrypoints: [join(path, 'main.ts')],
    outdir: path,
    target: 'browser',
    conditions: ['workerd'],
    naming: 'worker.js',
  });
}

/** One worker on loopback, that may reach loopback: the settings are its bindings. */
function configOf(vars: Readonly<Record<string, string>>): string {
  const bindings = Object.entries(vars).map(
    ([name, text]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "2025-01-01",
      bindings = [${bindings.join(', ')}, (name = "ASSETS", service = "assets")],
    )),
    (name = "assets", disk = ${JSON.stringify(join(import.meta.dir, '../../dist/assets'))}),
    (name = "internet", network = (allow = ["public", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${vars['PORT']}", http = (), service = "main")],
);
`;
}
