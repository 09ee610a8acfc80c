// Validators of the API's answers. To load the compiler, read the whole description and compile took a test process a
// tenth of a second and more: what one process of a run compiled is a program that the others run.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import type { OpenApi } from '../../scripts/openapi/document.ts';
import { writeWhole } from './once.ts';

/**
 * The validator of the schema at a JSON pointer into the document. Compiled at its first use; with a folder, if no
 * process has left its program there. All at once, so that nothing of a test comes in between.
 */
export function openValidators(document: OpenApi, folder?: string): (pointer: string) => ValidateFunction {
  const opened = new Map<string, ValidateFunction>();
  let compiler: ((pointer: string) => string) | undefined;
  const compile = (pointer: string) => {
    compiler ??= (require('./compile-schema.ts') as typeof import('./compile-schema.ts')).createCompiler(document);
    return compiler(pointer);
  };
  const programOf = (pointer: string) => {
    if (folder === undefined) return compile(pointer);
    const path = join(folder, `schema-${Bun.hash(pointer).toString(36)}.js`);
    if (existsSync(path)) return readFileSync(path, 'utf8');
    const made = compile(pointer);
    writeWhole(path, made);
    return made;
  };
  return (pointer) => {
    const found = opened.get(pointer) ?? run(programOf(pointer));
    opened.set(pointer, found);
    return found;
  };
}

const require = createRequire(import.meta.url);

/** A program of the compiler is a CommonJS module that exports the validator. */
function run(program: string): ValidateFunction {
  const module: { exports: unknown } = { exports: undefined };
  new Function('module', 'exports', 'require', program)(module, {}, require);
  return module.exports as ValidateFunction;
}
