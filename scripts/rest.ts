import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { ROUTES } from '../routes/index.ts';

const ROOT = join(import.meta.dir, '..');

/** The entry of the program that holds what a start leaves out: its source, and where it is in the program. */
export const REST = 'commands/serve/rest.ts';
const REST_IN_PROGRAM = './commands/serve/rest.js';

/** Modules of which a start that is asked for its status calls nothing, or takes constants alone. */
const CALLED_LATER = [
  'lib/aliases/aliases.ts',
  'lib/background.ts',
  'lib/base/ethereum.ts',
  'lib/brand/brands.ts',
  'lib/bundler/client.ts',
  'lib/chain/account-address.ts',
  'lib/chain/account-creation.ts',
  'lib/chain/entry-point.ts',
  'lib/chain/log-range.ts',
  'lib/chain/own-factory.ts',
  'lib/chain/registry-code.ts',
  'lib/chain/registry-version.ts',
  'lib/chain/rpc.ts',
  'lib/chain/witness.ts',
  'lib/db/migrations.ts',
  'lib/delivery/email.ts',
  'lib/delivery/hook.ts',
  'lib/delivery/resend.ts',
  'lib/delivery/sms.ts',
  'lib/delivery/smtp.ts',
  'lib/delivery/twilio.ts',
  'lib/doctor/service.ts',
  'lib/identity/keys.ts',
  'lib/indexer/graphql-client.ts',
  'lib/indexer/queries.ts',
  'lib/limits/limit-events.ts',
  'lib/monitoring/minutes.ts',
  'lib/recovery/guardian.ts',
  'lib/registration/look-notes.ts',
  'lib/relay/relay.ts',
  'lib/verification/accepted.ts',
  'lib/verification/find-code.ts',
  'lib/webhooks/store.ts',
  'lib/words/mail-words.ts',
  'lib/words/words.ts',
  'routes/http/idempotency.ts',
];

/** Modules of constants that take time to make: the program has what they come to. */
const CONSTANTS = ['lib/config/defaults.ts'];

/** Files of routes that a start has at once: who waits for a vault asks these. */
const AT_ONCE = ['routes/health.ts', 'routes/status.ts'];

/** Every module that a start leaves out: those of the lists, and the files of routes. */
export function modulesLeftOut(): readonly string[] {
  const files = ['routes', 'routes/console'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  );
  const others = ['routes/index.ts', 'routes/fields.ts', ...AT_ONCE];
  const routes = files.filter((path) => path.endsWith('.ts') && !others.includes(path));
  return [...CALLED_LATER, ...CONSTANTS, ...routes].sort();
}

/** The modules of a start: what its entries import, up to what is left out. */
export function modulesOfStart(): ReadonlySet<string> {
  const leftOut = new Set([...modulesLeftOut(), REST]);
  const found = new Set<string>(['server.ts', 'routes/index.ts']);
  const transpiler = new Bun.Transpiler({ loader: 'ts' });
  for (const path of found) {
    // The transpiler takes no line for the shell.
    const text = readFileSync(join(ROOT, path), 'utf8').replace(/^#!.*/, '');
    for (const { path: name, kind } of transpiler.scanImports(text)) {
      const target = targetOf(name, join(ROOT, path));
      if (kind === 'import-statement' && SOURCE.test(name) && !leftOut.has(target)) found.add(target);
    }
  }
  return found;
}

const SOURCE = /^\..*\.ts$/;

/** The path below the root of what a module imports. */
function targetOf(name: string, importer: string): string {
  return relative(ROOT, resolve(dirname(importer), name)).replaceAll('\\', '/');
}

/**
 * Puts the modules that a start leaves out into an entry of their own. A module of the start that imports one gets a
 * stand-in: it has the routes and constants, and loads the entry when a function is called. All other modules get it
 * itself: they may call it while they are loaded.
 */
export async function leaveRestOut(): Promise<Bun.BunPlugin> {
  const paths = modulesLeftOut();
  const start = modulesOfStart();
  const texts = new Map([
    [CALLS, callsOf(LOAD)],
    [REST, `export const loadRest = () => void ${LOAD};`],
  ]);
  for (const [i, path] of paths.entries()) texts.set(path, standInFor(await import(join(ROOT, path)), `part${i}`));
  const rest = paths.flatMap((path, i) =>
    CONSTANTS.includes(path) ? [] : [`export * as part${i} from ${JSON.stringify(join(ROOT, path))};`],
  );
  return {
    name: 'leave the rest out of the start',
    setup(build) {
      build.onResolve({ filter: SOURCE }, ({ path, importer }) => {
        const target = targetOf(path, importer);
        const isLeftOut = texts.has(target) && start.has(relative(ROOT, importer).replaceAll('\\', '/'));
        return isLeftOut ? { path: target, namespace: 'stand-in' } : undefined;
      });
      build.onResolve({ filter: new RegExp(`^${CALLS}$`) }, () => ({ path: CALLS, namespace: 'stand-in' }));
      build.onLoad({ filter: /./, namespace: 'stand-in' }, ({ path }) => ({
        contents: texts.get(path) ?? '',
        loader: 'js',
      }));
      build.onLoad({ filter: /commands[\\/]serve[\\/]rest\.ts$/ }, () => ({ contents: rest.join('\n'), loader: 'js' }));
    },
  };
}

const LOAD = `import.meta.require(${JSON.stringify(REST_IN_PROGRAM)})`;

/** The module that the stand-ins share. */
const CALLS = 'stand-in-calls';

/**
 * Its text: makes the functions of a part, by the names that lead to each in what `load` gives. A load that fails is
 * tried again at the next call.
 */
export function callsOf(load: string): string {
  return `let rest;
const find = (names) => names.reduce((found, name) => found[name], (rest ??= ${load}));
export const callsOf = (part) => (...names) => {
  let found;
  return (...given) => (found ??= find([part, ...names]))(...given);
};`;
}

/** The text of a module with the exports of another one, which is a part. Throws for one that it has no text for. */
export function standInFor(module: Readonly<Record<string, unknown>>, part: string, calls = CALLS): string {
  const lines = Object.entries(module).map(([name, value]) => `export const ${name} = ${textOf([name], value)};`);
  const start = `import { callsOf } from ${JSON.stringify(calls)};\nconst call = callsOf(${JSON.stringify(part)});`;
  return [start, ...lines].join('\n');
}

/** A value as text; a function of it, wherever it is, calls that of the module. */
function textOf(names: readonly (string | number)[], value: unknown): string {
  if (typeof value === 'function') return `call(${names.map((name) => JSON.stringify(name)).join(', ')})`;
  if (isRoute(value)) return textOf(names, factsOf(value));
  if (Array.isArray(value)) return `[${value.map((one, i) => textOf([...names, i], one)).join(', ')}]`;
  if (typeof value === 'bigint') return `${value}n`;
  if (value === undefined) return 'undefined';
  if (value instanceof RegExp) return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Object.getPrototypeOf(value) !== Object.prototype)
    throw new Error(`${names.join('.')} is no constant: see scripts/rest.ts`);
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${textOf([...names, name], one)}`,
  );
  return `{ ${members.join(', ')} }`;
}

type Route = (typeof ROUTES)[number];

function isRoute(value: unknown): value is Route {
  return ROUTES.includes(value as Route);
}

/** What is read of a route before it is asked for. */
function factsOf({ method, path, limit, body, handle }: Route) {
  return { method, path, limit, body, handle };
}
