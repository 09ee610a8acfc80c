import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './sources.ts';

const ASSETS = join(import.meta.dir, '../../assets');
const read = (path: string) => readFileSync(join(ASSETS, path), 'utf8');

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

/** What is no language: names, also of files and paths, and texts without a letter. */
const isWords = (text: string) =>
  /\p{L}/u.test(text) &&
  !['Vault', 'Vault Pay', 'DID', '0x…'].includes(text) &&
  !/^\w+\.js(?:on)?$|^\/api\//.test(text);

/** The English sentences of a page's HTML, as the page looks them up. */
export function textsOfHtml(path: string): string[] {
  const html = read(path)
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<pre[\s\S]*?<\/pre>/g, '');
  const texts: string[] = [];
  const title = /<title>([^<]*?)(?: · [^<]*)?<\/title>/.exec(html)?.[1] ?? '';
  const body = html.slice(html.indexOf('<body'));
  const rest = body.replace(
    /<(\w+)(?:\s[^>]*)?\sdata-w(?:="([^"]*)")?(?:\s[^>]*)?>([\s\S]*?)<\/\1>/g,
    (_, _tag, id: string | undefined, inside: string) => {
      let count = 0;
      texts.push(id ?? inside.replace(/<(\w+)[^>]*>[\s\S]*?<\/\1>/g, () => `{${count++}}`));
      return '';
    },
  );
  for (const [, label = ''] of rest.matchAll(/\s(?:aria-label|placeholder)="([^"]*)"/g)) texts.push(label);
  texts.push(title, ...rest.replace(/<[^>]*>/g, '\n\u0000\n').split('\u0000'));
  return [...new Set(texts.map((text) => text.replace(/\s+/g, ' ').trim()).filter(isWords))];
}

/** Texts in the code of a script: those that go through `word`, and other literals that read like sentences. */
export function textsOfScript(path: string): { readonly words: string[]; readonly sentences: string[] } {
  const code = codeOf(join('assets', path));
  const literals = Array.from(code.matchAll(/(\bword(?:With)?\(\s*)?(?:'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g));
  const texts = literals.map(([, call, single, template]) => ({
    isWord: call !== undefined,
    text: (single ?? template ?? '').replace(/\\(.)/g, '$1'),
  }));
  const isSentence = (text: string) => /^[“\p{Lu}][^\n]*\p{Ll}[.,:?!”]? \p{L}|^\p{Lu}\p{Ll}+ \p{Ll}/u.test(text);
  // A table of words holds nothing else but names.
  const isTable = path.endsWith('/words.ts');
  const isTaken = ({ isWord, text }: (typeof texts)[number]) =>
    !text.includes('${') && (isWord || (isTable && !/^[a-z_./]+$/.test(text)));
  // A template is one literal; a call inside it is found beside.
  const called = Array.from(code.matchAll(/\bword(?:With)?\(\s*'((?:[^'\\\n]|\\.)*)'/g), ([, text = '']) =>
    text.replace(/\\(.)/g, '$1'),
  );
  return {
    words: [...texts.filter(isTaken).map(({ text }) => text), ...called],
    sentences: texts
      .filter((one) => !isTaken(one) && isSentence(one.text) && !one.text.includes('${'))
      .map(({ text }) => text),
  };
}
