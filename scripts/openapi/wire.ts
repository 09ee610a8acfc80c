// The types of `client/vault/wire.ts`, written from the document: what each operation takes and answers, for clients.
import { join } from 'node:path';
import { toolPath } from '../testing/tools.ts';
import { openApiDocument } from './document.ts';
import type { Json } from './schemas.ts';

/** The text of the file, as the formatter leaves it. */
export async function wireTypes(): Promise<string> {
  const format = [toolPath('.bin/biome'), 'format', `--stdin-file-path=${WIRE_FILE}`];
  const child = Bun.spawn(format, { cwd: join(import.meta.dir, '../..'), stdin: 'pipe', stdout: 'pipe' });
  child.stdin.write(await unformatted());
  child.stdin.end();
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${WIRE_FILE} cannot be formatted`);
  return text;
}

/** Where it is written. */
export const WIRE_FILE = 'client/vault/wire.ts';

async function unformatted(): Promise<string> {
  const { paths, components } = await openApiDocument();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => operationOf(`${method.toUpperCase()} ${path}`, operation)),
  );
  const named = Object.entries(components.schemas).flatMap(([name, schema]) =>
    name === 'Error' ? [] : [`/** ${aboutOf(name, schema)}. */\nexport type ${name} = ${typeOf(schema, 'answer')};\n`],
  );
  return [HEAD, ...named, OPERATIONS, ...operations, '}\n', FOOT].join('\n');
}

const HEAD = `// Written by \`bun scripts/docs.ts\` from the rows of routes/: change it there. Types alone.
`;

const OPERATIONS = `/** Every operation that answers JSON, by method and path: what it takes, and what it answers. */
export interface Operations {`;

const FOOT = `/** The name of an operation, such as \`POST /api/verify/send\`. */
export type OperationName = keyof Operations;
/** The input of an operation. */
export type InputOf<Name extends OperationName> = Operations[Name]['input'];
/** The answer of an operation. */
export type AnswerOf<Name extends OperationName> = Operations[Name]['answer'];
`;

/** Clients write what they send; of what they read they want to know as much as there is. */
type Side = 'input' | 'answer';

function operationOf(name: string, operation: Json): string[] {
  const answers = answersOf(operation);
  // Files and pages, streams, and paths with a part that is chosen.
  if (answers.length === 0 || name.includes('{')) return [];
  return [
    `  /** ${operation['summary']}. */`,
    `  '${name}': { input: ${inputOf(operation)}; answer: ${answers.join(' | ')} };`,
  ];
}

function answersOf({ responses }: Json): string[] {
  const all = Object.entries(responses as Json).filter(([status]) => status.startsWith('2'));
  const schemas = all.flatMap(([, response]): readonly Json[] => {
    const { content } = response as { content?: Readonly<Record<string, { schema?: Json }>> };
    const schema = content?.['application/json']?.schema;
    return schema ? [schema] : [];
  });
  return [...new Set(schemas.map((schema) => typeOf(schema, 'answer')))];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Json;
}

function inputOf({ parameters = [], requestBody }: Json): string {
  const { content } = (requestBody ?? {}) as { content?: Readonly<Record<string, { schema?: Json }>> };
  const body = content?.['application/json']?.schema;
  if (body) return typeOf(body, 'input');
  const query = (parameters as readonly Parameter[]).filter((one) => one.in === 'query');
  if (query.length === 0) return 'Readonly<Record<never, never>>';
  // A number becomes its digits in the query.
  const member = ({ name, required, schema }: Parameter) => {
    const isNumber = /^\^(?:\(\?:)?(?:\\d|\[1-9\])/.test(String(schema['pattern'] ?? ''));
    return memberOf(name, isNumber ? 'string | number | bigint' : typeOf(schema, 'input'), required, 'input');
  };
  return `{ ${query.map(member).join('; ')} }`;
}

/** A JSON Schema as a type. */
function typeOf(schema: Json, side: Side): string {
  const { $ref, anyOf, oneOf, allOf, properties, items, additionalProperties } = schema;
  if (typeof $ref === 'string') return $ref.replace(/^.*\//, '');
  const all = (list: unknown, glue: string) =>
    [...new Set((list as Json[]).map((one) => typeOf(one, side)))].join(glue);
  if (anyOf ?? oneOf) return all(anyOf ?? oneOf, ' | ');
  if (allOf) return all(allOf, ' & ');
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) return schema['enum'].map((one) => JSON.stringify(one)).join(' | ');
  const types = [schema['type'] ?? (properties ? 'object' : 'unknown')].flat() as string[];
  return types.map((type) => plainType(type, schema, { side, items, properties, additionalProperties })).join(' | ');
}

interface Parts extends Json {
  readonly side: Side;
}

function plainType(type: string, schema: Json, { side, items, properties, additionalProperties }: Parts): string {
  if (type === 'array') return `readonly (${typeOf((items ?? {}) as Json, side)})[]`;
  if (type === 'object') {
    const required = (schema['required'] ?? []) as readonly string[];
    const members = Object.entries((properties ?? {}) as Readonly<Record<string, Json>>).map(([name, member]) =>
      memberOf(name, typeOf(member, side), required.includes(name), side),
    );
    const isOpen = members.length === 0 || Boolean(additionalProperties);
    const others = typeof additionalProperties === 'object' ? typeOf(additionalProperties as Json, side) : 'unknown';
    const rest = isOpen ? [`readonly [name: string]: ${others}`] : [];
    return `{ ${[...members, ...rest].join('; ')} }`;
  }
  if (type === 'string') return side === 'answer' && /^\^0x/.test(String(schema['pattern'] ?? '')) ? HEX : 'string';
  if (type === 'integer') return 'number';
  return type;
}

const HEX = `\`0x\${string}\``;

function memberOf(name: string, type: string, isRequired: boolean, side: Side): string {
  const key = /^\w+$/.test(name) ? name : `'${name}'`;
  if (isRequired) return `readonly ${key}: ${type}`;
  return `readonly ${key}?: ${type}${side === 'input' ? ' | undefined' : ''}`;
}

function aboutOf(name: string, { description }: Json): string {
  return typeof description === 'string' ? description : name;
}
