// The schemas of the rows as JSON Schema 2020-12; those that `routes/answers/` exports become components.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';

const ANSWERS = join(import.meta.dir, '../../routes/answers');

/** A JSON Schema, or any other object of the document. */
export type Json = { readonly [name: string]: unknown };

/** The named schemas, and the conversion of any schema into JSON Schema that refers to them. */
export interface Schemas {
  readonly components: Readonly<Record<string, Json>>;
  /** The schema of a client's request. */
  input(schema: v.GenericSchema): Json;
  /** The schema of the vault's answer. */
  output(schema: v.GenericSchema): Json;
}

/** Reads the named schemas. */
export async function readSchemas(): Promise<Schemas> {
  const definitions: Record<string, v.GenericSchema> = {};
  const sentences: Record<string, string> = {};
  for (const name of readdirSync(ANSWERS).sort()) {
    const path = join(ANSWERS, name);
    const source = await Bun.file(path).text();
    for (const [exported, value] of Object.entries(await import(path))) {
      if (typeof value !== 'object') continue;
      definitions[exported] = value as v.GenericSchema;
      const comment = new RegExp(`/\\*\\* ([^*]+) \\*/\\nexport const ${exported} = v\\.`).exec(source);
      if (comment?.[1]) sentences[exported] = comment[1].replace(/\.$/, '');
    }
  }
  const convert = (schema: v.GenericSchema, typeMode: 'input' | 'output', known = definitions): Json => {
    const {
      $schema: _,
      $defs: __,
      ...converted
    } = toJsonSchema(wireOf(schema), {
      target: 'draft-2020-12',
      typeMode,
      // Checks that JSON Schema cannot express are the vault's own to make.
      errorMode: 'ignore',
      definitions: known,
      overrideSchema: ({ valibotSchema, jsonSchema }) =>
        valibotSchema.type === 'loose_object' ? { ...jsonSchema, additionalProperties: true } : typed(jsonSchema),
      overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    });
    return converted as Json;
  };
  const components = Object.entries(definitions).map(([name, schema]) => {
    const { [name]: _, ...others } = definitions;
    const sentence = sentences[name] === undefined ? {} : { description: sentences[name] };
    return [name, { ...sentence, ...convert(schema, 'output', others) }];
  });
  return {
    components: Object.fromEntries(components),
    input: (schema) => convert(schema, 'input'),
    output: (schema) => convert(schema, 'output'),
  };
}

/** A word with its type: without it generators of clients take it for anything. */
function typed(schema: JsonSchema): JsonSchema {
  const type = typeof (schema.const ?? schema.enum?.[0]);
  const isPlain = type === 'string' || type === 'number' || type === 'boolean';
  return isPlain && schema.type === undefined ? { ...schema, type } : schema;
}

/** The schema on the wire of a field that a service judges itself. */
function wireOf(schema: v.GenericSchema): v.GenericSchema {
  const { wire } = v.getMetadata(schema) as { readonly wire?: v.GenericSchema };
  return wire ?? schema;
}
