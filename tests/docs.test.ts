import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { COMMANDS, loadCommands } from '../commands/index.ts';
import { SETTING_NAMES } from '../lib/config/config.ts';
import { SERVED_PAGES } from '../lib/words/words.ts';
import { scripts } from '../package.json';

const ROOT = join(import.meta.dir, '..');

const documents = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The text outside blocks of code. */
const proseOf = (file: string) => read(file).replace(/^ *```[\s\S]*?^ *```$/gm, '');

/** What a page is told to type: lines of shell blocks, without their comments, and code in the running text. */
const shellOf = (file: string): string[] => {
  const blocks = Array.from(read(file).matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm), ([, text = '']) => text);
  const lines = blocks.flatMap((text) => text.replace(/\\\n/g, ' ').split('\n'));
  const inline = Array.from(proseOf(file).matchAll(/`([^`\n]+)`/g), ([, code = '']) => code);
  return [...lines, ...inline].map((line) => line.replace(/\s#.*$/, '').trim());
};

/** An anchor as GitHub makes it of a heading. */
const anchorOf = (heading: string) =>
  heading
    .replace(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (file: string) =>
  Array.from(proseOf(file).matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading));

/** Where links and pictures lead, but for those to other sites. */
const targetsOf = (file: string) => {
  const prose = proseOf(file).replace(/`[^`\n]*`/g, '');
  const found = [...prose.matchAll(/\]\(([^)\s]+)\)/g), ...prose.matchAll(/<(?:img src|a href)="([^"]+)"/g)];
  return found.map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target));
};

