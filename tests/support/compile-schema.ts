import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { OpenApi } from '../../scripts/openapi/document.ts';
import { closed } from './closed-schema.ts';

/** Makes the program of a validator, for the schema at a JSON pointer into the document. */
export function createCompiler(document: OpenApi): (pointer: string) => string {
  // To make the code of a schema better takes longer than what a test process then runs of it.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false, source: true } });
  ajv.addSchema(closed(document), 'vault', false, false);
  return (pointer) => {
    const validate = ajv.getSchema(`vault#${pointer}`);
    if (!validate) throw new Error(`no schema at ${pointer}`);
    return standalone(ajv, validate);
  };
}
