import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createClient } from '../client/vault/index.ts';
import type { Route } from '../routes/http/route.ts';
import { ROUTES } from '../routes/index.ts';
import { callOf, curlOf, variablesOf } from '../scripts/openapi/examples.ts';
import { familyOf } from '../scripts/openapi/families.ts';
import recorded from '../scripts/openapi/recorded.json';
import { whileTimePasses } from './support/clock.ts';
import { temporaryFolder } from './support/databases.ts';
import { type ExampleWorld, openExampleWorld, type Prepared, type Variables } from './support/example-world.ts';
import { mergedRecord, type Recorded } from './support/recorded.ts';
import { until } from './support/until.ts';

// `RECORD_EXAMPLES=1` writes what the examples are answered to scripts/openapi/recorded.json, for the documents.
const isRecording = Boolean(process.env['RECORD_EXAMPLES']);
const RECORDED = join(import.meta.dir, '../scripts/openapi/recorded.json');
const document = await Bun.file(join(import.meta.dir, '../docs/http.md')).text();

const routes: readonly Route[] = ROUTES.filter(
  (route: Route) => familyOf(route) !== 'Pages and files' && !route.path.includes(':'),
);
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

let world: ExampleWorld;
const home = temporaryFolder();
beforeAll(async () => {
  // The examples stand as they are: what a test wants to see beside the body, curl takes from its own file.
  await Bun.write(join(home.path, '.curlrc'), 'silent\nshow-error\nmax-time = 60\nwrite-out = "\\n%{http_code}"\n');
  world = await openExampleWorld();
});
afterAll(async () => {
  await world.stop();
  home.remove();
  const record = mergedRecord(routes.map(nameOf), before, answers);
  if (isRecording) await Bun.write(RECORDED, `${JSON.stringify(record, shorten, 2)}\n`);
});

/** Of a page's catalogue three words are enough to see, of a chart three points. */
const shorten = (name: string, value: unknown) =>
  (name === 'settings' || name === 'points') && Array.isArray(value)
    ? value.slice(0, 3)
    : name === 'words' && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value ?? {}).slice(0, 3))
      : value;

const before: Readonly<Record<string, Recorded>> = recorded;
const answers: Record<string, Recorded> = {};

/** Runs a block of the document in a shell. */
async function run(code: string, variables: Variables): Promise<{ status: number; text: string }> {
  const texts = Object.entries(variables).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const env = { PATH: process.env['PATH'], HOME: home.path, ...Object.fromEntries(texts) };
  const child = Bun.spawn(['sh', '-c', code], { env, stdout: 'pipe', stderr: 'pipe' });
  // A `Response` would count as under way, so that no time passed while curl waits for its answer.
  const output = await Bun.readableStreamToText(child.stdout);
  const at = output.lastIndexOf('\n');
  return { status: Number(output.slice(at + 1)), text: output.slice(0, at) };
}

/** The names of an answer's members: its values differ from run to run. */
const membersOf = (body: unknown) => (typeof body === 'object' && body !== null ? Object.keys(body).sort() : body);

/** The names of its members, and of theirs. */
const shapeOf = (body: unknown): unknown => {
  if (Array.isArray(body)) return [shapeOf(body[0])];
  if (typeof body !== 'object' || body === null) return body === null ? null : typeof body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, shapeOf(value)]));
};

/** What curl is answered, as the document says it. */
async function askByCurl(route: Route, { t, variables }: Prepared): Promise<void> {
  const name = nameOf(route);
  expect(variablesOf(route).filter((one) => !(one in variables))).toEqual([]);
  if (!isRecording) expect(document).toContain(`\n${curlOf(route)}\n`);
  let answer: Awaited<ReturnType<typeof run>> | undefined;
  void run(curlOf(route), { VAULT: t.url, ...variables }).then((came) => {
    answer = came;
  });
  // A program is given a moment for each step of the time.
  const { status, text } = await until(`the answer to ${name}`, async () => {
    await t.clock.advance(100);
    if (isStream(route) && (await isStreaming(t))) t.vault.endStreams();
    return answer;
  });
  expect([name, status, text]).toEqual([name, Number(Object.keys(route.answers)[0]), text]);
  const isJson = !('media' in (route.answers[status] ?? {}));
  if (!isJson) return;
  const body = JSON.parse(text);
  // What is as it was stays: times and hashes differ from run to run.
  const isKnown = JSON.stringify(shapeOf(before[name]?.body)) === JSON.stringify(shapeOf(body));
  answers[name] = isKnown ? (before[name] as Recorded) : { status, body };
  if (!isRecording) expect(membersOf(JSON.parse(text))).toEqual(membersOf(before[name]?.body));
}

/** What the client is answered to the line of the document. */
async function askByClient(code: string, name: string, { t, variables }: Prepared): Promise<void> {
  const vault = createClient({ url: t.url, operatorSecret: String(variables['OPERATOR_SECRET']), storage: null });
  const given = Object.entries(variables).map(([key, value]) => [camelOf(key), value] as const);
  const asked = new AsyncFunction('vault', ...given.map(([key]) => key), `return ${code}`);
  const answer = await whileTimePasses(t.clock, asked(vault, ...given.map(([, value]) => value)));
  if (isRecording) return;
  expect(document).toContain(`\n${code}\n`);
  expect(membersOf(answer)).toEqual(membersOf(before[name]?.body));
}

const isStreaming = async (t: Prepared['t']) => /^vault_streams 1$/m.test((await t.call('GET /metrics')).text);

const isStream = (route: Route) => nameOf(route) === 'GET /v1/console/events';

describe('the examples of docs/http.md, by curl and by the client', () => {
  test.each(routes.map(nameOf))('%s', async (name) => {
    const route = routes.find((one) => nameOf(one) === name) as Route;
    const prepared = await world.prepare(name);
    await askByCurl(route, prepared);
    const code = callOf(route);
    if (code === undefined) return;
    // What only reads is asked twice in one world.
    const isSame = route.method === 'GET' && !isStream(route);
    await askByClient(code, name, isSame ? prepared : await world.prepare(name));
  });
});

const AsyncFunction = (async () => {}).constructor as new (
  ...parts: readonly string[]
) => (...values: readonly unknown[]) => Promise<unknown>;

function camelOf(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
