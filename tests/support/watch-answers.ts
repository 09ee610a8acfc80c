import { pathOf } from '../../routes/http/target.ts';

/** Bun hands over a request of any other method as a GET. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

let answers: Promise<typeof import('./answers.ts')> | undefined;

/**
 * Holds a vault's answer against the description of the API (`answers.ts`), which is loaded for the first one. Streams
 * and files are not read; answers of others are left alone.
 */
export async function watchAnswer(method: string, url: string, response: Response): Promise<void> {
  const { status, headers } = response;
  const isVaults =
    headers.has('x-request-id') && headers.get('access-control-expose-headers')?.includes('idempotent-replayed');
  if (!isVaults) return;
  const type = headers.get('content-type');
  const isJson = type?.startsWith('application/json') === true && method !== 'HEAD';
  const text = isJson ? await readText(response) : undefined;
  if (isJson && text === undefined) return;
  answers ??= import('./answers.ts');
  const [path = ''] = pathOf(url).split('#');
  const seen = { method: METHODS.includes(method) ? method : 'GET', path, status, type };
  await (await answers).noteAnswer(text === undefined ? seen : { ...seen, text });
}

/** The body, unpacked; undefined where the test has hung up meanwhile. */
async function readText(response: Response): Promise<string | undefined> {
  const copy = response.clone();
  const bytes = await copy.bytes().catch(() => undefined);
  const isZipped = bytes?.[0] === 0x1f && bytes[1] === 0x8b;
  return bytes && new TextDecoder().decode(isZipped ? Bun.gunzipSync(bytes) : bytes);
}

/** Answers of vaults of this process that their callers have not received yet. */
const watchedHere = new Set<string>();

/** The same for a vault of this process; its caller, where that is of this process too, does not look again. */
export async function watchOwnAnswer(method: string, url: string, response: Response): Promise<void> {
  await watchAnswer(method, url, response);
  const id = response.headers.get('x-request-id');
  if (id) watchedHere.add(id);
}

/** Whether a vault of this process has watched this answer. */
export function isWatched(response: Response): boolean {
  return watchedHere.delete(response.headers.get('x-request-id') ?? '');
}

/** What was answered otherwise than the description says, since this was asked last. */
export async function undocumentedAnswers(): Promise<readonly string[]> {
  return answers === undefined ? [] : (await answers).undocumented();
}
