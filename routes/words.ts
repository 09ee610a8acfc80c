/** The words and the brand of a page, by language and app. */

import type { Catalogue } from '../client/catalogue.ts';
import { parseJson } from '../lib/base/json.ts';
import type { Brand } from '../lib/brand/brands.ts';
import type { Context } from '../lib/context.ts';
import { createFile, type File } from '../lib/static-files.ts';
import { directionOf } from '../lib/words/languages.ts';
import type { ServedPage } from '../lib/words/words.ts';
import { PageWords } from './answers/pages.ts';
import { pageApp, pageLanguage } from './fields.ts';
import { optional } from './http/fields.ts';
import { get, type Route } from './http/route.ts';
import { fileReply, noFiles } from './http/static-file.ts';

const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-cache',
  'cross-origin-resource-policy': 'same-origin',
};

/** `GET /words/<page>.json` of each page. */
export const wordRoutes = [
  wordsOf('pass'),
  wordsOf('authorize'),
  wordsOf('pay'),
  wordsOf('approve'),
  wordsOf('account'),
  wordsOf('landing'),
] as const satisfies readonly Route[];

function wordsOf<Page extends ServedPage>(page: Page) {
  return get(`/words/${page}.json` as const, {
    summary: `The words and the brand of \`/${page === 'landing' ? '' : page}\``,
    fields: { lang: optional(pageLanguage), app: optional(pageApp) },
    answers: { 200: PageWords, 304: { media: null, about: 'The words that `If-None-Match` names' } },
    errors: ['not_found'],
    async handler({ ctx, app, input, request }) {
      const lang = ctx.words.choose(page, input.lang, request.headers.get('accept-language'));
      const found = await wordsFile(ctx, { page, lang, app: input.app ?? app });
      return fileReply(request, found, { ...HEADERS, 'content-language': lang }, 'accept-language, x-vault-app');
    },
  });
}

/** A request's choice of words. There are few of them, as apps without a brand share the operator's. */
interface Wanted {
  readonly page: ServedPage;
  readonly lang: string;
  readonly app: string;
}

/** Made once, by the brand's vault. */
const known = new WeakMap<Brand, Map<string, File>>();

async function wordsFile(ctx: Context, { page, lang, app }: Wanted): Promise<File> {
  const brand = ctx.brandOf(app);
  const files = known.get(brand) ?? new Map<string, File>();
  known.set(brand, files);
  const file = files.get(`${lang}/${page}`) ?? (await makeFile(ctx, brand, { page, lang, app }));
  files.set(`${lang}/${page}`, file);
  return file;
}

async function makeFile(ctx: Context, brand: Brand, { page, lang, app }: Wanted): Promise<File> {
  const read = (language: string) => readPageWords(ctx, language, page);
  const [words, english] = await Promise.all([ctx.words.of(page, lang, read), ctx.words.inEnglish(page, lang, read)]);
  const { name, logo, color, support } = brand;
  const shown = {
    name,
    logo: logo === undefined ? null : `/brand/logo${brand.isOwn ? `?app=${app}` : ''}`,
    color: color === undefined ? null : { light: color.light, dark: color.dark },
    support: support ?? null,
  };
  const answer = { lang, dir: directionOf(lang), brand: shown, words, english };
  return createFile(new TextEncoder().encode(JSON.stringify(answer)));
}

/** Throws 404 `not_found` where the host has no files. */
async function readPageWords({ files }: Context, language: string, page: ServedPage): Promise<Catalogue> {
  const file = await files(`/words/${language}/${page}.json`);
  if (!file) throw noFiles();
  return parseJson(new TextDecoder().decode(file.bytes)) as Catalogue;
}
