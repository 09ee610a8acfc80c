// How much each page weighs, from the files that the build makes: the table of docs/pages.md.
import { gzipSync } from 'node:zlib';
import { bundleAssets } from '../assets/bundle.ts';

/** A page's files and bytes: at once, and loaded on demand. */
export interface Weight {
  readonly page: string;
  readonly files: number;
  readonly bytes: number;
  readonly zipped: number;
  readonly later: readonly string[];
  readonly laterZipped: number;
}

/** The pages, where their HTML is, and their words: the largest of the catalogues. */
const PAGES = [
  { page: '/', html: '/landing/index.html', words: 'landing' },
  { page: '/authorize', html: '/authorize/index.html', words: 'authorize' },
  { page: '/account', html: '/account/index.html', words: 'account' },
  { page: '/pay/confirm', html: '/pay/confirm.html', words: 'pay' },
  { page: '/approve', html: '/approve/index.html', words: 'approve' },
  { page: '/pass', html: '/pass/index.html', words: 'pass' },
  { page: '/console', html: '/console/index.html', words: undefined },
] as const;

const LANGUAGES = ['en', 'de', 'fr', 'es'];

/** Weighs every page. Throws for a page that names a file that the build does not make. */
export async function weighPages(): Promise<readonly Weight[]> {
  const assets = await bundleAssets();
  const sizes = new Map<string, { readonly bytes: number; readonly zipped: number; readonly text: string }>();
  for (const [path, content] of Object.entries(assets)) {
    const bytes = await new Response(content).bytes();
    sizes.set(path, { bytes: bytes.length, zipped: gzipSync(bytes).length, text: new TextDecoder().decode(bytes) });
  }
  const of = (path: string) => {
    const found = sizes.get(path);
    if (!found) throw new Error(`the build makes no ${path}`);
    return found;
  };
  const sum = (paths: readonly string[], what: 'bytes' | 'zipped') =>
    paths.reduce((total, path) => total + of(path)[what], 0);
  return PAGES.map(({ page, html, words }) => {
    const catalogues = words === undefined ? [] : LANGUAGES.map((language) => `/words/${language}/${words}.json`);
    const [largest] = catalogues.toSorted((a, b) => of(b).zipped - of(a).zipped);
    const named = Array.from(
      of(html).text.matchAll(/<(?:script|link|img)\b[^>]*?(?:src|href)="?(\/[\w/.-]+\.(?:js|css|svg|png))(?=["\s>])/g),
      ([, path = '']) => path,
    );
    const files = [...new Set([html, ...named, ...(largest === undefined ? [] : [largest])])];
    const later = laterOf(
      files.filter((path) => path.endsWith('.js')),
      new Set(files),
    );
    return {
      page,
      files: files.length,
      bytes: sum(files, 'bytes'),
      zipped: sum(files, 'zipped'),
      later,
      laterZipped: sum(later, 'zipped'),
    };
  });

  /** The files that the scripts import on demand, and the imports of those. */
  function laterOf(scripts: readonly string[], known: Set<string>): readonly string[] {
    const found = scripts.flatMap((script) =>
      Array.from(of(script).text.matchAll(/["'`](\/[\w/-]+\.(?:js|wasm))["'`?]/g), ([, path = '']) => path),
    );
    const fresh = [...new Set(found)].filter((path) => sizes.has(path) && !known.has(path));
    for (const path of fresh) known.add(path);
    return fresh.length === 0
      ? []
      : [
          ...fresh,
          ...laterOf(
            fresh.filter((path) => path.endsWith('.js')),
            known,
          ),
        ].sort();
  }
}

const BEGIN = '<!-- Written by `bun scripts/docs.ts` from the files that the build makes. -->';
const END = '<!-- The end of what is written. -->';

/** docs/pages.md with the table. Throws where its place is gone. */
export function withWeights(document: string, weights: readonly Weight[]): string {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error('docs/pages.md has no place for the weights');
  const head = '| page | files | unpacked | as it travels | when it is needed |\n|---|--:|--:|--:|---|';
  return `${before}${BEGIN}\n\n${[head, ...weights.map(rowOf)].join('\n')}\n\n${END}${after}`;
}

function rowOf({ page, files, bytes, zipped, later, laterZipped }: Weight): string {
  const more = later.length === 0 ? '–' : `${kb(laterZipped)}: ${later.map((path) => `\`${path}\``).join(', ')}`;
  return `| \`${page}\` | ${files} | ${kb(bytes)} | ${kb(zipped)} | ${more} |`;
}

function kb(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`;
}
