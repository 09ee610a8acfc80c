// The generated parts of docs/http.md: of each section its operations, with their inputs, answers and examples.
import { ERRORS, type ErrorCode } from '../../lib/base/error.ts';
import { isAdminPath } from '../../routes/http/admin.ts';
import type { Answer } from '../../routes/http/describe.ts';
import type { Fields } from '../../routes/http/fields.ts';
import type { Route } from '../../routes/http/route.ts';
import { ROUTES } from '../../routes/index.ts';
import { callOf, curlOf, exampleAnswer, variablesOf } from './examples.ts';
import { FAMILY_NAMES, familyOf, isBody } from './families.ts';
import { VARIABLES } from './samples.ts';
import { type Json, readSchemas, type Schemas } from './schemas.ts';

const WIDTH = 120;
const EXAMPLE_LINES_MAX = 12;
const BEGIN = (name: string) => `<!-- Written by \`bun scripts/docs.ts\` from routes/: ${name}. -->`;
const END = '<!-- The end of what is written. -->';

/** docs/http.md with its operations as the rows have them. Throws where a section has no place for its own. */
export async function withReference(document: string, routes: readonly Route[] = ROUTES): Promise<string> {
  const schemas = await readSchemas();
  let text = document;
  for (const name of FAMILY_NAMES) {
    const own = routes.filter((route) => familyOf(route) === name);
    const parts = name === 'Pages and files' ? [filesTable(own)] : own.map((route) => operationText(route, schemas));
    text = replaceBetween(text, BEGIN(name), [...parts, ''].join('\n'));
  }
  return replaceBetween(text, BEGIN('the variables of the examples'), variablesTable());
}

function replaceBetween(text: string, begin: string, part: string): string {
  const [before, rest] = text.split(begin);
  const after = rest?.slice(rest.indexOf(END) + END.length);
  if (before === undefined || after === undefined) throw new Error(`docs/http.md has no place for ${begin}`);
  return `${before}${begin}\n\n${part}${END}${after}`;
}

function operationText(route: Route, schemas: Schemas): string {
  const answers = Object.entries(route.answers).map(([status, answer]) => answerText(status, answer, schemas));
  const sentences = [
    `${route.summary}.`,
    takesText(route),
    answers.length > 0 ? `Answers ${answers.join(', or ')}.` : '',
    errorsText(route),
    security(route),
  ];
  const title = `### ${route.method} ${route.path.replace(/:\w+\+?/, '…')}`;
  return [title, '', fill(sentences.filter(Boolean).join(' ')), ...exampleText(route), ''].join('\n');
}

function takesText({ method, fields, otherFields, body, wire, isIdempotent }: Route): string {
  const kind = method === 'GET' ? 'the query ' : body === 'form' ? 'the form ' : '';
  const forms = [fields, ...(otherFields ? [otherFields] : [])].filter((one) => Object.keys(one).length > 0);
  const key = isIdempotent ? ', and an `Idempotency-Key`' : '';
  if (wire) return 'Takes a JSON-RPC 2.0 request, or a batch of them.';
  return forms.length === 0 ? '' : `Takes ${kind}${forms.map(membersText).join(', or ')}${key}.`;
}

function membersText(fields: Fields): string {
  const names = Object.entries(fields).map(([name, { required }]) => (required ? name : `${name}?`));
  return `\`{ ${names.join(', ')} }\``;
}

function answerText(status: string, answer: Answer, schemas: Schemas): string {
  if (isBody(answer)) return answer.media === null ? status : `${status} \`${answer.media.split(';')[0]}\``;
  return `${status} ${shapeOf(schemas.output(answer), schemas)}`;
}

