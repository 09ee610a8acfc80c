import { afterAll, beforeAll, describe } from 'bun:test';
import type { Program } from '../support/program.ts';
import { makeProject, type Project, programOf, runProject } from '../support/runtime.ts';
import { addTests } from './tests.ts';

// Not the package's own script, which would be ended in place of the program it runs.
const deno = programOf('@deno/linux-x64-glibc/deno');

describe.skipIf(!deno)('in Deno', () => {
  let project: Project;
  let program: Program;
  beforeAll(async () => {
    project = await makeProject('deno');
    const options = ['--allow-all', '--no-remote', '--node-modules-dir=manual', '--quiet'];
    program = await runProject(project, [deno ?? '', 'run', ...options, 'main.ts'], { DENO_NO_UPDATE_CHECK: '1' });
  });
  afterAll(async () => {
    await program.stop();
    project.remove();
  });

  addTests('Deno', () => program);
});
