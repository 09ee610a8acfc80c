import { afterAll, beforeAll } from 'bun:test';
import type { Program } from '../support/program.ts';
import { makeProject, type Project, runProject } from '../support/runtime.ts';
import { addTests } from './tests.ts';

let project: Project;
let program: Program;
beforeAll(async () => {
  project = await makeProject('bun');
  program = await runProject(project, [process.execPath, 'main.ts']);
});
afterAll(async () => {
  await program.stop();
  project.remove();
});

addTests('Bun', () => program);
