import { parseJson } from '../../lib/base/json.ts';
import { createBrands } from '../../lib/brand/brands.ts';
import type { Config } from '../../lib/config/config.ts';
import { readMailWords } from '../../lib/words/mail-words.ts';
import { type BuiltIn, createWords, type ServedPage, WORD_PAGES } from '../../lib/words/words.ts';
import { openAssets } from '../serve/assets.ts';
import { operatorFiles } from '../setup/operator-files.ts';
import { type DoctorCheck, type Finding, ok, warn } from './finding.ts';

/** How many texts are named; the rest is counted. */
const NAMED_MAX = 5;

/** Checks of the files that people's pages and messages are made of, where settings name any. */
export function peopleChecks(config: Config): readonly DoctorCheck[] {
  const { brandLogo, brands, wordsDir } = config;
  const hasBrand = brandLogo !== undefined || brands !== undefined;
  return [
    ...(hasBrand ? [{ name: 'brand', remedy: 'see docs/brand.md', run: () => checkBrand(config) }] : []),
    ...(wordsDir === undefined ? [] : [{ name: 'words', remedy: 'see docs/brand.md', run: () => checkWords(config) }]),
  ];
}

function checkBrand(config: Config): readonly Finding[] {
  createBrands(config, operatorFiles);
  return [ok('brand', 'the files of BRAND_LOGO and BRANDS can be used')];
}

async function checkWords(config: Config): Promise<readonly Finding[]> {
  const words = createWords(config, operatorFiles);
  const leftOut = await Promise.all(
    WORD_PAGES.map(async (page) =>
      (await words.leftOut(page, page === 'mail' ? readMailWords : builtInOf(page))).map(
        (one) => `${page}.json, ${one}`,
      ),
    ),
  );
  const all = leftOut.flat();
  if (all.length === 0) return [ok('words', 'all texts of WORDS_DIR are used')];
  const more = all.length > NAMED_MAX ? `, and ${all.length - NAMED_MAX} more` : '';
  const text = `texts of WORDS_DIR that are not used: ${all.slice(0, NAMED_MAX).join('; ')}${more}`;
  return [warn('words', text, 'compare their ids and {places} with the texts of the vault: docs/brand.md')];
}

function builtInOf(page: ServedPage): BuiltIn {
  const assets = openAssets();
  return async (language) => {
    const answer = await assets.fetch(new Request(`https://assets.invalid/words/${language}/${page}.json`));
    return parseJson(await answer.text()) as Awaited<ReturnType<BuiltIn>>;
  };
}
