import { afterAll, beforeAll } from 'bun:test';
import type { Program } from '../support/program.ts';
import { makeProject, type Project, runProject, transpile } from '../support/runtime.ts';
import { addTests } from './tests.ts';

let project: Project;
let program: Program;
beforeAll(async () => {
  project = await makeProject('node');
  program = await runProject(project, ['node', transpile(project)]);
});
afterAll(async () => {
  await program.stop();
  project.remove();
});

addTests('Node', () => program);
