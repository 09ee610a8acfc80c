// Every answer that a test receives from a vault is held against the description of the API: another status, word or
// member than it says fails the test file.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { ERRORS, type ErrorCode } from '../../lib/base/error.ts';
import type { OpenApi } from '../../scripts/openapi/document.ts';
import { writeWhole } from './once.ts';
import { openValidators } from './validators.ts';

/** An answer as the wire showed it; `text` is absent where the body was not read. */
export interface SeenAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly type: string | null;
  readonly text?: string;
}

const found = new Set<string>();

/** What was answered otherwise than the description says, since this was asked last. */
export function undocumented(): readonly string[] {
  const all = [...found];
  found.clear();
  return all;
}

/** Holds an answer against the description, and notes what differs. */
export async function noteAnswer(answer: SeenAnswer): Promise<void> {
  const fault = (await judge())(answer);
  if (fault !== undefined) found.add(fault);
}

let judging: ReturnType<typeof createJudge> | undefined;
let document: Promise<OpenApi> | undefined;

async function judge() {
  document ??= readDocument();
  const read = await document;
  judging ??= createJudge(read, process.env['TEST_RUN_DIR']);
  return judging;
}

/** A run of all tests makes the document once. */
async function readDocument(): Promise<OpenApi> {
  const folder = process.env['TEST_RUN_DIR'];
  const file = folder && join(folder, 'openapi.json');
  if (file && existsSync(file)) return Bun.file(file).json();
  const { openApiDocument } = await import('../../scripts/openapi/document.ts');
  const { ROUTES } = await import('../../routes/index.ts');
  // Pages and files, too, which the published one leaves out.
  const made = await openApiDocument(ROUTES);
  if (file) writeWhole(file, JSON.stringify(made));
  return made;
}

/**
 * Says what is wrong with an answer; undefined if nothing is. The folder is the run's, whose processes share what they
 * compile.
 */
export function createJudge(document: OpenApi, folder?: string): (answer: SeenAnswer) => string | undefined {
  const paths = Object.keys(document.paths);
  const patterns = paths.flatMap((path) =>
    path.includes('{') ? [{ path, form: new RegExp(`^${path.replace(/\{\w+\}/g, '.*')}$`) }] : [],
  );
  const validatorOf = openValidators(document, folder);
  return (answer) => {
    const { status, type, text } = answer;
    const method = (answer.method === 'HEAD' ? 'GET' : answer.method).toLowerCase();
    if (method === 'options' && status === 204) return undefined;
    const path =
      answer.path in document.paths ? answer.path : patterns.find(({ form }) => form.test(answer.path))?.path;
    const named = `${answer.method} ${path ?? answer.path} ${status}`;
    const said = path && responsesOf(document, path, method);
    const isNamed = said !== undefined && said !== '' && status in said;
    if (!isNamed && status < 400) return `${named}: the description has no such answer`;
    const at = isNamed
      ? [...pointerOf(document, path as string, method, String(status))]
      : ['components', 'responses', 'Everywhere'];
    const response = at.reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], document) as Response200;
    const media = type?.split(';')[0];
    // A browser's 404 is a page, where it opens no operation.
    if (status === 404 && media === 'text/html' && !path?.startsWith('/api/')) return undefined;
    if (text === undefined) {
      const { content } = response;
      const range = `${media?.split('/')[0]}/*`;
      const isSaid =
        media === undefined || answer.method === 'HEAD' || !content || media in content || range in content;
      return isSaid ? undefined : `${named}: the description has no ${media}`;
    }
    if (!response.content?.['application/json']) return `${named}: the description has no JSON there`;
    if (!('schema' in response.content['application/json'])) return undefined;
    const validate = validatorOf(`/${[...at, 'content', 'application/json', 'schema'].map(escapeKey).join('/')}`);
    const body = parsed(text);
    if (!validate(body)) return `${named}: ${faultsOf(validate)} in ${text.slice(0, 400)}`;
    return isNamed ? undefined : misplaced(named, status, body);
  };
}

interface Response200 {
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>;
}

type Responses = Readonly<Record<string, { readonly $ref?: string }>>;

function responsesOf(document: OpenApi, path: string, method: string): Responses | undefined {
  return (document.paths[path]?.[method] as { readonly responses: Responses } | undefined)?.responses;
}

/** Where the response is: a component, if the operation refers to one. */
function pointerOf(document: OpenApi, path: string, method: string, status: string): readonly string[] {
  const ref = responsesOf(document, path, method)?.[status]?.$ref;
  return ref === undefined ? ['paths', path, method, 'responses', status] : ref.slice(2).split('/');
}

/** What is no JSON is no answer of any schema. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function escapeKey(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** An error that every request may be answered has the status of its word. */
function misplaced(named: string, status: number, body: unknown): string | undefined {
  const word = (body as { readonly error: string }).error;
  const expected = ERRORS[(/^\w+$/.test(word) ? word : 'bad_request') as ErrorCode].status;
  return expected === status ? undefined : `${named}: ${word} has the status ${expected}`;
}

function faultsOf({ errors }: ValidateFunction): string {
  const faults = (errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`,
  );
  return faults.join(', ');
}
