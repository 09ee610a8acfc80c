import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LIB_FOLDERS } from '../scripts/lib-folders.ts';
import { LONGER, SLEEPS } from './support/chances.ts';
import { codeOf, importsOf, read, sources } from './support/sources.ts';

const ROOT = join(import.meta.dir, '..');

/** The layers, each of which may import only itself and those to its right. */
const LAYERS = ['server.ts', 'commands', 'routes', 'lib', 'assets', 'client'];

/**
 * What may stand at the top: the fixed files and folders, and the few beside them that `docs/decisions/` accounts for.
 */
const TOP_LEVEL = [
  '.ci',
  '.editorconfig',
  '.git',
  '.gitignore',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'assets',
  'biome.json',
  'bun.lock',
  'bunfig.toml',
  'client',
  'commands',
  'contracts',
  'docs',
  'examples',
  'lib',
  'package.json',
  'packaging',
  'routes',
  'scripts',
  'server.ts',
  'tests',
  'tsconfig.json',
];

/** Made by working, never committed. */
const IGNORED = ['.world', 'dist', 'node_modules', 'vault-data'];

/** What each folder of `lib/`, or file at its top, may import. */
const MAY: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(LIB_FOLDERS).map(([name, { may }]) => [name, may]),
);

/** They put the subjects together and import any of them. Nothing of `lib/` imports them. */
const ASSEMBLY = ['prepare-database', 'shared-state', 'env', 'context', 'background'];

/** What imports a store of another subject, and why. */
const MAY_IMPORT_STORES: Readonly<Record<string, string>> = {
  'lib/background.ts': "The clean-up of all subjects is one batch, made of each one's sweep.",
  'lib/prepare-database.ts':
    'The place from which webhooks are posted is noted before the first event is acknowledged.',
};

/** What has SQL of its own outside `lib/db/` and the stores, and why. */
const MAY_HAVE_SQL: Readonly<Record<string, string>> = {
  'commands/storage/tables.ts': 'Reads the tables of a file, of whatever schema.',
  'commands/backup/snapshot.ts': 'Copies whole tables.',
  'commands/backup/restore-remote.ts': 'Copies whole tables.',
  'commands/backup/erase-again.ts': 'Asks a file, of whatever schema, whether it has a table of erasures.',
  'commands/doctor/server.ts': 'Judges a database that this release may not be able to migrate.',
};

/** A store: the file in which a subject has its statements. */
const STORE = /^lib\/(?!db\/).*(?:\/|-)store\.ts$/;

const files = ['server.ts', ...['commands', 'routes', 'lib', 'assets', 'client'].flatMap(sources)];
const imports = new Map(files.map((file) => [file, importsOf(file)]));
/** What people wrote: `wire.ts` is written from the rows. */
const written = files.filter((file) => file !== 'client/vault/wire.ts');
const scripts = sources('scripts');
const portable = files.filter((file) => file.startsWith('lib/') || file.startsWith('routes/'));

describe('the house', () => {
  test('has nothing at the top but what the architecture names', () => {
    const found = readdirSync(ROOT).filter((name) => !IGNORED.includes(name));
    expect(found.filter((name) => !TOP_LEVEL.includes(name))).toEqual([]);
  });

  test('has each folder of the process and of HTTP on its map', () => {
    const map = read('docs/architecture.md');
    const folders = ['commands', 'routes'].flatMap((top) => {
      const found = readdirSync(join(ROOT, top), { withFileTypes: true });
      return found.filter((one) => one.isDirectory()).map(({ name }) => `${top}/${name}/`);
    });
    expect(folders.filter((path) => !map.includes(`\`${path}\``))).toEqual([]);
  });

  test('imports point from server to commands to routes to lib, never back', () => {
    const wrong = edges().filter(([from, to]) => layerOf(to) < layerOf(from));
    expect(wrong).toEqual([]);
  });

  test('nothing in lib knows a route, an asset or the process', () => {
    const wrong = files.filter((file) => /\bfrom '(?:\.\.\/)+(?:commands|assets|scripts)\//.test(read(file)));
    expect(wrong.filter((file) => portable.includes(file))).toEqual([]);
  });
});

test('an exported name means one thing in lib, routes and commands', () => {
  const files = new Map<string, string[]>();
  // The schema of an answer has the name of what it shows.
  const all = ['lib', 'routes', 'commands'].flatMap(sources).filter((file) => !file.startsWith('routes/answers/'));
  for (const file of all) {
    const names = read(file).matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm);
    for (const [, name = ''] of names) files.set(name, [...(files.get(name) ?? []), file]);
  }
  expect([...files].filter(([, where]) => new Set(where).size > 1)).toEqual([]);
});