/** The members of a schema's first level; of several forms each. */
function shapeOf(schema: Json, schemas: Schemas): string {
  const { $ref, anyOf, properties = {}, required = [], items } = schema as Shape;
  if ($ref !== undefined) return shapeOf(schemas.components[$ref.split('/').at(-1) ?? ''] ?? {}, schemas);
  if (anyOf) return anyOf.map((one) => shapeOf(one, schemas)).join(' or ');
  if (items) return `a list of ${shapeOf(items, schemas)}`;
  const names = Object.entries(properties).map(([name, member]) => {
    const isPlain = name === 'ok' || member['const'] === undefined;
    const value = isPlain ? '' : `: ${JSON.stringify(member['const'])}`;
    return `${name}${required.includes(name) ? '' : '?'}${value}`;
  });
  return `\`{ ${names.join(', ')} }\``;
}

interface Shape {
  readonly $ref?: string;
  readonly anyOf?: readonly Json[];
  readonly items?: Json;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

function errorsText({ errors = [], limit, security: who }: Route): string {
  const words = [
    ...new Set<ErrorCode>([
      ...errors,
      ...(limit === undefined || who === 'operator' ? [] : (['rate_limited'] as const)),
    ]),
  ];
  if (words.length === 0) return '';
  const byStatus = Map.groupBy(words, (word) => ERRORS[word].status);
  const parts = [...byStatus].sort(([a], [b]) => a - b);
  return `Errors: ${parts.map(([status, own]) => `${status} ${own.map((word) => `\`${word}\``).join(', ')}`).join('; ')}.`;
}

function security({ security: who, path }: Route): string {
  const words = {
    operator: 'Needs `Authorization: Bearer OPERATOR_SECRET`.',
    token: "Needs a stream's token.",
    metrics: 'Needs `METRICS_TOKEN` or a peer in `METRICS_ALLOW`.',
    doctor: "Needs the doctor's token.",
    access: 'Needs the access token of `POST /token`.',
  };
  const host = isAdminPath(path) && who === undefined ? "Only under the vault's own hosts." : '';
  return who === undefined ? host : words[who];
}

function exampleText(route: Route): readonly string[] {
  if (route.path.includes(':')) return [];
  const call = callOf(route);
  const status = Number(Object.keys(route.answers)[0]);
  const answer = exampleAnswer(route, status);
  return [
    ...block('sh', curlOf(route)),
    ...(answer === undefined ? [] : block('json', cut(jsonText(shortened(answer))))),
    ...(call === undefined ? [] : block('ts', call)),
  ];
}

function block(language: string, text: string): readonly string[] {
  return ['', `\`\`\`${language}`, text, '```'];
}

/** The first lines of an answer: the schemas in `/openapi.json` have the rest. */
function cut(text: string): string {
  const lines = text.split('\n');
  return lines.length <= EXAMPLE_LINES_MAX ? text : [...lines.slice(0, EXAMPLE_LINES_MAX - 1), '  …'].join('\n');
}

/** JSON in few lines: a value that fits into one line stands in one. */
function jsonText(value: unknown, indent = ''): string {
  const line = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH - 20) return line;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((one) => inner + jsonText(one, inner))
    : Object.entries(value).map(([name, one]) => `${inner}${JSON.stringify(name)}: ${jsonText(one, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

/** Long lists and texts would hide the shape. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 120 ? `${value.slice(0, 60)}…` : value;
  if (Array.isArray(value)) return value.slice(0, 2).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

function filesTable(routes: readonly Route[]): string {
  const rows = routes.map(({ path, answers, summary }) => {
    const type = Object.values(answers).flatMap((one) => (isBody(one) && one.media ? [one.media.split(';')[0]] : []));
    return `| \`${path}\` | \`${type[0]}\` | ${summary.startsWith('The file ') ? '' : summary} |`;
  });
  return ['| path | type | what |', '|---|---|---|', ...rows, ''].join('\n');
}

function variablesTable(): string {
  const used = [...new Set(ROUTES.flatMap(variablesOf))].sort();
  const rows = used.map((name) => `| \`$${name}\` | ${VARIABLES[name]?.about} |`);
  return [
    '| variable | what |',
    '|---|---|',
    "| `$VAULT` | the vault's origin, such as `http://localhost:8787` |",
    ...rows,
    '',
  ].join('\n');
}

/** A paragraph in lines of at most `WIDTH` columns; code is not broken where it can be helped. */
function fill(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}
