import * as v from 'valibot';
import { about } from './common.ts';

const shade = v.pipe(v.string(), v.regex(/^#[0-9a-f]{6}$/));

/** The service's brand, as its pages show it. */
export const PageBrand = v.object({
  name: v.string(),
  logo: about(v.nullable(v.string()), 'The path of the logo'),
  color: v.nullable(v.object({ light: shade, dark: shade })),
  support: about(v.nullable(v.string()), 'The mail address of support'),
});

/** The words and the brand of a page. */
export const PageWords = v.object({
  lang: about(v.string(), 'The language of the words (RFC 5646)'),
  dir: v.picklist(['ltr', 'rtl']),
  brand: PageBrand,
  words: about(
    v.record(v.string(), v.union([v.string(), v.record(v.string(), v.string())])),
    'Texts by id, with `{places}`; those that count by plural form (CLDR)',
  ),
  english: about(v.array(v.string()), 'The ids whose text is English, as the language has none'),
});