describe.each(documents)('%s', (file) => {
  test('leads only to files, pictures and headings that there are', () => {
    const broken = targetsOf(file).filter((target) => {
      const [path = '', anchor] = target.split('#');
      const to = path === '' ? file : relative(ROOT, join(ROOT, dirname(file), path));
      if (!existsSync(join(ROOT, to))) return true;
      return anchor !== undefined && !anchorsOf(to).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('names only scripts and sources that there are', () => {
    const words = shellOf(file).flatMap((line) => [...line.matchAll(/\bnpm (?:run (?:--silent )?)?([\w:]+)/g)]);
    const named = words.map(([, name = '']) => name).filter((name) => !NPM.includes(name));
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    const files = shellOf(file).flatMap((line) => line.match(SOURCE) ?? []);
    expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('names only commands and flags that the program knows', () => {
    const calls = shellOf(file).flatMap((line) => {
      const [, words] = /^(?:dist\/)?vault (.+)$/.exec(line) ?? [];
      return words === undefined ? [] : [words.split(' ')];
    });
    expect(calls.filter(([first = '', second = '']) => !isCommand(first, second))).toEqual([]);
    const flags = calls.flat().flatMap((word) => /^\[?--([a-z-]+)/.exec(word)?.[1] ?? []);
    expect(flags.filter((flag) => !FLAGS.includes(flag))).toEqual([]);
  });
});

describe.each(documents)('the prose of %s', (file) => {
  test('is at most 120 columns wide', () => {
    expect(wide(proseOf(file))).toEqual([]);
  });

  test('says it plainly', () => {
    const oneLine = proseOf(file).replace(/\s+/g, ' ').toLowerCase();
    expect(MANNERED.filter((phrase) => new RegExp(`\\b${phrase}\\b`).test(oneLine))).toEqual([]);
  });
});

/** Pages that say which test shows what, as `routes/verify` “a part of its title”. */
const SHOWN_BY_TESTS = documents.filter(
  (file) => ['docs/threats.md', 'docs/contracts.md'].includes(file) || file.startsWith('docs/standards/'),
);

/** The titles of a file's tests, and of what groups them. */
const titlesOf = (file: string) =>
  Array.from(
    read(file).matchAll(/^\s*(?:(?:test|describe)\b.*?\(|.*\)\()?(['"`])(.*?)\1,/gm),
    ([, , title = '']) => title,
  );
const shownBy = (text: string) =>
  Array.from(text.matchAll(/`([\w./-]+)` “([^”]+)”/g), ([, file = '', title = '']) => ({ file, title }));

describe.each(SHOWN_BY_TESTS)('%s', (file) => {
  test('names only tests that there are', () => {
    const named = shownBy(read(file));
    expect(named.length).toBeGreaterThan(10);
    const isThere = ({ file, title }: { file: string; title: string }) =>
      existsSync(join(ROOT, `tests/${file}.test.ts`)) &&
      titlesOf(`tests/${file}.test.ts`).some((one) => one.includes(title));
    expect(named.filter((one) => !isThere(one))).toEqual([]);
  });

  test('names a test for each row that is met, and a requirement once', () => {
    const rows = Array.from(read(file).matchAll(/^\| (.+) \|$/gm), ([, row = '']) => row.split(' | '));
    const met = rows.filter(([, , state]) => state === 'met' || state === 'partly');
    expect(met.filter((row) => shownBy(row.join(' | ')).length === 0)).toEqual([]);
    const numbers = rows.filter(([, , state]) => /^(?:met|partly|not met|n\/a)$/.test(state ?? '')).map(([id]) => id);
    expect(numbers.filter((id, i) => numbers.indexOf(id) !== i)).toEqual([]);
  });
});

test('a wide line is found, and a wide row, link, picture or block of code is no prose', () => {
  const words = 'word '.repeat(30);
  const link = `[a](https://example.com/${'a'.repeat(120)})`;
  const exempt = [`| ${words} |`, link, `- ${link}, ${link}`, `<img src="${'a'.repeat(120)}">`, `![a](${words})`];
  expect(wide(exempt.join('\n'))).toEqual([]);
  expect(wide(words)).toEqual([words]);
  expect(wide(`- ${words}`)).toEqual([`- ${words}`]);
});

test('the README leads to every page, fits a screen in width and is short', () => {
  const pages = documents.filter((file) => /^docs\/[^/]+$/.test(file));
  expect(pages.filter((page) => !targetsOf('README.md').includes(page))).toEqual([]);
  const lines = read('README.md').split('\n');
  expect(lines.filter((line) => line.length > 160)).toEqual([]);
  expect(lines.length).toBeLessThanOrEqual(170);
});

test('every decision has a number of its own', () => {
  const numbers = readdirSync(join(ROOT, 'docs/decisions')).map((name) => name.slice(0, 4));
  expect(numbers.length).toBeGreaterThan(30);
  expect(numbers.filter((one, i) => numbers.indexOf(one) !== i)).toEqual([]);
});

test('pictures are small palettes, and each is shown by a document', () => {
  const images = readdirSync(join(ROOT, 'docs/images'));
  const sizes = images.map((name) => statSync(join(ROOT, 'docs/images', name)).size);
  expect(images.filter((_, i) => (sizes[i] ?? 0) > 60_000)).toEqual([]);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(500_000);
  // The fourth byte of the header's data is the kind of colour.
  const pictures = images.filter((name) => name.endsWith('.png'));
  expect(pictures.filter((name) => readFileSync(join(ROOT, 'docs/images', name))[25] !== 3)).toEqual([]);
  const shown = documents.flatMap((file) =>
    targetsOf(file).map((target) => relative('docs/images', join(dirname(file), target))),
  );
  expect(images.filter((name) => !shown.includes(name))).toEqual([]);
});

test('docs/brand.md names every page that has words', () => {
  const text = read('docs/brand.md');
  const named = SERVED_PAGES.map((page) => (page === 'landing' ? '`/`' : `\`/${page}\``));
  expect(named.filter((name) => !text.includes(name))).toEqual([]);
});

test('the README holds nothing that is no longer a port or a line of what npm start and npm run demo print', () => {
  const printed = ['scripts/start.ts', 'scripts/demo.ts', 'scripts/dev-stack/dev-stack.ts'].map(read).join('\n');
  const steps = Array.from(
    read('README.md').matchAll(/^\d+\. ([^`\n]+?)(?: demo-\w+@.*)?$/gm),
    ([, step = '']) => step,
  );
  expect(steps.length).toBeGreaterThan(5);
  expect(steps.filter((step) => !printed.includes(step))).toEqual([]);
  for (const port of read('README.md').match(/(?<=http:\/\/[\w.]+:)\d{4}/g) ?? []) expect(printed).toContain(port);
});

test('every file that the package promises is made by the build, and none of them is a test or a secret', () => {
  const { files, exports } = JSON.parse(read('package.json')) as { files: string[]; exports: Record<string, unknown> };
  const promised = JSON.stringify(exports).match(/dist\/[\w/.-]+/g) ?? [];
  const isShipped = (path: string) => files.some((entry) => path === entry || path.startsWith(`${entry}/`));
  expect(promised.filter((path) => !isShipped(path))).toEqual([]);
  expect(
    files.filter(
      (entry) =>
        !/^(?:dist\/(?:index\.js|node\.js|client(?:-[\w-]+)?\.js|enclave\.js|payments\.js|approvals\.js|assets|types)|LICENSE|README\.md)$/.test(
          entry,
        ),
    ),
  ).toEqual([]);
  expect(statSync(join(ROOT, 'LICENSE')).size).toBeGreaterThan(0);
});

/** The lines of prose beyond 120 columns: rows of tables, tags, and lines of links alone are not prose. */
function wide(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.length > 120 && !/^\s*[|<]/.test(line));
  return lines.filter((line) => /\w/.test(line.replace(/!?\[[^\]]*\]\([^)]*\)/g, '')));
}

/** Paraphrases of which each has a plain word. */
const MANNERED = [
  'anew',
  'are told',
  'in the way of',
  'is told',
  'is none',
  'makes it so',
  'nobody may',
  'stands on',
  'tells of',
  'told of',
  'under way',
  'whatever comes',
  'whatever dies',
  'whoever',
];

/** A source by its path. */
const SOURCE =
  /(?<![\w/.])(?:assets|client|commands|contracts|examples|lib|routes|scripts|tests)\/[\w./-]+\.(?:ts|sol|json)\b/g;

/** npm's own words. */
const NPM = ['install', 'pack', 'ci'];
const OPTIONS = Object.values(await loadCommands()).flatMap(({ options }) => options.map(({ name }) => name));
const FLAGS = [...OPTIONS, ...SETTING_NAMES.map((name) => name.toLowerCase().replaceAll('_', '-'))];

/** A word of the table, the first word of several (`vault limits`), or a flag of serving. */
function isCommand(first: string, second: string): boolean {
  if (first.startsWith('-') || first === 'help') return true;
  const names = Object.keys(COMMANDS);
  return names.includes(first) || names.includes(`${first} ${second}`) || isGroup(first, second);
}

function isGroup(first: string, second: string): boolean {
  return second === '' && Object.keys(COMMANDS).some((name) => name.startsWith(`${first} `));
}
