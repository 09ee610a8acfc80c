import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './sources.ts';

const ASSETS = join(import.meta.dir, '../../assets');

/** Sources of a page: its HTML, and the scripts that write into it. */
export interface PageSources {
  readonly html: readonly string[];
  readonly scripts: readonly string[];
}

/** The scripts in a folder of `assets/`. */
export function scriptsIn(folder: string, but: readonly string[] = []): string[] {
  const names = readdirSync(join(ASSETS, folder)).filter((name) => name.endsWith('.ts'));
  return names.filter((name) => !but.includes(name)).map((name) => `${folder}/${name}`);
}

/** Names, also of files and paths, and texts without a letter are the same in every language. */
const isWords = (text: string) =>
  /\p{L}/u.test(text) &&
  !['Vault', 'Vault Pay', 'DID', '0x…'].includes(text) &&
  !/^\w+\.js(?:on)?$|^\/api\//.test(text);
const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The words of a page's HTML, as id and English, and its texts that have no id. */
export function textsOfHtml(path: string): {
  readonly words: [id: string, english: string][];
  readonly loose: string[];
} {
  const html = readFileSync(join(ASSETS, path), 'utf8').replace(/<!--[\s\S]*?-->|<pre[\s\S]*?<\/pre>/g, '');
  const words: [string, string][] = [];
  const rest = html
    .replace(/<(\w+)(?:\s[^>]*)?\sdata-w="([^"]+)"(?:\s[^>]*)?>([\s\S]*?)<\/\1>/g, (_, _tag, id, inside: string) => {
      let count = 0;
      words.push([id, plain(inside.replace(/<(\w+)[^>]*>[\s\S]*?<\/\1>/g, () => `{${count++}}`))]);
      return '';
    })
    .replace(/\sdata-w-label="([^"]+)" aria-label="([^"]+)"/g, (_, id, label) => {
      words.push([id, label]);
      return '';
    });
  const labels = Array.from(rest.matchAll(/\s(?:aria-label|placeholder)="([^"]*)"/g), ([, label = '']) => label);
  const texts = rest.slice(rest.indexOf('<title')).split(/<[^>]*>/);
  return { words, loose: [...labels, ...texts.map(plain)].filter(isWords) };
}

/** The literals in the code of a script, and those of them that read like sentences. */
export function textsOfScript(path: string): { readonly literals: string[]; readonly sentences: string[] } {
  const code = codeOf(join('assets', path));
  const found = Array.from(code.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g));
  const literals = found.map(([, single, template]) => (single ?? template ?? '').replace(/\\(.)/g, '$1'));
  // A template is one literal; a word inside it is found beside.
  const inside = Array.from(code.matchAll(/\bword(?:With)?\(\s*'([^']*)'/g), ([, id = '']) => id);
  const isSentence = (text: string) => /^[“\p{Lu}][^\n]*\p{Ll}[.,:?!”]? \p{L}|^\p{Lu}\p{Ll}+ \p{Ll}/u.test(text);
  return {
    literals: [...literals, ...inside],
    sentences: literals.filter((one) => isSentence(one) && !one.includes('${')),
  };
}