describe('the folders of lib', () => {
  test('are all in the table, which has no others', () => {
    const found = new Set(sources('lib').map(subjectOf));
    expect([...found].sort()).toEqual([...Object.keys(MAY), ...ASSEMBLY].sort());
  });

  test('are listed in an order in which each imports only those above it', () => {
    const names = Object.keys(MAY);
    const wrong = names.flatMap((name, i) => (MAY[name] ?? []).filter((other) => !names.slice(0, i).includes(other)));
    expect(wrong).toEqual([]);
  });

  test('import only what the table allows', () => {
    const isWrong = (from: string, to: string) =>
      !ASSEMBLY.includes(subjectOf(from)) &&
      subjectOf(from) !== subjectOf(to) &&
      !MAY[subjectOf(from)]?.includes(subjectOf(to));
    expect(edges().filter(([from, to]) => inLib(from) && inLib(to) && isWrong(from, to))).toEqual([]);
  });

  test('a store is imported by its own subject alone; others ask its service', () => {
    const isOthers = (from: string, to: string) => STORE.test(to) && dirname(from) !== dirname(to);
    const wrong = edges().filter(([from, to]) => isOthers(from, to) && !(from in MAY_IMPORT_STORES));
    expect(wrong).toEqual([]);
  });

  test('routes know neither the database nor a store', () => {
    const wrong = edges().filter(
      ([from, to]) => from.startsWith('routes/') && (STORE.test(to) || to.startsWith('lib/db/')),
    );
    expect(wrong).toEqual([]);
  });

  test('SQL stands only in db and in the stores', () => {
    const SQL = /\b(?:SELECT\s+[\w:(*'$]|INSERT\s+(?:OR\s+\w+\s+)?INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s)/;
    const mayHave = (file: string) => file.startsWith('lib/db/') || STORE.test(file) || file in MAY_HAVE_SQL;
    expect(written.filter((file) => SQL.test(codeOf(file)) && !mayHave(file))).toEqual([]);
  });

  test('every exception is of a file that needs it', () => {
    const hasOthers = (file: string) => importsOf(file).some((to) => STORE.test(to) && dirname(to) !== dirname(file));
    expect(Object.keys(MAY_IMPORT_STORES).filter((file) => !hasOthers(file))).toEqual([]);
    expect(Object.keys(MAY_HAVE_SQL).filter((file) => !/SELECT/.test(codeOf(file)))).toEqual([]);
  });
});

describe('lib and routes run on any Fetch runtime', () => {
  const GLOBALS =
    /\b(?:Date\.now\(|Math\.random|process\.|Bun\.|console\.(?!ts')|globalThis\.fetch\()|(?<![\w.'])fetch\(|from '(?:node|bun):|from 'bun/;
  const MAY = ['lib/base/clock.ts', 'lib/context.ts'];

  test.each(portable.filter((file) => !MAY.includes(file)))(
    '%s takes time, chance, fetch and files from env',
    (file) => {
      const used = codeOf(file)
        .split('\n')
        .filter((line) => GLOBALS.test(line) && !/^\s*(?:async )?fetch\(|readonly fetch/.test(line));
      expect(used).toEqual([]);
    },
  );
});

test('no file imports itself by way of others, types counted', () => {
  // Biome has a rule for it, which takes as long as all its others.
  const others = ['scripts', 'tests', 'examples'].flatMap(sources).filter((file) => !file.includes('node_modules/'));
  const all = new Set([...files, ...others]);
  const known = new Set<string>();
  const circles: string[] = [];
  const follow = (file: string, way: readonly string[]) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' → '));
    if (known.has(file) || !all.has(file)) return;
    known.add(file);
    for (const to of imports.get(file) ?? importsOf(file)) follow(to, [...way, file]);
  };
  for (const file of all) follow(file, []);
  expect(circles).toEqual([]);
  expect(known.size).toBe(all.size);
});

describe('style', () => {
  test.each(written)('%s exports no default, and every exported thing has a doc comment', (file) => {
    const lines = read(file).split('\n');
    const bare = lines.filter((line, i) => /^export (?!type \{|\{|\*)/.test(line) && !isDocumented(lines, i));
    expect(lines.filter((line) => line.startsWith('export default'))).toEqual([]);
    expect(bare).toEqual([]);
  });

  // Functions of 70 lines and more are found by Biome (`biome.json`).
  test.each([...written, ...scripts])('%s has no comment line beyond 120 columns', (file) => {
    const isComment = (line: string) => /^\s*(?:\/\/|\*|\/\*)/.test(line);
    expect(
      read(file)
        .split('\n')
        .filter((line) => line.length > 120 && isComment(line)),
    ).toEqual([]);
  });

  test.each([...written, ...scripts])('%s is at most 250 lines', (file) => {
    expect(read(file).split('\n').length).toBeLessThanOrEqual(251);
  });

  test('there are no classes but errors', () => {
    const classes = files.flatMap((file) => [
      ...codeOf(file).matchAll(/\bclass (\w+) extends (\w+)|\bclass (\w+) \{/g),
    ]);
    expect(
      classes.filter(([, , parent]) => parent === undefined || !parent.endsWith('Error')).map(([text]) => text),
    ).toEqual([]);
  });
});

/** The folder of `lib/` in which a file stands, or the file at its top; the parts of the constants count as one. */
function subjectOf(file: string): string {
  return (file.split('/')[1] ?? '').replace(/\.ts$/, '').replace(/^constants-.*/, 'constants');
}

function inLib(file: string): boolean {
  return file.startsWith('lib/');
}

function edges(): [string, string][] {
  return [...imports].flatMap(([from, targets]) => targets.map((to): [string, string] => [from, to]));
}

function layerOf(file: string): number {
  const layer = LAYERS.findIndex((name) => file === name || file.startsWith(`${name}/`));
  return layer < 0 ? LAYERS.length : layer;
}

function isDocumented(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? '';
  // Names that stand in a row and say themselves share the comment above the first.
  if (/^export const [A-Z][A-Z0-9_]* = /.test(line) || /^export type \w+ = \(typeof /.test(line)) return true;
  if (/^export (?:type|const) \w+ = [^;]*;$/.test(line) && /^(?:export|\/\*\*)/.test(lines[index - 1] ?? ''))
    return true;
  const above = lines[index - 1]?.trim() ?? '';
  return above.endsWith('*/');
}

const testFiles = [...new Bun.Glob('tests/**/*.test.ts').scanSync({ cwd: ROOT })].filter(
  (file) => !file.includes('node_modules'),
);

test('where a program is missing, the tests that need it are skipped and counted: none is in an if', async () => {
  const texts = await Promise.all(testFiles.map((file) => Bun.file(join(ROOT, file)).text()));
  expect(testFiles.filter((_, at) => /\bif \(!?chromium\)/.test(texts[at] ?? ''))).toEqual([]);
  const always =
    /^(?:(?:describe|test)\b|(?:addTests|describeProxy|test[A-Z]\w+)\(|for \(.* of |\} ?else test\.skip|else test\.skip)/m;
  expect(testFiles.filter((_, at) => !always.test(texts[at] ?? ''))).toEqual([]);
});

describe('no test waits by chance', () => {
  const files = testFiles;

  test('no wait of a fixed time is added: wait by until() for what is asserted', async () => {
    const texts = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
    const nameOf = (file: string) => file.slice('tests/'.length, -'.test.ts'.length);
    const waits = /Bun\.sleep\((?!\d\))/g;
    const counts = new Map(files.map((file, at) => [nameOf(file), (texts[at]?.match(waits) ?? []).length]));
    const wrong = [...new Set([...counts.keys(), ...Object.keys(SLEEPS)])].flatMap((name) => {
      const [count, most] = [counts.get(name) ?? 0, SLEEPS[name] ?? 0];
      if (count > most) return `${name} has ${count}, and may have ${most}`;
      return count < most ? `${name} has ${count} by now: write ${count || 'nothing'} in support/chances.ts` : [];
    });
    expect(wrong).toEqual([]);
  });

  test('none waits by .rejects or .resolves, which no message of a worker wakes: settled() and await do', async () => {
    const texts = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
    expect(files.filter((_, at) => /\)\s*\.(?:rejects|resolves)\b/.test(texts[at] ?? ''))).toEqual([]);
  });

  test('a property draws from SEED: its failure comes again', async () => {
    const texts = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
    const countOf = (text: string, what: RegExp) => (text.match(what) ?? []).length;
    const isDrawn = (text: string) => countOf(text, /\bfc\.assert\(/g) <= countOf(text, /\bseed: SEED\b/g);
    expect(files.filter((_, at) => !isDrawn(texts[at] ?? ''))).toEqual([]);
  });

  test('no test says how long it may take: who needs more than 20 s is in a list', async () => {
    const limits = /^\s*\}, (?:[\d_]{5,}|\w+_MS)\);$|^\s+[\d_]{6,},\n\s*\);|\bsetDefaultTimeout\b/m;
    const texts = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
    expect(files.filter((_, at) => limits.test(texts[at] ?? ''))).toEqual([]);
    expect(Object.keys(LONGER).filter((name) => !files.includes(`tests/${name}.test.ts`))).toEqual([]);
  });
});
