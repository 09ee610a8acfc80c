import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTES } from '../../routes/index.ts';

const FOLDER = join(import.meta.dir, '../../routes');

/** Paths that are in a file of another name, and why. */
const EXCEPTIONS: Readonly<Record<string, { readonly file: string; readonly reason: string }>> = {
  '/healthz': { file: 'health.ts', reason: 'health, under the name that Kubernetes uses' },
  '/readyz': { file: 'health.ts', reason: 'readiness, beside liveness' },
  '/design/*': { file: 'account.ts', reason: 'style that the account page was the first to use' },
  '/icons/*': { file: 'pay.ts', reason: 'icons of the payment handler' },
  '/client.js': { file: 'client-script.ts', reason: 'client.ts is what the vault sees of a request' },
  '/client-sign-in.js': { file: 'client-script.ts', reason: 'a part of the client' },
  '/client-credential.js': { file: 'client-script.ts', reason: 'a part of the client' },
  '/client-authorization.js': { file: 'client-script.ts', reason: 'a part of the client' },
  '/client-events.js': { file: 'client-script.ts', reason: 'a part of the client' },
  '/client-operation.js': { file: 'client-script.ts', reason: 'a part of the client' },
  '/approvals.js': { file: 'client-script.ts', reason: 'a part of the client' },
  '/payments.js': { file: 'client-script.ts', reason: 'a part of the client' },
  '/1.0/identifiers/:did+': { file: 'resolution.ts', reason: 'DID Resolution, whose standard names the path' },
  '/': { file: 'landing.ts', reason: 'the landing page has no segment' },
  '/favicon.ico': { file: 'landing.ts', reason: 'what browsers ask every site for' },
  '/robots.txt': { file: 'landing.ts', reason: 'what crawlers ask every site for' },
  '/authorize': { file: 'authorize-page.ts', reason: 'the page; authorize.ts is what it asks' },
  '/authorize/authorize.js': { file: 'authorize-page.ts', reason: 'the script of that page' },
  '/authorize/authorize.css': { file: 'authorize-page.ts', reason: 'its style' },
  '/authorize/config': { file: 'authorize-page.ts', reason: 'what it learns of the vault at its start' },
  '/v1/console/keys': { file: 'console/tokens.ts', reason: 'keys stand beside the tokens that they sign' },
  '/v1/console/refusals': { file: 'console/settings.ts', reason: 'most are by a limit of the settings' },
  '/v1/console/revoke': { file: 'console/tokens.ts', reason: 'it revokes a token' },
};

/** Files without a route: what several of them share. */
const SHARED = ['console/lists.ts', 'fields.ts', 'index.ts'];

const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !SHARED.includes(name) && !/^(?:answers|http)\//.test(name))
  .sort();

/** The file that exports each route. */
const fileOf = new Map<unknown, string>();
for (const file of files) {
  const exported: Record<string, unknown> = await import(join(FOLDER, file));
  for (const value of Object.values(exported)) {
    if (Array.isArray(value)) for (const route of value) fileOf.set(route, file);
  }
}

describe('the file of a route is found from its URL', () => {
  test.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
    const file = fileOf.get(route) ?? 'none';
    const exception = exceptionOf(route.path);
    if (exception) expect(file).toBe(exception);
    else expect(expectedFiles(route.path)).toContain(file);
  });

  test('each exception is of a route, and is needed', () => {
    const excepted = ROUTES.filter(({ path }) => exceptionOf(path));
    expect(new Set(excepted.map(({ path }) => keyOf(path)))).toEqual(new Set(Object.keys(EXCEPTIONS)));
    expect(excepted.filter(({ path }) => expectedFiles(path).includes(exceptionOf(path) ?? ''))).toEqual([]);
  });

  test('each file has a route', () => {
    expect([...new Set(fileOf.values())].sort()).toEqual(files);
  });
});

/**
 * `<segment>.ts` or `<segment>s.ts`: the first segment after `/api`, or after `/v1/console` (then in `console/`),
 * without a leading dot and without an extension. The page at `/console` is `console/page.ts`.
 */
function expectedFiles(path: string): readonly string[] {
  const [, folder = '', segment = ''] = /^\/(?:api\/|v1\/(console\/))?\.?([\w-]+)/.exec(path) ?? [];
  if (segment === 'console') return ['console/page.ts'];
  return [`${folder}${segment}.ts`, `${folder}${segment}s.ts`];
}

function exceptionOf(path: string): string | undefined {
  return EXCEPTIONS[keyOf(path)]?.file;
}

/** The key of a path in EXCEPTIONS: the path itself, or its folder with `*`. */
function keyOf(path: string): string {
  return path in EXCEPTIONS ? path : path.replace(/[^/]+$/, '*');
}
