import { type Catalogue, type Message, placesOf } from '../../client/catalogue.ts';
import { isObject } from '../base/json.ts';
import { findLanguage, languageTag } from '../base/language.ts';
import type { OperatorFiles } from '../base/operator-files.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { jsonObjectOf } from '../config/setting-file.ts';
import { BUILT_IN, chooseLanguage } from './languages.ts';

/** The pages whose words are served. */
export const SERVED_PAGES = ['pass', 'authorize', 'pay', 'approve', 'account', 'landing'] as const;

/** One of them. */
export type ServedPage = (typeof SERVED_PAGES)[number];

/** The catalogues of words: one for each page, and `mail` for mails and text messages. */
export const WORD_PAGES = ['mail', ...SERVED_PAGES] as const;

/** One of them. */
export type WordPage = (typeof WORD_PAGES)[number];

/** The words of a vault, in its languages. */
export interface Words {
  /** The languages that a page has; the default comes first. */
  languagesOf(page: WordPage): readonly string[];
  /** The language of a page for a person, by the wanted one and the header `Accept-Language`. */
  choose(page: WordPage, wanted: string | undefined, accept: string | null): string;
  /** The words of a page: the operator's over the vault's; `de-AT` falls back to German, and both to English. */
  of(page: WordPage, language: string, builtIn: BuiltIn): Promise<Catalogue>;
  /** The ids of a page whose text is English, as neither the language nor the one that it is a variety of has them. */
  inEnglish(page: WordPage, language: string, builtIn: BuiltIn): Promise<readonly string[]>;
  /** How much of a page each language has that the operator has a file of. */
  coverage(page: WordPage, builtIn: BuiltIn): Promise<readonly Coverage[]>;
  /** The operator's texts of a page that are not used, as `de: an id`: an unknown id, or places that it lacks. */
  leftOut(page: WordPage, builtIn: BuiltIn): Promise<readonly string[]>;
}

/** How many of a page's texts a language has; the others are English. */
export interface Coverage {
  readonly language: string;
  readonly has: number;
  readonly all: number;
}

/** Reads the vault's own words of a page in a language that it brings along. */
export type BuiltIn = (language: string) => Promise<Catalogue>;

/** The largest file of words, and how many languages a folder may add. */
const WORDS_BYTES_MAX = 256 * 1024;
const LANGUAGES_MAX = 100;

/** Reads the operator's folder. Throws `ConfigError` for a file that cannot be used. */
export function createWords(
  { wordsDir, defaultLanguage }: Pick<Config, 'wordsDir' | 'defaultLanguage'>,
  files: OperatorFiles | undefined,
): Words {
  const own = wordsDir === undefined ? new Map<string, Catalogue>() : readFolder(wordsDir, files);
  const added = Array.from(own.keys(), (key) => key.split('/')[0] ?? '');
  const all = [...new Set([...BUILT_IN, ...added])];
  if (!all.includes(defaultLanguage))
    throw new ConfigError([{ name: 'DEFAULT_LANGUAGE', problem: `must be one of ${all.join(', ')}` }]);
  const languagesOf = (page: WordPage) => {
    const found = all.filter((one) => hasBuiltIn(one) || own.has(`${one}/${page}`));
    const first = findLanguage(found, defaultLanguage) ?? 'en';
    return [first, ...found.filter((one) => one !== first)];
  };
  const layersOf = async (page: WordPage, languages: readonly string[], builtIn: BuiltIn) => {
    const english = await builtIn('en');
    const layerOf = async (one: string) => ({
      ...(hasBuiltIn(one) ? await builtIn(one) : {}),
      ...fitting(own.get(`${one}/${page}`) ?? {}, english),
    });
    return Promise.all(languages.map(layerOf));
  };
  const inEnglish: Words['inEnglish'] = async (page, language, builtIn) => {
    const varieties = varietiesOf(language);
    if (varieties[0] === 'en') return [];
    const layers = await layersOf(page, varieties, builtIn);
    return Object.keys(await builtIn('en')).filter((id) => !layers.some((layer) => id in layer));
  };
  return {
    languagesOf,
    choose: (page, wanted, accept) => chooseLanguage(languagesOf(page), { wanted, accept }),
    of: async (page, language, builtIn) =>
      Object.assign({}, ...(await layersOf(page, ['en', ...varietiesOf(language)], builtIn))),
    inEnglish,
    async coverage(page, builtIn) {
      const all = Object.keys(await builtIn('en')).length;
      const added = languagesOf(page).filter((one) => own.has(`${one}/${page}`));
      const lacking = await Promise.all(added.map((one) => inEnglish(page, one, builtIn)));
      return added.map((language, i) => ({ language, all, has: all - (lacking[i]?.length ?? 0) }));
    },
    async leftOut(page, builtIn) {
      const english = await builtIn('en');
      return Array.from(own).flatMap(([key, given]) => {
        if (!key.endsWith(`/${page}`)) return [];
        const used = fitting(given, english);
        const others = Object.keys(given).filter((id) => !(id in used && id in english));
        return others.map((id) => `${key.split('/')[0]}: ${id}`);
      });
    },
  };
}

