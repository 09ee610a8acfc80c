import { parseColour } from '../base/colour.ts';
import { languageTag } from '../base/language.ts';
import { type BrandColour, brandColours } from './brand-colour.ts';
import * as parse from './parsers.ts';
import { derived, plain } from './setting.ts';

/** Names are short: they stand in subjects, in text messages and in the dialogs of passkeys. */
export const BRAND_NAME_CHARS_MAX = 40;

/** Settings for the brand and the languages of pages, mails and passkeys. */
export const BRAND_SETTINGS = {
  BRAND_NAME: plain(
    'name of the service on pages, in mails and in passkey dialogs',
    parse.parsed(
      `must be a name of at most ${BRAND_NAME_CHARS_MAX} characters, without < > " \\ and invisible characters`,
      (name) => (isBrandName(name) ? name : undefined),
    ),
    derived('host of BASE_URL', ({ BASE_URL = '' }) =>
      URL.canParse(BASE_URL) ? new URL(BASE_URL).host.slice(0, BRAND_NAME_CHARS_MAX) : undefined,
    ),
    { example: 'Example' },
  ),
  BRAND_LOGO: plain('file of the logo on pages, SVG or PNG, at most 32 KiB', parse.unsetOr(parse.anyText), undefined, {
    example: '/etc/vault/logo.svg',
  }),
  BRAND_COLOR: plain(
    'colour of buttons and links, `#rrggbb`; a second one after a comma is for the dark theme, else a lighter shade is',
    parse.unsetOr(parse.parsed('must be one or two colours such as #3146c8', colours)),
    undefined,
    { example: '#3146c8' },
  ),
  SUPPORT_ADDRESS: plain(
    'mail address of support: on pages, and where replies to mails go',
    parse.unsetOr(parse.parsed('must be a mail address', (text) => (isMailAddress(text) ? text : undefined))),
    undefined,
    { example: 'help@example.com' },
  ),
  SECURITY_CONTACT: plain(
    'where a vulnerability is reported, a mail address or an https URL: in `/.well-known/security.txt`',
    parse.unsetOr(parse.parsed('must be a mail address or an https URL', contact)),
    derived('SUPPORT_ADDRESS', ({ SUPPORT_ADDRESS }) => SUPPORT_ADDRESS),
    { example: 'security@example.com' },
  ),
  BRANDS: plain(
    'JSON file with the brand of each of `APPS`: `{"<app>":{"name":…,"logo":…,"color":…,"support":…}}`',
    parse.unsetOr(parse.anyText),
    undefined,
    { example: '/etc/vault/brands.json' },
  ),
  DEFAULT_LANGUAGE: plain(
    'default language: en, de, fr, es, or one of WORDS_DIR',
    parse.parsed('must be a language such as en or pt-BR', languageTag),
    'en',
  ),
  WORDS_DIR: plain(
    'folder with further languages and other words, `<language>/<page>.json`',
    parse.unsetOr(parse.anyText),
    undefined,
    { example: '/etc/vault/words' },
  ),
};

/** Whether no character of the name would end it in a header, turn its direction around or be invisible. */
export function isBrandName(name: string): boolean {
  const isPlain = name.isWellFormed() && !/[<>"\\\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u.test(withoutJoiners(name));
  return isPlain && name.trim() === name && name !== '' && [...name].length <= BRAND_NAME_CHARS_MAX;
}

/** Persian, Hindi and joined emoji need them between two letters; elsewhere nothing shows them. */
function withoutJoiners(name: string): string {
  return name.replace(/(?<=\p{L}|\p{M}|\p{Emoji_Presentation}|\ufe0f)(?:\u200c|\u200d)(?=[\p{L}\p{Emoji}])/gu, '');
}

/** Whether a text is a bare mail address of ASCII that needs no quotes, also in a link: every server takes those. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[\w.!$*+=^`{|}~'-]+@[A-Za-z0-9.-]+$/.test(text);
}

/** As a URI: one line, so that it ends no line of the file that it is written into. */
function contact(text: string): string | undefined {
  if (isMailAddress(text)) return `mailto:${text}`;
  return URL.canParse(text) && new URL(text).protocol === 'https:' ? new URL(text).href : undefined;
}

function colours(text: string): BrandColour | undefined {
  const [light, dark, ...more] = text.split(',').map((one) => parseColour(one.trim()));
  const isGiven = light !== undefined && more.length === 0 && (dark !== undefined || !text.includes(','));
  return isGiven ? brandColours(light, dark) : undefined;
}
