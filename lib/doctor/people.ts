import { createBrands } from '../brand/brands.ts';
import type { Config } from '../config/config.ts';
import { readMailWords } from '../words/mail-words.ts';
import { createWords, WORD_PAGES } from '../words/words.ts';
import { type DoctorCheck, type Finding, ok, warn } from './finding.ts';
import type { Examined, Sight } from './host.ts';

/** How many texts are named; the rest is counted. */
const NAMED_MAX = 5;

/** Checks of the files that people's pages and messages are made of, where settings name any. */
export function peopleChecks({ config, host }: Examined): readonly DoctorCheck[] {
  // The files were read at the start; a host without a doctor cannot read them again.
  if (!host) return [];
  const { brandLogo, brands, wordsDir } = config;
  const hasBrand = brandLogo !== undefined || brands !== undefined;
  return [
    ...(hasBrand ? [{ name: 'brand', remedy: 'see docs/brand.md', run: () => checkBrand(config, host) } as const] : []),
    ...(wordsDir === undefined
      ? []
      : [{ name: 'words', remedy: 'see docs/brand.md', run: () => checkWords(config, host) } as const]),
  ];
}

function checkBrand(config: Config, { operatorFiles }: Sight): readonly Finding[] {
  createBrands(config, operatorFiles);
  return [ok('brand', 'the files of BRAND_LOGO and BRANDS can be used')];
}

async function checkWords(config: Config, { operatorFiles, builtIn }: Sight): Promise<readonly Finding[]> {
  const words = createWords(config, operatorFiles);
  const pages = await Promise.all(
    WORD_PAGES.map(async (page) => {
      const own = page === 'mail' ? readMailWords : builtIn(page);
      const [leftOut, coverage] = await Promise.all([words.leftOut(page, own), words.coverage(page, own)]);
      const partial = coverage.filter(({ has, all }) => has < all);
      return {
        unused: leftOut.map((one) => `${page}.json, ${one}`),
        partial: partial.map(({ language, has, all }) => `${language}/${page}.json has ${has} of ${all} texts`),
      };
    }),
  );
  const unused = pages.flatMap((page) => page.unused);
  const partial = pages.flatMap((page) => page.partial);
  const findings = [
    ...(unused.length === 0 ? [] : [unusedTexts(unused)]),
    ...partial.map((one) =>
      warn('words', `${one}; the others are English`, 'translate the others: docs/brand.md#languages'),
    ),
  ];
  return findings.length > 0 ? findings : [ok('words', 'all texts of WORDS_DIR are used, and no language lacks one')];
}

function unusedTexts(all: readonly string[]): Finding {
  const more = all.length > NAMED_MAX ? `, and ${all.length - NAMED_MAX} more` : '';
  const text = `texts of WORDS_DIR that are not used: ${all.slice(0, NAMED_MAX).join('; ')}${more}`;
  return warn('words', text, 'compare their ids and {places} with the texts of the vault: docs/brand.md');
}