function hasBuiltIn(language: string): boolean {
  return BUILT_IN.some((one) => one === language);
}

/** A language after those that it is a variety of: `de`, `de-AT`. */
function varietiesOf(language: string): readonly string[] {
  return language.split('-').map((_, i, parts) => parts.slice(0, i + 1).join('-'));
}

/** Messages without places that the English one lacks: they would show as `{name}`. */
function fitting(given: Catalogue, english: Catalogue): Catalogue {
  const fits = ([id, message]: [string, Message]) => {
    const places = placesOf(english[id] ?? '');
    return placesOf(message).every((name) => places.includes(name));
  };
  return Object.fromEntries(Object.entries(given).filter(fits));
}

/** The words by language and page: `de/pay`. */
function readFolder(folder: string, files: OperatorFiles | undefined): Map<string, Catalogue> {
  if (!files) throw fault('needs a host that reads files (env.operatorFiles)');
  const names = files.list(folder);
  if (names.length === 0) throw fault('is a folder that does not exist, or is empty');
  const languages = names.filter((name) => languageTag(name) === name).slice(0, LANGUAGES_MAX);
  const found = new Map<string, Catalogue>();
  for (const language of languages) {
    for (const page of WORD_PAGES) {
      const path = `${folder.replace(/[/\\]$/, '')}/${language}/${page}.json`;
      const words = readWords(path, files, `${language}/${page}.json`);
      if (words) found.set(`${language}/${page}`, words);
    }
  }
  return found;
}

function readWords(path: string, files: OperatorFiles, name: string): Catalogue | undefined {
  let bytes: Uint8Array | undefined;
  try {
    bytes = files.read(path, WORDS_BYTES_MAX);
  } catch (error) {
    throw fault(`has a file that cannot be read, ${name}: ${error instanceof Error ? error.message : 'it failed'}`);
  }
  if (!bytes) return undefined;
  const words = jsonObjectOf(new TextDecoder().decode(bytes), (trouble) =>
    fault(`has a file, ${name}, that ${trouble}`),
  );
  const wrong = Object.entries(words).find(([, message]) => !isMessage(message));
  if (wrong) throw fault(`has a word that is neither plain text nor plural forms with other, ${name}: ${wrong[0]}`);
  const bare = Object.keys(CARRIED).find((id) => name.endsWith('/mail.json') && lacksPlace(words[id], CARRIED[id]));
  if (bare !== undefined) throw fault(`has a text message without {${CARRIED[bare]}}, ${name}: ${bare}`);
  return words as Catalogue;
}

/** The value that a text message is sent for. In mails the code and the pass stand beside the words. */
const CARRIED: Readonly<Record<string, string>> = {
  'sms.code': 'code',
  'sms.short': 'code',
  'sms.recovery': 'code',
  'sms.recovery_short': 'code',
  'sms.credential': 'code',
  'sms.credential_short': 'code',
  'sms.pass': 'pass',
  'sms.challenge': 'link',
  'sms.challenge_short': 'link',
};

function lacksPlace(message: unknown, name: string | undefined): boolean {
  if (message === undefined || name === undefined) return false;
  const forms = typeof message === 'string' ? [message] : Object.values(message as object);
  return !forms.every((form) => placesOf(form).includes(name));
}

function isMessage(value: unknown): value is Message {
  if (typeof value === 'string') return isText(value);
  return isObject(value) && typeof value['other'] === 'string' && Object.values(value).every(isText);
}

/**
 * Mails mark the places of code and pass by characters for private use. A line break in a subject would end the header
 * that another server writes it into.
 */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !/[\p{Co}\p{Cc}]/u.test(value);
}

function fault(problem: string): ConfigError {
  return new ConfigError([{ name: 'WORDS_DIR', problem }]);
}
